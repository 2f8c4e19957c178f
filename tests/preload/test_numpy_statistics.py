# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy that rest on sorts, searches and counts, against plain NumPy, bit for bit (any NaN is any other)."""
import unittest

import numpy as np

import shim_runner

PRELUDE = '''
import warnings
import numpy as np
import shim_script
from shim_script import attempt, on_device
warnings.simplefilter("always")

def make(count, dtype="d", seed=7919):
    return on_device((np.arange(count) * seed % 2097143 * 2.0 ** -11 - 200).astype(dtype))

def one_nan(value):
    if isinstance(value, (tuple, list)):
        return tuple(map(one_nan, value))
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype.kind not in "fc":
        return value
    if isinstance(value, np.generic):
        return type(value)(np.nan) if value != value else value
    parts = [value] if value.dtype.kind == "f" else [value.real, value.imag]
    if value.base is None and value.flags.writeable:
        for part in parts:
            part[np.isnan(part)] = np.nan
    return value

def check(name, call):
    """The result, or the exception; and the warnings."""
    def go():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = one_nan(call())
        return [result, sorted({(warning.category.__name__, str(warning.message)) for warning in caught})]
    attempt(name, go)
'''
ODD = '''
odd = x.copy()
odd[::7], odd[3::11], odd[5::13], odd[6::17] = np.nan, np.inf, -np.inf, -0.0
'''


class TestStatistics(shim_runner.TestCase):
    def test_interp(self):
        self.assert_same(PRELUDE + '''
x = make(3000)
''' + ODD + '''
up = np.arange(40.0) * 25 - 300
steep = np.array([-100.0, -50, -50, -50, 0, 1e308, np.inf])
LINES = {"up": (up, up ** 2 / 3), "ints": (np.arange(-100, 100, 7), np.arange(29) * 3), "two": (np.array([-5.0, 400.0]), np.array([1.0, 3.0])),
    "one": (np.array([3.0]), np.array([4.0])), "equal": (steep, np.array([1.0, 2, 3, 4, -np.inf, np.inf, 7])),
    "infinite": (up, np.where(np.arange(40) % 5 == 2, np.inf, 1.5)), "nan": (up, np.where(np.arange(40) % 5 == 2, np.nan, up)),
    "down": (-up, up), "nan among points": (np.where(np.arange(40) == 3, np.nan, up), up), "empty": (up[:0], up[:0]),
    "unequal": (up, up[:-1]), "table": (up.reshape(8, 5), up), "complex": (up, up + 1j / (up + 7)), "complex points": (up + 0j, up),
    "lists": (up.tolist(), (up * 2).tolist()), "float32": (up.astype("f"), up.astype("f") / 3), "long": (np.sort(x), x), "text": (["a"], ["b"]),
    "infinite complex": (up, np.where(np.arange(40) % 5 == 2, complex(np.inf, 1), 1.5 + 2j))}
XS = {"line": x, "odd": odd, "table": x.reshape(60, 50), "Fortran": x.reshape(60, 50).T, "steps": x[::-3], "float32": x.astype("f"),
    "ints": x.astype("l"), "bools": x > 0, "points": up, "empty": x[:0], "cube": x.reshape(10, 3, 100).transpose(1, 0, 2), "0-d": np.array(3.5), "number": 3.5, "complex": x + 0j, "list": [1, 2.5]}
for line, (points, heights) in LINES.items():
    for name, value in XS.items():
        check("%s %s" % (line, name), lambda: np.interp(value, points, heights))
        attempt("%s %s owns" % (line, name), lambda: str(np.interp(value, points, heights).flags))
for ends in ({"left": -1.0}, {"right": 7}, {"left": np.float32(2.5), "right": np.nan}, {"left": "3"}, {"left": 1j}, {"right": [1]}, {"left": None},
             {"left": np.array(4.0)}, {"period": 90.7}, {"period": 0}, {"period": -361.3}, {"left": True, "period": 100.3}):
    for line in ("up", "complex", "lists"):
        check("%s %s" % (line, ends), lambda: np.interp(odd, *LINES[line], **ends))
''')

    def test_counts_with_weights(self):
        self.assert_same(PRELUDE + '''
n = 3000
k = on_device(np.arange(n) * 7 % 23)
x = make(n)
WEIGHTS = {"integers": np.floor(x), "fractions": x, "halves": np.where(k % 2 == 0, 0.5, -0.5), "ints": k * 3, "int8": (k - 9).astype("i1"), "bools": k > 5,
    "rounded": x / 3, "tiny": np.full(n, 5e-324), "small": np.floor(x) * 2.0 ** -900, "huge": np.full(n, 1e308), "large": np.floor(x) * 2.0 ** 60,
    "wide": np.where(k == 3, 1e300, 1e-300), "nan": np.where(k == 3, np.nan, 1.0), "infinite": np.where(k == 3, np.inf, 1.0), "zeros": x * 0, "minus zeros": -0.0 * k,
    "near": np.where(np.arange(n) == 0, 2.0 ** 52, 1.0), "beyond": np.where(np.arange(n) == 0, 2.0 ** 53, 1.0), "float32": x.astype("f"),
    "complex": x + 1j, "short": x[:5], "table": x.reshape(2, -1), "objects": k.astype(object), "list": k.tolist(), "backwards": x[::-1], "uint64": k.astype("u8")}
EXACT = "integers fractions halves ints int8 bools large zeros list backwards short table".split()
for name, weights in WEIGHTS.items():
    for least in (0, 5, 100):
        check("%s %s" % (name, least), lambda: np.bincount(k, weights, least))
    for kind in ("u1", "i4"):
        check("%s %s" % (name, kind), lambda: np.bincount(k.astype(kind), weights=weights))
    check("below " + name, lambda: np.bincount(k - 3, weights))
    check("histogram " + name, lambda: np.histogram(x, 30, weights=weights))
    if name in EXACT:  # it accumulates weights, in another order on a GPU
        check("histogram of edges " + name, lambda: np.histogram(x, [-100, 0, 50, 300], weights=weights, density=True))
    check("histogram2d " + name, lambda: np.histogram2d(x, x[::-1], 7, weights=weights))
for least in (-1, 2.0, None, "x", True, 2 ** 21, np.int64(40), np.int64(-2), np.int32(41), np.True_, np.array(42)):
    check("least %s %s" % (type(least), least), lambda: np.bincount(k, np.floor(x), minlength=least).sum())
check("empty", lambda: np.bincount(k[:0], x[:0]))
check("far", lambda: np.bincount(k * 10 ** 6, np.floor(x)).sum())
''')

    def test_histograms(self):
        self.assert_same(PRELUDE + '''
x, y = make(70000), make(70000, seed=104729)
''' + ODD + '''
XS = {"doubles": x, "float32": x.astype("f"), "ints": x.astype("l"), "bytes": (x % 200).astype("u1"), "one value": x * 0 + 3, "odd": odd,
    "empty": x[:0], "steps": x[::-7], "table": x.reshape(700, 100), "bools": x > 0}
BINS = {"10": 10, "1": 1, "1000": 1000, "0": 0, "edges": np.linspace(-150, 90, 21), "uneven": [-200, -3.5, 0, 0, 100, 1e9], "down": [3, 2, 1],
    "ints": np.arange(-200, 800, 50), "one edge": [1.0], "float": 2.5, "auto": "auto", "fd": "fd", "sqrt": "sqrt", "unknown": "x"}
for name, value in XS.items():
    for text, bins in BINS.items():
        for keywords in ({}, {"range": (-50, 60.5)}, {"range": (5, 5)}, {"range": (6, 5)}, {"range": (0, np.inf)}, {"density": True}):
            check("%s %s %s" % (name, text, keywords), lambda: np.histogram(value, bins, **keywords))
for bins in (7, (4, 9), [np.linspace(-200, 800, 5), 6], [np.linspace(0, 10, 4)] * 2):
    for keywords in ({}, {"range": [(-100, 500), (0, 9)]}, {"density": True}):
        check("2d %s %s" % (bins, keywords), lambda: np.histogram2d(x, y, bins, **keywords))
        check("dd %s %s" % (bins, keywords), lambda: np.histogramdd((x, y), bins, **keywords))
check("of three", lambda: np.histogramdd(np.stack((x, y, x[::-1]), 1), (3, 4, 5)))
check("unequal", lambda: np.histogram2d(x, y[:-1], 7))
check("odd 2d", lambda: np.histogram2d(odd, y, 7, range=[(-100, 500), (0, 9)]))
MORE = {"sorted": np.sort(x), "backwards": np.sort(x)[::-1], "float32": np.sort(x.astype("f")), "equal": x[:5] * 0, "one": x[:1], "none": x[:0], "unsorted": x,
    "nan first": np.array([np.nan, 1]), "large": np.array([2 ** 63, 2 ** 63 + 1, 2 ** 63], "u8"), "bools": np.array([False, True]),
    "table": np.ones((2, 2)), "complex": np.array([1j, 2j])}
for right in (False, True):
    for text, bins in {**{text: BINS[text] for text in ("edges", "uneven", "down", "ints")}, **MORE}.items():
        check("digitize %s %s" % (text, right), lambda: np.digitize(odd, bins, right))
''')

    def test_quantiles_of_lines_without_their_nans(self):
        self.assert_same(PRELUDE + '''
x = make(6 * 610)
gaps = np.where(np.arange(x.size) % 7 == 3, np.nan, x)
some = np.where(np.arange(x.size) % 501 == 3, np.inf, gaps)
bare = gaps.reshape(6, 610).copy()
bare[3] = np.nan
XS = {"gaps": gaps.reshape(6, 610), "none": x.reshape(6, 610), "Fortran": gaps.reshape(610, 6).T, "cube": gaps.reshape(2, 610, 3), "infinite": some.reshape(6, 610),
    "no numbers": bare, "float32": gaps.reshape(6, 610).astype("f"), "float16": gaps.reshape(6, 610).astype("e"), "ints": x.astype("l").reshape(6, 610),
    "equal": np.where(np.isnan(gaps), gaps, 2.5).reshape(6, 610), "zeros": np.where(np.isnan(gaps), gaps, -0.0).reshape(6, 610), "line": gaps}
for name, value in XS.items():
    for number, axis in enumerate((1, -1, 2, (0, 1), np.int64(1), -2)):
        for q in (30, [30, 60], np.float64(30)) if number else (0, 25, 50.0, 99.9, 100, [0, 30, 100], (12.5,), [], -1, 101, np.nan, np.float32(25), np.array([[10.0, 20]]), "x", np.array([5, 95])):
            check("nanpercentile %s %d %s" % (name, number, q), lambda: np.nanpercentile(value, q, axis=axis))
        check("nanquantile %s %d" % (name, number), lambda: np.nanquantile(value, [0.1, 1 / 3, 0.9], axis))
        check("nanmedian %s %d" % (name, number), lambda: np.nanmedian(value, axis))
    for keywords in ({"keepdims": True}, {"keepdims": False}, {"method": "nearest"}, {"overwrite_input": True}, {"out": np.zeros(6)}, {"weights": None}):
        check("more %s %s" % (name, keywords), lambda: np.nanquantile(value.copy(), 0.3, axis=-1, **keywords))
''')

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "1.25.0", "its functions have no dispatcher objects")
    def test_lines_stay_on_the_device(self):
        self.shim_run(PRELUDE + '''
from shim_script import check_moved
a = np.where(make(400000) < -100, np.nan, make(400000)).reshape(500, 800)
np.nanquantile(a, [0.5], axis=0)  # the first call looks whether NumPy's code is known
check_moved({"nanpercentile": lambda: np.nanpercentile(a, [30, 60], axis=1), "nanquantile": lambda: np.nanquantile(a, [0.1, 0.9], axis=0),
    "nanmedian": lambda: np.nanmedian(a, axis=1), "nanvar": lambda: np.nanvar(a, axis=1), "nanstd": lambda: np.nanstd(a, axis=0, ddof=1)}, download_bytes=1000, upload_bytes=4000)
a[30], a[31, 7], a[32, ::2], a[33, 1::2] = np.nan, np.inf, np.inf, -np.inf
a = on_device(a)
check_moved({"bare nanpercentile": lambda: np.nanpercentile(a, [30, 60], axis=1), "bare nanquantile": lambda: np.nanquantile(a, 0.5, axis=0),
    "bare nanmedian": lambda: np.nanmedian(a, axis=1)}, download_bytes=60000, upload_bytes=40000)
''', env={"GPUSHIM_FPERR": "off"})

    @unittest.skipIf(np.lib.NumpyVersion(np.__version__) < "1.25.0", "its functions have no dispatcher objects")
    def test_lines_of_which_numpy_warns(self):
        """Each warning as often, in the same order and of the same line of NumPy's text."""
        self.assert_same(PRELUDE + '''
import os
x = make(30 * 610)
table = np.where(np.arange(x.size) % 7 == 3, np.nan, x).reshape(30, 610)
table[4], table[6], table[8, 5], table[9, ::2], table[11, ::3], table[11, 1::3] = np.nan, -np.nan, np.inf, -np.inf, np.inf, -np.inf
table[13], table[14, :300], table[14, 300:], table[16], table[17, ::2] = np.inf, 1e308, -1e308, 1e308, -0.0
first = table.copy()
first[0] = np.nan
ODD_ONES = {"table": table, "Fortran": np.asfortranarray(table), "first": first, "cube": table.reshape(5, 610, 6).transpose(0, 2, 1), "all": np.full((3, 700), np.nan)}
for name, values in ODD_ONES.items():
    for dtype in "df":
        with np.errstate(all="ignore"):
            a = on_device(values.astype(dtype))
        CALLS = {"nanpercentile %s" % (q,): lambda q=q: np.nanpercentile(a, q, axis=-1) for q in (0, 50, 99.5, 100, [10, 90], np.float64(30), np.float32(25), [50])}
        CALLS.update({"nanmedian": lambda: np.nanmedian(a, -1), "nanquantile": lambda: np.nanquantile(a, 0.4, axis=-1), "columns": lambda: np.nanquantile(a, [0.1, 0.4], axis=0)})
        for errors in ("warn", "raise", "ignore"):
            for text, call in CALLS.items():
                with warnings.catch_warnings(record=True) as caught, np.errstate(all=errors, under="ignore"):
                    warnings.simplefilter("always")
                    shim_script.record("%s %s %s %s" % (text, name, dtype, errors), lambda: one_nan(call()))
                shim_script.dump("warnings of %s %s %s %s" % (text, name, dtype, errors), [(str(w.message), os.path.basename(w.filename), w.lineno) for w in caught])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for text, call in CALLS.items():
                shim_script.record("error %s %s %s" % (text, name, dtype), lambda: one_nan(call()))
''')

    def test_quantiles(self):
        self.assert_same(PRELUDE + '''
x = make(3000)
''' + ODD + '''
XS = {"line": x, "odd": odd, "table": x.reshape(60, 50), "odd table": odd.reshape(60, 50), "Fortran": x.reshape(60, 50).T, "ints": x.astype("l"), "float32": x.astype("f"),
    "one": x[:1], "two": x[:2], "empty": x[:0], "no rows": x[:0].reshape(0, 5), "nan": x * np.nan, "bools": x > 0, "complex": x[:20] + 1j, "cube": x.reshape(10, 15, 20)}
METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased", "x")
FUNCTIONS = {function.__name__: function for function in (np.median, np.nanmedian)}
for name, value in XS.items():
    for function in (np.quantile, np.nanquantile):
        for method in METHODS:
            for q in (0.3, [0, 0.25, 1], 0.5):
                check("%s %s %s %s" % (function.__name__, name, method, q), lambda: function(value, q, method=method))
        for keywords in ({"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": 5}, {"axis": (0, 1)}, {"overwrite_input": True}):
            check("%s %s %s" % (function.__name__, name, keywords), lambda: function(value.copy(), 0.7, **keywords))
        check("%s %s beyond" % (function.__name__, name), lambda: function(value, 1.5))
        check("%s %s q" % (function.__name__, name), lambda: function(value, np.array([[0.1, 0.9], [0.5, np.nan]])))
    for function in (np.median, np.nanmedian):
        for keywords in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": 5}, {"axis": (0, 1)}):
            check("%s %s %s" % (function.__name__, name, keywords), lambda: function(value, **keywords))
    check("percentile " + name, lambda: [np.percentile(value, [5, 50, 95]), np.nanpercentile(value, 30, axis=0)])
    check("average " + name, lambda: np.quantile(value, 0.5, weights=abs(value), method="inverted_cdf"))
out = on_device(np.zeros(50))
check("out", lambda: [np.quantile(XS["table"], 0.3, axis=0, out=out) is out, out])
check("median out", lambda: [np.median(XS["table"], axis=0, out=out) is out, out])
for k in (1, 7, 100):
    top = np.argpartition(x, -k)[-k:]
    check("top %d" % k, lambda: [np.sort(x[top]), np.sort(np.partition(x, -k)[-k:])])
    rows = np.argpartition(XS["table"], k % 50, axis=1)[:, :k % 50]
    check("top of rows %d" % k, lambda: np.sort(np.take_along_axis(XS["table"], rows, 1), 1))
''')

    def test_sets(self):
        self.assert_same(PRELUDE + '''
x = make(3000)
''' + ODD + '''
odd += 0.0  # which of 0.0 and -0.0 remains, the order of NumPy's sort says
few = on_device(np.array([x[5], x[9], -1.0, 1e9]))
XS = {"doubles": x, "odd": odd, "rounded": np.floor(x), "ints": (x % 40).astype("l"), "bytes": (x % 200).astype("u1"), "few": few, "empty": x[:0],
    "table": np.floor(x).reshape(60, 50), "bools": x > 0, "complex": np.floor(x) + 1j, "list": [1, 2, 3, 3]}
for name, a in XS.items():
    for text, b in XS.items():
        for function in (np.isin, np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d):
            check("%s %s %s" % (function.__name__, name, text), lambda: function(a, b))
        check("inverted %s %s" % (name, text), lambda: np.isin(a, b, invert=True))
        check("indices %s %s" % (name, text), lambda: np.intersect1d(a, b, return_indices=True))
    for kind in ("sort", "table", "x"):
        check("%s %s" % (kind, name), lambda: np.isin(a, XS["ints"][:30], kind=kind))
    check("assumed %s" % name, lambda: np.isin(np.unique(a), few, assume_unique=True))
    check("unique %s" % name, lambda: np.unique(a, return_index=True, return_inverse=True, return_counts=True))
''')

    def test_a_ufunc_of_single_elements(self):
        """As of x[-1, ...], an array without dimensions that lies in one on the device."""
        self.assert_same(PRELUDE + '''
for dtype in "? b B h i l L e f d F D".split():
    x = make(3000, dtype)
    other = make(3000, "f")
    for name, one in {"of itself": x[-1, ...], "number": 2.5, "int": 3, "large": 300, "float32": other[5, ...], "scalar": np.int16(7), "list": [1, 2], "text": "x"}.items():
        for function in (np.add, np.divide, np.maximum, np.less, np.power, np.floor_divide):
            check("%s %s %s" % (function.__name__, dtype, name), lambda: function(x[7, ...], one))
            check("%s %s %s turned" % (function.__name__, dtype, name), lambda: function(one, x[0, ...]))
    for function in (np.isnan, np.sqrt, np.negative, np.frexp, np.exp):
        check("%s %s" % (function.__name__, dtype), lambda: function(x[-1, ...]))
    check("operators " + dtype, lambda: [x[3, ...] + x[4, ...], -x[5, ...], x[6, ...] * 2, divmod(x[-1, ...], 2)])
    check("dtype " + dtype, lambda: np.add(x[3, ...], 1, dtype="D"))
    check("out " + dtype, lambda: np.add(x[3, ...], 1, out=x[4, ...]))
    check("table " + dtype, lambda: [x, x.sum() is not None])
''')

    def test_they_stay_on_the_device(self):
        result = shim_runner.run(PRELUDE + '''
n = 1 << 18
x, y = make(n), make(n, seed=104729)
k, w, holes = (x % 997).astype("l"), np.floor(y), np.where(x > 500, np.nan, x)
edges, rows = np.linspace(-200, 800, 50), x.reshape(512, 512)
def calls():
    np.interp(x, np.sort(y), x), np.digitize(x, np.sort(y)), np.interp(x, edges, edges + 1j), np.bincount(k, w), np.histogram(x, 50, weights=w)
    np.histogram(x, 50), np.histogram(x, 50, range=(0, 9)), np.histogram(x, edges), np.histogram2d(x, y, 9), np.histogramdd((x, y, x), 5)
    np.histogram2d(x, y, 9, weights=w), np.histogramdd((x, y, x), 5, weights=y)
    np.percentile(x, [5, 50]), np.quantile(x, 0.3), np.median(x), np.nanmedian(holes), np.nanquantile(holes, 0.3)
    np.quantile(rows, 0.3, axis=0, method="hazen"), np.median(rows, axis=1)
    np.isin(x, w), np.intersect1d(x, y), np.union1d(x, y), np.setdiff1d(x, y), np.setxor1d(x, y), np.argpartition(x, 9)
calls(), calls()  # ends of lines, which interp reads each time, may bring their pages
before = shim_script.report()["counters"]["download_bytes"]
calls()
moved = shim_script.report()["counters"]["download_bytes"] - before
assert moved < x.nbytes // 8, moved
''')
        self.assertEqual(result.returncode, 0, result)


if __name__ == "__main__":
    unittest.main()
