# SPDX-License-Identifier: Apache-2.0
"""searchsorted, digitize, bincount, and what rests on them: histogram, isin, the set functions, median, quantile."""
import unittest

import numpy as np

import shim_runner
from test_numpy_sort import PRELUDE

MORE = PRELUDE + '''
def line(length, dtype):
    return np.sort(make(length, dtype), kind="stable")
'''


class TestSearch(shim_runner.TestCase):
    def test_dtypes(self):
        result = self.assert_same(MORE + '''
for dtype in DTYPES:
    for length in (1, 2, 3, 100, 3000):
        a, v = line(length, dtype), make(500, dtype)
        for side in ("left", "right"):
            dump("%s %d %s" % (dtype, length, side), np.searchsorted(a, v, side))
''')
        self.assert_on_device(result, "searchsorted")

    def test_lengths_around_the_tree(self):
        """A kernel keeps a tree of 4095 elements at most, of 511 where values are few. Each element and its neighbours are looked for."""
        result = self.assert_same(MORE + '''
def around(a):
    if a.dtype.kind == "c":
        return np.concatenate((a, a - 1, a + 1j))
    if a.dtype.kind == "f":
        return np.concatenate((a, np.nextafter(a, -np.inf), np.nextafter(a, np.inf)))
    return np.concatenate((a, a - 1, a + 1))
for dtype in ("f8", "i4", "f2", "c16"):
    for length in (*range(1, 10), 510, 511, 512, 513, 2046, 2047, 2048, 2049, 4094, 4095, 4096, 4097, 4098, 8191, 8193):
        a = np.sort(rng.integers(-length, length, length).astype(dtype))
        if dtype != "i4":
            a[length - length // 10:] = np.nan
        v = rng.permutation(around(a))
        for side in ("left", "right"):
            dump("%s %d %s" % (dtype, length, side), np.searchsorted(a, v, side))
            dump("%s %d %s few" % (dtype, length, side), np.searchsorted(a, v[:9], side))
            dump("%s %d %s ends" % (dtype, length, side), np.searchsorted(a, on_device(a[[0, -1]]), side))
            dump("%s %d %s gaps" % (dtype, length, side), np.searchsorted(on_device(a)[::3], v[:500], side))
''')
        self.assert_on_device(result, "searchsorted")

    def test_trees_of_many_values(self):
        """So many values that blocks take several each, and the tree is a full one."""
        result = self.assert_same(MORE + '''
v = rng.integers(-5, 20005, 1200000) * 0.5
for length in (4095, 4096, 10000):
    a = np.arange(length) * 1.0
    for side in ("left", "right"):
        dump("%d %s" % (length, side), np.searchsorted(a, v, side))
        dump("%d %s one" % (length, side), np.searchsorted(a, np.broadcast_to(a[7], v.shape), side))
''')
        self.assert_on_device(result, "searchsorted")

    def test_two_dtypes(self):
        self.assert_same(MORE + '''
for first in DTYPES:
    for second in DTYPES:
        attempt("%s %s" % (first, second), np.searchsorted, line(60, first), make(70, second))
big = np.array([2 ** 53, 2 ** 53 + 1, 2 ** 53 + 2, 2 ** 62])
dump("rounded", big.searchsorted(np.array([2.0 ** 53, 2.0 ** 53 + 2])))
dump("unsigned", big.astype("u8").searchsorted(big))
''')

    def test_layouts(self):
        self.assert_same(MORE + '''
a, v = line(500, "f8"), make((6, 7, 8), "f8")
views = {"C": v, "F": v.copy("F"), "turned": v.transpose(1, 0, 2), "steps": v[:, ::-2], "back": v[::-1], "one": v[:1, :1, :1], "empty": v[:0],
         "all": np.broadcast_to(v[0], (3, 7, 8)), "0-d": np.array(0.5), "element": v[1, 2, 3], "on device": on_device(v)[2, 2, 2]}
lines = {"C": a, "steps": a[::3], "back": np.sort(-a)[::-1], "empty": a[:0], "two": a.reshape(5, 100), "0-d": a[3], "on device": on_device(a)}
for name, values in views.items():
    for other, x in lines.items():
        for side in ("left", "right"):
            attempt("%s %s %s" % (name, other, side), np.searchsorted, x, values, side)
''')

    def test_ways_to_call(self):
        self.assert_same(MORE + '''
a, v = line(400, "f8"), make(300, "f8")
for place, x in enumerate((a, on_device(a), a[:3])):
    for number, (args, call) in enumerate([((v,), {}), ((0.5,), {}), ((3,), {}), ((True,), {}), ((1j,), {}), ((2 ** 70,), {}), (("x",), {}), ((None,), {}),
                                           (([0.5, 1.5],), {}), ((np.float32(0.3),), {}), ((np.int8(3),), {}), ((np.nan,), {"side": "right"}), ((-0.0,), {}),
                                           ((v, "right"), {}), ((v, "r"), {}), ((v, "Left"), {}), ((v, "middle"), {}), ((v, 3), {}), ((v, None), {}),
                                           ((v,), {"side": "right", "sorter": None}), ((v,), {"other": 1}), ((), {}), ((), {"v": v})]):
        attempt("%d %d" % (place, number), x.searchsorted, *args, **call)
b = make(400, "f8")
order = np.argsort(b, kind="stable")
for name, sorter in {"int64": order, "int32": order.astype("i4"), "list": order.tolist(), "floats": order.astype("f8"), "short": order[1:], "negative": order - 400,
                     "far": order + 1, "steps": np.repeat(order, 2)[::2], "on device": on_device(order), "rows": order.reshape(20, 20)}.items():
    for side in ("left", "right"):
        attempt("sorter %s %s" % (name, side), b.searchsorted, v, side, sorter)
for other in ("O", "S3", "M8[s]", ">f8", "g"):
    attempt(other, np.searchsorted, np.sort(b.astype("i8")).astype(other), np.arange(5).astype(other))
dump("matrix", np.searchsorted(a, np.asmatrix(v[:20])))
dump("read-only", np.searchsorted(np.broadcast_to(1.0, 50), v))
''')

    def test_digitize(self):
        result = self.assert_same(MORE + '''
x = on_device(make(3000, "f8"))
for name, bins in {"rising": np.linspace(-2, 2, 9), "falling": np.linspace(2, -2, 9), "equal": np.array([0.0, 0.0, 1.0]), "one": np.array([0.5]),
                   "mixed": np.array([1.0, 0.0, 2.0]), "ints": np.arange(-3, 4), "list": [0, 1, 2]}.items():
    for right in (False, True):
        attempt("%s %s" % (name, right), np.digitize, x, bins, right)
dump("rows", np.digitize(x.reshape(50, 60), [-1.0, 0.0, 1.0]))
large = on_device(np.where(np.arange(3000) % 2, 2 ** 54 + 100, 0))  # NumPy takes these bins for rising ones
dump("large", [np.digitize(large, on_device(2 ** 54 + np.array(step))) for step in ([1, -1], [-1, 1], [0, 0])])
''')
        self.assert_on_device(result, "searchsorted")

    def test_against_numpy(self):
        self.assert_same(MORE + '''
for trial in range(200):
    first, second = (DTYPES[i] for i in rng.integers(len(DTYPES), size=2))
    second = first if rng.random() < 0.7 else second
    a = line(int(rng.integers(1, 60)), first)
    v = make(tuple(rng.integers(1, 9, rng.integers(1, 4))), second)
    v = v.transpose(rng.permutation(v.ndim))[::int(rng.choice([1, -1, 2]))]
    attempt(str(trial), np.searchsorted, a, v, ("left", "right")[trial % 2])
''')


class TestBincount(shim_runner.TestCase):
    def test_dtypes_and_lengths(self):
        result = self.assert_same(MORE + '''
for dtype in "? i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 O".split():
    for length in (1, 5, 5000):
        for highest in (1, 100, 120):
            x = rng.integers(0, highest, length).astype(dtype)
            attempt("%s %d %d" % (dtype, length, highest), np.bincount, x)
            attempt("%s %d %d on device" % (dtype, length, highest), np.bincount, on_device(x), minlength=7)
''')
        self.assert_on_device(result, "bincount")

    def test_ways_to_call(self):
        self.assert_same(MORE + '''
x = on_device(rng.integers(0, 50, 4000))
w = rng.normal(size=4000)
for number, (args, call) in enumerate([((x,), {}), ((x, None), {}), ((x, None, 100), {}), ((x, None, 3), {}), ((x,), {"minlength": 60}), ((x,), {"minlength": -1}),
                                       ((x,), {"minlength": None}), ((x,), {"minlength": True}), ((x,), {"minlength": 2.5}), ((x,), {"minlength": np.int64(70)}),
                                       ((x, w), {}), ((x, on_device(w)), {}), ((x,), {"weights": w, "minlength": 90}), ((x, w[1:]), {}), ((x, w * 1j), {}),
                                       ((), {"x": x}), ((), {}), ((x,), {"other": 1}), ((x.reshape(2, -1),), {}), ((x[:0],), {}), ((x[:0], None, 5), {}), ((x[::3],), {}),
                                       ((x[::-1],), {}), ((x - 1,), {}), ((-x,), {}), ((x.tolist(),), {}), ((3,), {}), ((np.array(3),), {}),
                                       ((x * 1000,), {}), ((x + 5000,), {}), ((x, None, 5000), {}), ((x, None, 10 ** 15), {}), ((x * 10 ** 15,), {}),
                                       ((x.view("M8[s]"),), {}), ((x.astype(">i8"),), {})]):
    attempt(str(number), np.bincount, *args, **call)
''')

    def test_results_are_used_and_kept(self):
        self.assert_same(MORE + '''
x = on_device(rng.integers(0, 300, 9000))
counts = [np.bincount(x[i:], minlength=400) for i in range(5)]
x += 1
counts[0] += 1
for i, part in enumerate(counts):
    dump(str(i), part)
dump("sum", sum(counts))
dump("rest", np.bincount(counts[1]))
''')


class TestWhatRestsOnIt(shim_runner.TestCase):
    def test_histogram(self):
        result = self.assert_same(MORE + '''
for dtype in "? i8 u1 f4 f8".split():
    a = on_device(rng.integers(0, 2, 70000).astype("?") if dtype == "?" else rng.normal(0, 20, 70000).astype("i8" if dtype[0] in "iu" else "f8").astype(dtype))
    for number, call in enumerate([{}, {"bins": 7}, {"bins": 16, "range": (-3, 5)}, {"bins": [-5, 0, 1, 8]}, {"bins": np.linspace(-9, 9, 40)}, {"bins": "sturges"},
                                   {"bins": 5, "weights": np.ones(70000)}, {"bins": 5, "density": True}, {"bins": 0}, {"bins": [3, 1]}]):
        def both():
            n, edges = np.histogram(a, **call)
            dump("%s %d n" % (dtype, number), n)
            dump("%s %d edges" % (dtype, number), edges)
        attempt("%s %d" % (dtype, number), both)
x, y = rng.normal(size=(2, 5000))
for index, part in enumerate(np.histogram2d(on_device(x), on_device(y), 9)):
    dump("2d %d" % index, part)
''')
        self.assert_on_device(result, "bincount")

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "1.25.0", "its functions have no dispatcher objects")
    def test_a_histogram_is_counted_at_once(self):
        result = self.assert_same(MORE + '''
dump("counts", np.histogram(on_device(rng.normal(size=200000)), 100, (-2, 2))[0])
''')
        self.assertEqual(shim_runner.device_calls(result.report, "add.at"), 1)
        self.assertEqual(shim_runner.device_calls(result.report, "take"), 0)  # edges are computed

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "1.25.0", "its functions have no dispatcher objects")
    def test_equal_bins(self):
        """Ranges of a few numbers, of too large and too small ones, edges that are elements, and elements out of range."""
        result = self.assert_same(MORE + '''
def both(*args, **keywords):
    n, edges = np.histogram(*args, **keywords)
    return np.concatenate((n, edges))
base = rng.random(70000)
arrays = {"f8": base - 0.5, "f4": base.astype("f4"), "f2": (base * 100).astype("f2"), "i8": (base * 2**63).astype("i8") * 2, "u8": (base * 2**63).astype("u8"),
          "i1": (base * 200 - 100).astype("i1"), "narrow": 1 + base * 1e-15, "subnormal": base * 2e-308, "huge": base * 3e307 - 1e307,
          "grid": np.round(base * 1000) / 1000, "zeros": -base * 0, "nan": np.where(base < 0.01, np.nan, base), "rows": base.reshape(70, 1000)[::2, ::3]}
for name, a in arrays.items():
    a = on_device(a)
    for bins in (1, 7, 64, 7000):
        for limits in (None, (0.1, 0.7), (-1000, 2000), (10, 10), (1e6, 2e6), (0.0, 1e-310), (-1e308, 1e308), (np.float32(0.1), np.float32(0.7))):
            attempt("%s %d %s %s" % (name, bins, limits, type(limits and limits[0])), both, a, bins, limits)
    attempt("density " + name, both, a, 50, density=True)
with np.errstate(under="raise"):
    attempt("underflow", both, on_device(base), 33)
for number in range(60):
    low, high = sorted(rng.normal(size=2))
    bins = int(rng.integers(1, 5000))
    a = rng.normal(size=70000)
    a = on_device(np.round(a * bins) / bins if number % 3 == 0 else a.astype("f4") if number % 3 == 1 else a)
    attempt("random %d" % number, both, a, bins, (low, high) if number % 2 else None)
''')
        self.assertGreater(shim_runner.device_calls(result.report, "add.at"), 300)

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "1.25.0", "its functions have no dispatcher objects")
    def test_weights_of_equal_bins(self):
        """Each of NumPy's blocks is summed in the order of its elements, and then the blocks: to the bit."""
        result = self.assert_same(MORE + '''
def both(*args, **keywords):
    n, edges = np.histogram(*args, **keywords)
    dump("edges %d" % both.number, edges)
    both.number += 1
    return n
both.number = 0
n = 200000
places = {"normal": rng.normal(size=n), "grid": np.round(rng.normal(size=n), 1), "i8": rng.integers(-50, 50, n), "f4": rng.random(n).astype("f4"), "rows": rng.random((2, n // 2))}
weights = {"normal": rng.normal(size=n), "far apart": np.ldexp(rng.integers(1, 2**50, n) * 1.0, rng.integers(-600, 600, n)), "f4": rng.random(n).astype("f4"), "f2": rng.random(n).astype("f2"),
           "i8": rng.integers(-2**40, 2**40, n), "u1": rng.integers(0, 255, n).astype("u1"), "infinite": np.where(rng.random(n) < 1e-4, np.inf, 1.0), "bools": rng.random(n) < 0.5}
for name, kind in [("normal", kind) for kind in weights] + [(name, "far apart") for name in places if name != "normal"]:
    a = places[name]
    for bins, limits in ((100, None), (7, (-0.5, 0.75)), (65000, (-1, 1)), (70000, None)):
        attempt("%s %s %d" % (name, kind, bins), both, on_device(a), bins, limits, weights=on_device(weights[kind].reshape(a.shape)))
attempt("density", both, on_device(places["normal"]), 9, weights=on_device(weights["i8"] % 7), density=True)
attempt("shapes", both, on_device(places["normal"]), 9, weights=on_device(np.ones(5)))
attempt("complex", both, on_device(places["normal"]), 9, weights=on_device(weights["normal"] + 1j))
''')
        self.assertGreater(shim_runner.device_calls(result.report, "add.at"), (7 + 4) * 3 * 2 - 1)

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "1.25.0", "its functions have no dispatcher objects")
    def test_median_of_a_long_line(self):
        """By a radix select: digits that all elements share, few elements, both zeros, and lines that are left to NumPy."""
        result = self.assert_same(MORE + '''
n = 2**21 + 3
lines = {"normal": rng.normal(size=n), "even": rng.normal(size=n + 1), "uniform": rng.random(n + 1), "constant": np.full(n, 3.5), "few": rng.integers(0, 3, n).astype("f8"),
         "zeros": np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)), "both zeros": np.where(rng.random(n) < 0.5, -0.0, 0.0), "minus zero": np.full(n, -0.0),
         "far apart": np.repeat([-1e300, 1e300], n // 2 + 1), "infinite": np.where(rng.random(n) < 0.2, np.inf, -rng.random(n)), "infinities": np.repeat([-np.inf, np.inf], n // 2 + 1),
         "nan": np.where(rng.random(n) < 0.2, np.nan, rng.random(n)), "subnormal": rng.random(n) * 1e-310, "f4": rng.normal(size=n + 1).astype("f4"), "f2": rng.normal(size=n).astype("f2"),
         "i8": rng.integers(-2**63, 2**63 - 1, n + 1), "i4": rng.integers(-1000, 1000, n).astype("i4"), "u8": rng.integers(0, 2**64 - 1, n + 1, dtype="u8"),
         "u4": rng.integers(0, 50, n).astype("u4"), "rising": np.arange(n) * 1.0}
for name, line in lines.items():
    attempt("median " + name, np.median, on_device(line))
normal = on_device(lines["normal"])
attempt("axis", np.median, normal, 0)
attempt("last axis", np.median, normal, -1)
attempt("no axis", np.median, normal, 1)
attempt("keepdims", np.median, normal, keepdims=True)
attempt("overwritten", np.median, normal.copy(), overwrite_input=True)
table = on_device(lines["even"].reshape(4, -1))
attempt("table", np.median, table)
attempt("columns", lambda: np.median(table[:, ::100000], 0))
attempt("transposed", np.median, table.T)
attempt("strided", np.median, on_device(lines["normal"].repeat(2))[::2])
''')
        self.assertGreater(shim_runner.device_calls(result.report, "add.at"), 25)  # counts of digits

    def test_histograms_that_are_left_to_blocks(self):
        self.assert_same(MORE + '''
a = on_device(rng.normal(size=200000))
def both(*args, **keywords):
    n, edges = np.histogram(*args, **keywords)
    return np.concatenate((n, edges))
attempt("weights", both, a, 100, (-2, 2), weights=on_device(rng.normal(size=200000)))
for name, call in {"nan": (np.where(a > 3, np.nan, a), 10), "bins": (a, 0), "range": (a, 10, (2, 1)), "too many": (a, 1, 2, 3, 4, 5),
                   "subclass": (a.view(np.matrix), 10), "list": (a[:70000].tolist(), 10), "complex": (a + 1j, 10), "0-d": (a[3], 2)}.items():
    attempt(name, both, *call)
import inspect
dump("signature", str(inspect.signature(np.histogram)))
''')

    def test_distinct_rows(self):
        result = self.assert_same(MORE + '''
for dtype in "? u1 i8 f2 f8 c16".split():
    for shape in ((900, 3), (10, 50, 2)):
        a = on_device(rng.integers(0, 3, shape).astype(dtype))
        for axis in range(len(shape)):
            for index in (False, True):
                for counts in (False, True):
                    for inverse in (False, True):
                        attempt("%s %s %d %s %s %s" % (dtype, shape, axis, index, inverse, counts), np.unique, a, index, inverse, counts, axis)
a = on_device(rng.integers(0, 4, (900, 3)) * 0.5)
n, z = a.copy(), a.copy()
n[::7, 1] = np.nan
z[:, 0] = -0.0
for name, x in {"nan": n, "-0": z, "turned": a.T, "strided": a[::2, ::-1], "empty": a[:0], "no columns": a[:, :0], "list": a.tolist(), "line": a[0]}.items():
    for axis in (0, -1, 1, 2) if name == "-0" else (0, 1, None):  # which zero stands for both is open
        attempt("%s %s" % (name, axis), np.unique, x, axis=axis)
        attempt("%s %s inverse" % (name, axis), np.unique, x, return_inverse=True, axis=axis)
        attempt("%s %s all" % (name, axis), np.unique, x, True, True, True, axis)
attempt("words", np.unique, a, 1, 0, 1, 0)
attempt("equal_nan", np.unique, a, axis=0, equal_nan=False)
''')
        if np.lib.NumpyVersion(np.__version__) >= "1.25.0":
            self.assert_on_device(result, "lexsort")
            self.shim_run(MORE + '''
from shim_script import check_moved
a = on_device(rng.integers(0, 30, (30000, 2)))
check_moved({"all": lambda: np.unique(a, return_index=True, return_inverse=True, return_counts=True, axis=0)}, download_bytes=1000, upload_bytes=1000)
''')

    def test_order_statistics(self):
        result = self.assert_same(MORE + '''
a = np.round(rng.normal(0, 3, (60, 70)), 1)
n = a.copy()
n[rng.random(a.shape) < 0.1] = np.nan
for name, x in {"a": on_device(a), "n": on_device(n), "f4": on_device(a.astype("f4")), "i8": on_device(a.astype("i8"))}.items():
    for axis in (None, 0, 1):
        for function in (np.median, np.nanmedian):
            attempt("%s %s %s" % (name, axis, function.__name__), function, x, axis)
        for method in ("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased", "inverted_cdf"):
            attempt("%s %s quantile %s" % (name, axis, method), np.quantile, x, [0.1, 0.5, 0.99], axis, method=method)
        attempt("%s %s percentile" % (name, axis), np.percentile, x, 33.3, axis)
        attempt("%s %s nanpercentile" % (name, axis), np.nanpercentile, x, [10, 90], axis)
''')
        self.assert_on_device(result, "partition")

    def test_an_int_is_taken_without_the_array(self):
        self.assert_same(MORE + '''
a = on_device(make((30, 40, 50), "f8"))
views = {"C": a, "turned": a.T, "steps": a[::2, ::-1], "line": a[1, :, 2], "complex": a[0] + 1j, "bool": a > 0, "empty": a[:0], "0-d": a[1, 1, 1]}
for name, x in views.items():
    for axis in (None, 0, 1, -1):
        for at in (0, 3, -1, 29, -30, 50, np.int64(2), np.int32(2), True, 2.0, np.array(1)):
            for mode in ("raise", "wrap", "clip"):
                attempt("%s %s %s %r %s" % (name, axis, type(at), at, mode), lambda: np.take(x, at, axis, mode=mode))
b = a.take(0, axis=1)
b += 1
dump("copied", b)
dump("left", a)
''')

    def test_a_place_as_an_array_without_dimensions(self):
        self.assert_same(MORE + '''
a = on_device(make((30, 40, 50), "f8"))
views = {"C": a, "turned": a.T, "steps": a[::2, ::-1], "line": a[1, :, 2], "complex": a[0] + 1j, "bool": a > 0, "empty": a[:0], "0-d": a[1, 1, 1], "one": a[:1, :1]}
for name, x in views.items():
    for at in (np.array(0), np.array(-1), np.array(3, "u1"), np.array(29, "i4"), np.array(30), np.array(-31), np.array(2 ** 63, "u8"), np.array(True), np.array(1.0),
               on_device(np.arange(5))[2, ...]):
        def both():
            part = x[at]
            dump("%s %s %r type" % (name, at.dtype, int(at)), type(part).__name__)
            dump("%s %s %r" % (name, at.dtype, int(at)), part)
        attempt("%s %s %r raises" % (name, at.dtype, int(at)), both)
b = a[np.array(2)]
b += 1
dump("copied", b)
dump("left", a)
''')

    def test_a_median_stays(self):
        result = shim_runner.run('''
import numpy as np
x = np.random.default_rng(1).random(1 << 20) + 1
for k in range(4):
    y = x + k
    np.median(y), np.median(y.reshape(1024, 1024), axis=0), np.quantile(y.reshape(1024, 1024), 0.3, axis=1)
''')
        self.assertEqual(result.returncode, 0, result)
        self.assertLess(result.report["counters"]["download_bytes"], 1 << 17, result.report["readers"])

    def test_sets(self):
        self.assert_same(MORE + '''
for dtype in ("i4", "i8", "f8", "u1"):
    a, b = on_device(make(3000, dtype)), on_device(make(400, dtype) + make(1, dtype))
    a, b = (x + x.dtype.type(0) for x in (a, b))
    for function in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.isin):
        dump("%s %s" % (dtype, function.__name__), function(a, b))
    for index, part in enumerate(np.intersect1d(np.unique(a), np.unique(b), True, True)):
        dump("%s indices %d" % (dtype, index), part)
    dump(dtype + " inverted", np.isin(a, b, invert=True))
    dump(dtype + " by sort", np.isin(a, b[:50]))
''')


if __name__ == "__main__":
    shim_runner.main()
