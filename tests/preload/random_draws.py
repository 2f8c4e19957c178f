# SPDX-License-Identifier: Apache-2.0
"""A program of random draws: random_draws.py VALUES SEED. It draws so many values from all generators that are computed on several
cores, by all methods, in calls of random sizes, small ones between large ones, over pickles, spawns, jumps and several threads.
It prints a digest of the values and the states, line by line. Run it plainly and under the library, and compare:

    python tests/preload/random_draws.py 1e9 1 | tail -1; GPUSHIM_DEVICE=cpu gpushim run tests/preload/random_draws.py 1e9 1 | tail -1
"""
import copy
import hashlib
import pickle
import random
import sys
import threading

import numpy as np

BITS = [np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.PCG64, np.random.SFC64, np.random.MT19937]
INTEGERS = "bBhHiIlL"
digest = hashlib.sha256()


def state(generator):
    def flat(x):
        return {k: flat(v) for k, v in sorted(x.items())} if isinstance(x, dict) else np.asarray(x).tolist() if isinstance(
            x, np.ndarray) else x
    return repr(flat(generator.bit_generator.state)).encode()


def note(values, generator):
    digest.update(repr((type(values).__name__, getattr(values, "dtype", 0), getattr(values, "shape", 0),
                        getattr(values, "flags", 0))).encode())
    digest.update(np.ascontiguousarray(values).data)
    digest.update(state(generator))


def bounds(choose, dtype):
    info = np.iinfo(dtype)
    least, most = int(info.min), int(info.max)
    low = choose.choice([0, 1, least, choose.randint(least, most)])
    width = choose.choice([1, 2, 9, 10, 255, 256, 2 ** 16 - 1, 2 ** 16, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 33 + 1, 2 ** 63,
                           most - least, choose.randint(1, most - least)])
    return low, min(low + width, most)


def draw(choose, generator, size):
    kind = choose.choice(["random", "standard_normal", "standard_exponential", "uniform", "normal", "lognormal", "exponential",
                          "integers", "integers", "bool", "derived"])
    if kind == "derived":
        kind = choose.choice(["rayleigh", "standard_cauchy", "triangular", "geometric", "binomial", "poisson"])
    if kind == "integers":
        dtype = np.dtype(choose.choice(INTEGERS))
        low, high = bounds(choose, dtype)
        return generator.integers(low, high, size, dtype.type, endpoint=True)  # NumPy 1 takes no dtype with size None
    if kind == "bool":
        return generator.integers(0, 2, size, bool)
    if kind in ("random", "standard_normal", "standard_exponential"):
        dtype = choose.choice(["f4", "f8"])
        if choose.random() < 0.3 and size:
            out = np.empty(size, dtype)
            assert getattr(generator, kind)(out=out, dtype=dtype) is out
            return out
        return getattr(generator, kind)(size, dtype=dtype)
    if kind == "standard_cauchy":
        return generator.standard_cauchy(size)
    if kind == "triangular":
        return generator.triangular(-1, choose.choice([-1, 0.5, 2]), 2, size)
    if kind == "geometric":
        return generator.geometric(choose.choice([0.01, 0.3, 0.4, 1]), size)
    if kind == "poisson":
        return generator.poisson(choose.choice([0.2, 3, 9.5]), size)
    if kind == "binomial":
        return generator.binomial(choose.choice([1, 12, 40]), choose.choice([0.1, 0.5, 0.7]), size)
    if kind in ("exponential", "rayleigh"):
        return getattr(generator, kind)(choose.choice([1, 0.3, 17.5]), size)
    return getattr(generator, kind)(choose.choice([0, -1.5, 3]), choose.choice([0.7, 1, 9]) + 3 * (kind == "uniform"), size=size)


def choose_size(choose):
    size = choose.choice([None, 0, 1, choose.randrange(100), choose.randrange(20000), choose.randrange(40000),
                          choose.randrange(15000, 18000), choose.randrange(300000), choose.randrange(300000)])
    return (choose.randrange(1, 300), choose.randrange(900)) if choose.random() < 0.1 else size


def change(choose, generator):
    """Another generator, or another way to the same one."""
    what = choose.randrange(8)
    if what == 0:
        return pickle.loads(pickle.dumps(generator))
    if what == 1:
        return copy.deepcopy(generator)
    if what == 2 and hasattr(generator, "spawn"):  # a pickled or jumped generator may have another seed each time
        return np.random.Generator(choose.choice(BITS)(choose.randrange(99))).spawn(2)[1]
    if what == 3 and hasattr(generator.bit_generator, "jumped"):
        return np.random.Generator(generator.bit_generator.jumped())
    if what == 4 and hasattr(generator.bit_generator, "advance"):
        generator.bit_generator.advance(choose.randrange(2 ** 70))
    if what == 5:
        generator.bit_generator.state = generator.bit_generator.state
    if what == 6:
        return np.random.Generator(choose.choice(BITS)(choose.randrange(2 ** 40)))
    return generator


def in_threads(choose, generator):
    """Several threads share the generator: which one draws when is not fixed, the state afterwards is."""
    sizes = [choose.randrange(100000) for _ in range(3)]
    threads = [threading.Thread(target=generator.random, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    digest.update(state(generator))
    return sum(sizes)


def main(wanted, seed):
    choose = random.Random(seed)
    generator = np.random.Generator(np.random.PCG64(seed))
    drawn, lines = 0, 0
    while drawn < wanted:
        if choose.random() < 0.3:
            generator = change(choose, generator)
        if choose.random() < 0.02:
            drawn += in_threads(choose, generator)
        values = draw(choose, generator, choose_size(choose))
        drawn += np.size(values)
        note(values, generator)
        if drawn > lines * wanted / 20:
            print(drawn, digest.hexdigest())
            lines += 1
    print(drawn, digest.hexdigest())


main(float(sys.argv[1]), int(sys.argv[2]))
