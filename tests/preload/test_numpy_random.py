# SPDX-License-Identifier: Apache-2.0
"""Draws of numpy.random.Generator on several cores: values and states as NumPy's, to the bit; what is left alone; reports."""
import os
import unittest

import shim_runner
from parallel_case import BESIDE, CORES, ParallelCase

METHODS = ["random", "uniform", "standard_normal", "normal", "lognormal", "standard_exponential", "exponential", "integers"]
with open(os.path.join(shim_runner.HERE, "random_draws.py"), encoding="utf-8") as file:
    DRAWS = file.read()

START = """
import zlib
import numpy as np
def show(x, rng):
    state = rng.bit_generator.state
    print(type(x).__name__, getattr(x, "dtype", None), np.shape(x), zlib.crc32(np.ascontiguousarray(x).tobytes()),
          *[np.asarray(state["state"][k]).tolist() for k in state["state"]], np.asarray(state.get("buffer", 0)).tolist(),
          state.get("buffer_pos"), state["has_uint32"], state["uinteger"])
    if isinstance(x, np.ndarray):
        print(x.flags.owndata, x.flags.c_contiguous, x.flags.writeable, x.base is None, x.strides)
"""

# Each method, dtype and width of words, from each generator; with and without a half of a word that is kept.
KINDS = START + """
for bits in np.random.PCG64, np.random.PCG64DXSM, np.random.Philox:
    rng = np.random.default_rng(bits(3))
    for keep in 0, 1:
        n = 130001 + keep
        rng.random(keep, dtype="f4"); show(rng.random(n), rng); show(rng.random(2 * n, dtype="f4"), rng)
        show(rng.standard_normal(n), rng); show(rng.standard_normal(n, np.float32), rng)
        show(rng.standard_exponential(n), rng); show(rng.standard_exponential(n, dtype="f4"), rng)
        show(rng.uniform(-2, 3.5, n), rng); show(rng.normal(1, 2, (n // 10, 10)), rng); show(rng.lognormal(0.5, 0.3, n), rng)
        show(rng.exponential(0.7, n), rng); show(rng.integers(0, 2, 4 * n, bool), rng)
        for dtype in "bBhHiIlL":
            most = np.iinfo(dtype).max
            for low, high in (0, 9), (5, 68), (np.iinfo(dtype).min, most), (most // 2 - 40, most - 1):
                show(rng.integers(low, high, 4 * n, dtype, endpoint=True), rng)
        show(rng.integers(2**32, size=n), rng); show(rng.integers(7, 7 + 2**32 - 1, size=n), rng)
        show(rng.integers(-5, 2**33, n), rng); show(rng.integers(0, 2**33, n), rng)
"""

# Forms of the arguments.
FORMS = START + """
rng = np.random.default_rng(11)
n = 200000
show(rng.random((n // 4, 2, 2)), rng); show(rng.random([n, 1]), rng); show(rng.random(np.int64(n)), rng)
show(rng.random(n, float), rng); show(rng.random(n, "float32"), rng); show(rng.random(dtype=np.dtype("f8"), size=n), rng)
out = np.empty((n, 2)); print(rng.random(out=out) is out); show(out, rng)
print(rng.standard_normal((n, 2), out=out) is out); show(out, rng)
print(rng.standard_exponential(None, "f8", "zig", out) is out); show(out, rng)
small = np.empty(n, "f4"); rng.random(n, "f4", small); show(small, rng)
show(rng.uniform(size=n), rng); show(rng.uniform(np.float64(-1), np.int64(4), n), rng); show(rng.normal(size=n, loc=3), rng)
show(rng.normal(2, size=n), rng); show(rng.exponential(size=n), rng); show(rng.lognormal(size=n), rng); show(rng.normal(0, 0, n), rng)
show(rng.integers(10, size=n), rng); show(rng.integers(np.int64(3), np.int64(90), n), rng); show(rng.integers(0, 10, n, int), rng)
show(rng.integers(0, 1 << 64 - 1, n, "u8"), rng); show(rng.integers(5, None, n), rng); show(rng.integers(0, 1, n, endpoint=True), rng)
"""

# Left to NumPy, with its results and exceptions.
ALONE = START + """
rng = np.random.default_rng(5)
n = 200000
def attempt(function):
    try:
        show(function(), rng)
    except Exception as error:
        print(repr(error))
class Sub(np.random.Generator):
    pass
class Bits(np.random.PCG64):
    pass
class Own(np.random.Generator):
    def random(self, *args): return "own"
print(Own(np.random.PCG64(1)).random(n))
show(Sub(np.random.PCG64(1)).random(n), Sub(np.random.PCG64(1))); show(np.random.Generator(Bits(1)).random(n), rng)
print(*[zlib.crc32(np.random.Generator(bits(3)).normal(size=n).tobytes()) for bits in (np.random.MT19937, np.random.SFC64)])
strided = np.empty((n, 2))[:, 0]; turned = np.empty((n, 3), order="F"); other = np.empty(n, "f4"); fixed = np.empty(n)
fixed.flags.writeable = False
for out in strided, turned, other, fixed, fixed.view(np.recarray), [0.0] * n:
    attempt(lambda: rng.random(out=out)); attempt(lambda: rng.standard_normal(out=out))
attempt(lambda: rng.random(n + 1, out=np.empty(n))); attempt(lambda: rng.random((n, 1), out=np.empty(n)))
for size in (), 0, (0, n), (n, 0), -1, (n, -1), 2.0, "3", 1 << 70, (1 << 40, 1 << 40), (1,) * 70, None, True, np.array(n), (n, None):
    attempt(lambda: rng.random(size)); attempt(lambda: rng.integers(0, 9, size)); attempt(lambda: rng.normal(0, 1, size))
for dtype in "f2", "g", "D", ">f8", int, "x", None, object:
    attempt(lambda: rng.random(n, dtype))
for dtype in "f8", ">i4", "x", None, object, "U":
    attempt(lambda: rng.integers(0, 9, n, dtype))
for method in "zig", "inv", "bad", b"zig", None:
    attempt(lambda: rng.standard_exponential(n, method=method))
for low, high in (0, 1), (0, 0), (3, 2), (0, 2.0), (0.0, 5), (0.5, 5), (np.nan, 3), (0, 1 << 63), (-1 - (1 << 63), 3), ([0, 1], 3), (None, 3), (1, 1 << 70):
    attempt(lambda: rng.integers(low, high, n)); attempt(lambda: rng.integers(low, high, n, "u1"))
    attempt(lambda: rng.uniform(low, high, n))
for scale in -1, -0.0, np.nan, np.inf, 1j, None, "1", [1, 2], np.array(2.0), 1 << 2000, np.float32(2), True:
    attempt(lambda: rng.normal(0, scale, n)); attempt(lambda: rng.exponential(scale, n)); attempt(lambda: rng.lognormal(scale, 1, n))
    attempt(lambda: rng.uniform(0, scale, n))
attempt(lambda: rng.random(n, bad=1)); attempt(lambda: rng.random(n, size=n)); attempt(lambda: rng.integers(size=n))
attempt(lambda: rng.random(n, "f8", None, 3)); attempt(lambda: np.random.Generator.random(3, n)); attempt(lambda: np.random.Generator.random())
"""

# The methods look as before.
LOOKS = """
import copy, inspect, pickle
import numpy as np
rng = np.random.default_rng(1)
for name in %r:
    f = getattr(np.random.Generator, name)
    print(name, type(f).__name__, f.__name__, f.__qualname__, len(f.__doc__), getattr(f, "__module__", None), f is getattr(np.random.Generator, name),
          rng.__class__.__dict__[name] is f, getattr(rng, name).__self__ is rng)
    try:
        print(inspect.signature(f))
    except ValueError as error:
        print(error)
print(np.array_equal(pickle.loads(pickle.dumps(rng)).random(10**5), copy.deepcopy(rng).random(10**5)))
print(pickle.loads(pickle.dumps(rng.random))(10**5)[:3])
""" % METHODS

LOCKED = """
import threading, time
import numpy as np
rng = np.random.default_rng(1)
done = []
with rng.bit_generator.lock:
    thread = threading.Thread(target=lambda: done.append(rng.random(10**6)[::10**5].tolist()))
    thread.start(); time.sleep(0.1); print(done)
thread.join(); print(done, rng.bit_generator.lock.acquire(False))
"""

FORK = """
import os, warnings
import numpy as np
warnings.simplefilter("ignore", DeprecationWarning)
rng = np.random.default_rng(2)
print(rng.standard_normal(200000)[::10**4].tolist(), flush=True)
pid = os.fork()
print(rng.standard_normal(200000)[::10**4].tolist(), flush=True) if pid == 0 else os.waitpid(pid, 0)
if pid == 0:
    os._exit(0)
print(rng.standard_normal(200000)[::10**4].tolist())
"""


class TestRandom(ParallelCase):
    def calls(self, result, which="parallel_calls"):
        return {name: sum(row[which] for row in result.report["operations"] if row["name"] == name) for name in METHODS}

    def parallel(self, result):
        return sum(self.calls(result).values())

    def test_kinds(self):
        calls = self.calls(self.compare(KINDS))
        self.assertEqual({name: calls[name] >= 6 for name in METHODS}, dict.fromkeys(METHODS, True), calls)
        self.assertGreaterEqual(calls["integers"], 150, calls)

    def test_number_of_threads(self):
        for threads in "2", "9":
            self.compare(KINDS, dict(CORES, GPUSHIM_HOST_THREADS=threads), least=100)

    def test_beside_a_device(self):
        self.compare(KINDS, BESIDE, least=100)

    def test_forms(self):
        self.compare(FORMS, least=20)

    def test_alone(self):
        plain = shim_runner.run_plain(ALONE)
        self.assertEqual(plain.returncode, 0, plain)
        for env in (CORES, BESIDE, {}):
            result = shim_runner.run(ALONE, env=env)
            self.assertEqual(result.stdout, plain.stdout)
            self.assertEqual(result.stderr, plain.stderr)

    def test_program(self):
        for seed in "1", "2", "3":
            self.compare(DRAWS, args=["6e6", seed], least=10)

    def test_looks(self):
        self.compare(LOOKS)

    def test_locked(self):
        self.compare(LOCKED)

    def test_fork(self):
        self.compare(FORK)

    def test_one_thread(self):
        result = shim_runner.run(FORMS, env=dict(CORES, GPUSHIM_HOST_THREADS="1"))
        self.assertEqual(result.stdout, shim_runner.run_plain(FORMS).stdout)
        self.assertEqual(self.parallel(result), 0)

    def test_verified(self):
        """A verification must not draw a second time."""
        result = shim_runner.run(FORMS, env={"GPUSHIM_VERIFY": "1"})
        self.assertEqual(result.stdout, shim_runner.run_plain(FORMS).stdout)


if __name__ == "__main__":
    unittest.main()
