# SPDX-License-Identifier: Apache-2.0
"""What is joined place by place in NumPy's order: ufunc.at of different floats, and sums of weights, bit for bit."""
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(7)

def spread(count, dtype):
    """Numbers whose sum depends on the order."""
    made = rng.standard_normal(count) * np.array([0.001, 0.1, 1.0, 30.0, 1000.0])[rng.integers(0, 5, count)]
    return on_device((made + 1j * made[::-1]).astype(dtype) if dtype in "FD" else made.astype(dtype))

def joined(name, ufunc, target, index, values):
    target = on_device(target)
    with np.errstate(all="ignore"):
        ufunc.at(target, index, values)
    dump(name, target)
'''


class TestOrderedSums(shim_runner.TestCase):
    def test_one_index_for_each_value(self):
        result = self.assert_same(PRELUDE + '''
for dtype in "efdFD":  # a few bins with long runs, runs of all lengths, many empty bins; a short sort and a long one
    for ufunc in (np.add, np.subtract, np.multiply, np.divide) if dtype == "d" else (np.add,):
        for count, bins in ((7, 3), (3000, 10), (3000, 2900), (9000, 1), (9000, 100000)):
            name = "%s %s %d %d" % (dtype, ufunc.__name__, count, bins)
            joined(name, ufunc, np.ones(bins, dtype), on_device(rng.integers(-bins, bins, count)), spread(count, dtype))
skewed = on_device(np.where(rng.random(9000) < 0.7, 3, rng.integers(0, 500, 9000)))
joined("skewed", np.add, np.zeros(500), skewed, spread(9000, "d"))
joined("i2", np.add, np.zeros(500), on_device(np.asarray(skewed).astype("i2")), spread(9000, "d"))
''')
        self.assert_on_device(result, "add.at")

    def test_rows_and_tables(self):
        result = self.assert_same(PRELUDE + '''
for width in (1, 8, 40):  # places of one index: less than a warp's, and more
    x, k = spread(2000 * width, "d").reshape(2000, width), on_device(rng.integers(0, 16, 2000))
    joined("rows %d" % width, np.add, np.zeros((16, width)), k, x)
    joined("backwards %d" % width, np.add, np.zeros((16, width)), k, x[::-1, ::-1])
    joined("one row %d" % width, np.add, np.zeros((16, width)), k, x[:1])
    joined("strided %d" % width, np.add, np.zeros((16, 2 * width))[:, ::2], k, x)
    joined("columns %d" % width, np.add, np.zeros((width, 16)).T, k, x)
k, x = on_device(rng.integers(0, 50, (60, 40))), spread(2400, "d").reshape(60, 40)
joined("table", np.add, np.zeros(50), k, x)
joined("columns of a table", np.add, np.zeros(50), k.T, x.T)
joined("tuple", np.add, np.zeros((50, 50)), (k, k[::-1]), x)
joined("long rows", np.add, np.zeros((2, 3)), on_device(rng.integers(0, 2, 5000)), spread(15000, "d").reshape(5000, 3))
joined("nothing", np.add, np.zeros(50), k[:0], x[:0])
''')
        self.assert_on_device(result, "add.at")

    def test_targets_outside_the_arena(self):
        result = self.assert_same(PRELUDE + '''
k, x = on_device(rng.integers(0, 16, 20000)), spread(160000, "d").reshape(20000, 8)
s = bytearray(16 * 8 * 8)
target = np.frombuffer(s, "d").reshape(16, 8)
np.add.at(target, k, x); dump("rows", target)
np.add.at(target[2:9], k % 7, x); dump("part", target)
np.subtract.at(target.reshape(-1), k, x[:, 0]); dump("line", target)
np.add.at(target, (k, k % 8), x[:, 1]); dump("tuple", target)
attempt("columns", lambda: (np.add.at(target.T, k % 8, x[:, :1]), target.copy()))
attempt("beyond", lambda: np.add.at(target, k + 1, x)); dump("as before", target)
attempt("read-only", lambda: np.add.at(np.frombuffer(bytes(128), "d"), k, x[:, 0]))
attempt("itself", lambda: (np.add.at(target, k[:16], target), target.copy()))
with np.errstate(over="raise"):
    attempt("raised", lambda: np.add.at(target, k, np.full(20000, 1e308)[:, None]))
dump("written", np.isinf(target))
''')
        self.assert_on_device(result, "add.at")
        self.assert_on_device(result, "subtract.at")

    def test_special_values_and_errors(self):
        self.assert_same(PRELUDE + '''
import warnings
warnings.simplefilter("always")
k, x = on_device(rng.integers(0, 20, 3000)), spread(3000, "d")
for name, value in (("nan", np.nan), ("inf", np.inf), ("-0", -0.0), ("large", 1e308)):
    values = np.where(rng.random(3000) < 0.05, value, np.asarray(x) if name != "-0" else -0.0)
    joined(name, np.add, np.zeros(20), k, on_device(values))
    joined(name + " -0", np.add, -np.zeros(20), k, on_device(values))
    with np.errstate(over="ignore"):
        values = {dtype: on_device(values.astype(dtype)) for dtype in "efd"}
    for dtype in values:
        for ufunc in (np.subtract, np.multiply):
            joined("%s %s %s" % (name, dtype, ufunc.__name__), ufunc, np.ones(20, dtype), k, values[dtype])
def overflow():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        t = on_device(np.zeros(20))
        np.add.at(t, k, on_device(np.full(3000, 1e308)))
        total = t.sum()
    return total, sorted({str(one.message) for one in caught})
attempt("overflow", overflow)
''')

    def test_weights(self):
        result = self.assert_same(PRELUDE + '''
for count, bins in ((5, 3), (3000, 10), (9000, 1), (9000, 20000)):
    k = on_device(rng.integers(0, bins, count))
    WEIGHTS = {"floats": spread(count, "d"), "f": spread(count, "f"), "integers": rng.integers(0, 9, count),
        "integers as floats": rng.integers(0, 9, count) * 0.5, "-0": np.full(count, -0.0), "bools": rng.random(count) < 0.5,
        "integers at first": np.concatenate((np.ones(count - 1), [0.1])), "inf": np.where(rng.random(count) < 0.1, np.inf, -1.5),
        "large": np.full(count, 1e308), "strided": spread(2 * count, "d")[::2], "complex": spread(count, "D")}
    for name, weights in WEIGHTS.items():
        for least in (0, bins + 7):
            attempt("%d %d %s %d" % (count, bins, name, least), np.bincount, k, on_device(weights), minlength=least)
attempt("below", np.bincount, on_device(np.arange(9000) - 1), spread(9000, "d"))
attempt("shorter", np.bincount, on_device(np.arange(9000)), spread(8000, "d"))
dump("histogram", np.histogram(spread(90000, "d"), 20, (-5, 5), weights=spread(90000, "d"))[0])
''')
        self.assert_on_device(result, "add.at")


if __name__ == "__main__":
    unittest.main()
