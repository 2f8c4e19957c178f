# SPDX-License-Identifier: Apache-2.0
"""Sorting, searching and counting: plain NumPy, gpushim and CuPy beside each other, milliseconds of a call whose operands are where
the contender computes, and whether the results are NumPy's, to the bit.

    .venv/bin/python bench/order.py [--sizes 1e5,1e6,1e7,1e8] [--cases sort,argsort] [--contenders numpy,gpushim,cupy] [--budget 1]

The contenders take turns. Each makes the same operands from the same seed. A call is repeated for `budget` seconds, at least once behind the first;
printed are medians. "on the host": the result, or an operand, was not on the device behind the last call. "DIFFERS": the bytes are
not NumPy's; of an order (argsort, lexsort, argpartition) those of the elements in that order are compared. CuPy adds in any order
(add.at, weights), so its bytes differ. The exit status is 1 where a result of gpushim's differs.
"""
import argparse
import hashlib
import json
import statistics
import sys
import time

import common


def _floats(rng, n):
    return rng.random(n)


def _numbers(most, dtype):
    return lambda rng, n: rng.integers(most, size=n).astype(dtype)


def _rows(rng, n):
    return rng.random(max(n // 100, 1) * 100).reshape(-1, 100)


def _line(rng, n):
    line = rng.random(n)
    line.sort()
    return line


def _first(xp, result, operands):
    return result


def _in_order(xp, order, operands):
    return operands[0][order]


def _smallest(xp, order, operands):
    return xp.sort(operands[0][order[:100]])


def _at_place(xp, result, operands):
    return result[len(result) // 2]


def _lexsort(xp, a, b):
    return xp.lexsort((a, b) if xp.__name__ == "numpy" else xp.stack((a, b)))


def _rows_of_eight(rng, n):
    return rng.random((max(n // 8, 1), 8))


def _sums(xp, places, values, bins):
    sums = xp.zeros((bins,) + values.shape[1:])
    xp.add.at(sums, places[:len(values)], values)
    return sums


# name: (what makes each operand, the call, what of the result is compared)
CASES = {
    "sort": ((_floats,), lambda xp, a: xp.sort(a), _first),
    "sort f4": ((lambda rng, n: rng.random(n, dtype="f4"),), lambda xp, a: xp.sort(a), _first),
    "sort i8": ((_numbers(2**62, "i8"),), lambda xp, a: xp.sort(a), _first),
    "sort i8 small": ((_numbers(1000, "i8"),), lambda xp, a: xp.sort(a), _first),
    "sort i4": ((_numbers(2**31, "i4"),), lambda xp, a: xp.sort(a), _first),
    "sort u1": ((_numbers(256, "u1"),), lambda xp, a: xp.sort(a), _first),
    "sort rows": ((_rows,), lambda xp, a: xp.sort(a, axis=1), _first),
    "argsort": ((_floats,), lambda xp, a: xp.argsort(a), _in_order),
    "argsort i4": ((_numbers(2**31, "i4"),), lambda xp, a: xp.argsort(a), _in_order),
    "lexsort": ((_numbers(1000, "i8"), _numbers(1000, "i8")), _lexsort, _in_order),
    "partition": ((_floats,), lambda xp, a: xp.partition(a, len(a) // 2), _at_place),
    "argpartition": ((_floats,), lambda xp, a: xp.argpartition(a, 100), _smallest),
    "unique": ((_numbers(10**6, "i8"),), lambda xp, a: xp.unique(a), _first),
    "searchsorted": ((_line, _floats), lambda xp, a, b: xp.searchsorted(a, b), _first),
    "searchsorted 1000": ((lambda rng, n: _line(rng, 1000), _floats), lambda xp, a, b: xp.searchsorted(a, b), _first),
    "digitize": ((lambda rng, n: _line(rng, 100), _floats), lambda xp, a, b: xp.digitize(b, a), _first),
    "bincount 10": ((_numbers(10, "i8"),), lambda xp, a: xp.bincount(a), _first),
    "bincount 1000": ((_numbers(1000, "i8"),), lambda xp, a: xp.bincount(a), _first),
    "bincount 1e6": ((_numbers(10**6, "i8"),), lambda xp, a: xp.bincount(a), _first),
    "bincount weights": ((_numbers(1000, "i8"), _floats), lambda xp, a, w: xp.bincount(a, w), _first),
    "add.at 16": ((_numbers(16, "i8"), _rows_of_eight), lambda xp, a, v: _sums(xp, a, v, 16), _first),
    "add.at 1000": ((_numbers(1000, "i8"), _floats), lambda xp, a, v: _sums(xp, a, v, 1000), _first),
    "add.at 1e6": ((_numbers(10**6, "i8"), _floats), lambda xp, a, v: _sums(xp, a, v, 10**6), _first),
    "add.at one": ((_numbers(1, "i8"), _floats), lambda xp, a, v: _sums(xp, a, v, 1), _first),
    "take": ((lambda rng, n: rng.integers(0, n, n), _floats), lambda xp, a, b: xp.take(b, a), _first),
    "unique rows": ((lambda rng, n: rng.integers(0, 9, (n // 3, 3)),), lambda xp, a: xp.unique(a, axis=0), _first),
    "histogram": ((_floats,), lambda xp, a: xp.histogram(a, 100)[0], _first),
    "median": ((_floats,), lambda xp, a: xp.median(a), _first),
    "percentile": ((_floats,), lambda xp, a: xp.percentile(a, 99.5), _first),
}


# ---- in the worker -----------------------------------------------------------------------------

def make_operands(contender, makers, size):
    import numpy
    made = [maker(numpy.random.default_rng(seed), size) for seed, maker in enumerate(makers)]
    return [contender.xp.asarray(a) for a in made] if contender.name == "cupy" else made


def measure(contender, call, budget):
    """Median seconds, and the last result."""
    spent, begin = [], time.perf_counter()
    result = None
    while len(spent) < 2 or (time.perf_counter() - begin < budget and len(spent) < 100):
        result = None
        contender.synchronize()
        started = time.perf_counter()
        result = call()
        contender.synchronize()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent[1:]), result


def digest(contender, compared):
    array = contender.xp.ascontiguousarray(compared)
    if contender.name == "cupy":
        array = contender.xp.asnumpy(array)
    return hashlib.sha256(array.tobytes()).hexdigest()


def is_resident(contender, result, operands):
    arrays = [a for a in list(operands) + [result] if getattr(a, "ndim", 0) > 0 and a.nbytes > 65536]
    return all(contender.residency(a) in (None, 2, 3) for a in arrays)


def question(contender, case, size, budget):
    """Seconds, whether all was on the device, and the digest of the result; or {"error": text}, of CuPy, which lacks something."""
    makers, function, compared = CASES[case]
    operands = make_operands(contender, makers, int(float(size)))
    try:
        seconds, result = measure(contender, lambda: function(contender.xp, *operands), budget)
        return {"seconds": seconds, "resident": is_resident(contender, result, operands),
                "digest": digest(contender, compared(contender.xp, result, operands))}
    except Exception as error:  # pylint: disable=broad-except  # the text says which
        return {"error": "%s: %s" % (type(error).__name__, error)}


# ---- in the parent -----------------------------------------------------------------------------

def describe(name, answers):
    """The words for one contender's figure of a case."""
    answer, plain, cupy = (answers.get(who, {}) for who in (name, "numpy", "cupy"))
    if "error" in answer:
        return "%s %s" % (name, answer["error"])
    text = "%s %10.3f ms" % (name, answer["seconds"] * 1e3)
    if name != "numpy" and "seconds" in plain:
        text += " (x %.1f)%s" % (plain["seconds"] / answer["seconds"], "" if answer["digest"] == plain["digest"] else " DIFFERS")
    if name == "gpushim" and "seconds" in cupy:
        text += " CuPy's time x %.2f" % (answer["seconds"] / cupy["seconds"])
    return text + ("" if answer["resident"] else " on the host")


def main():
    parser = common.parser(__doc__)
    parser.set_defaults(rounds=1, budget=1.0)
    parser.add_argument("--sizes", default="1e5,1e6,1e7,1e8")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--mode", choices=("auto", "force"), default="force", help="of gpushim")
    options = parser.parse_args()
    if options.worker:
        contender = common.Contender(options.worker)
        common.warm(contender)
        common.serve(contender, {"order": question})
        return 0
    print(json.dumps(common.machine()), flush=True)
    lines = common.JsonLines(options.out, "order")
    workers = common.start_workers(__file__, options, MODE=options.mode)
    wrong = 0
    for case in options.cases.split(","):
        for size in options.sizes.split(","):
            answers = common.ask_all(workers, options.rounds, "order", case=case, size=size, budget=options.budget)
            for who, answer in answers.items():
                lines.write(case=case, size=size, contender=who, **answer)
            print("%-18s %4s  " % (case, size) + "  ".join(describe(name, answers) for name in workers), flush=True)
            digests = [answers[name].get("digest") for name in ("numpy", "gpushim") if name in answers]
            wrong += len(set(digests)) > 1
    for worker in workers.values():
        worker.close()
    print("%d results of gpushim's differ from NumPy's" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
