# SPDX-License-Identifier: Apache-2.0
"""Rank filters of scipy.ndimage and scipy.signal, each one launch, against plain SciPy, bit for bit. Skipped where there is no SciPy."""
import importlib.util
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
import scipy.ndimage as nd
from scipy import signal
from shim_script import attempt, dump, moved_by, on_device
rng = np.random.default_rng(11)
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
DTYPES = "?bhilqBHILQfd"
launches = 0  # of rank filters, which the test expects

def make(shape, dtype="d", values=0):
    """Few values, for ties; 0: of all sizes."""
    numbers = rng.integers(0, values, shape) if values else rng.standard_normal(shape) * 100
    if np.dtype(dtype).kind == "b":
        numbers = numbers > np.median(numbers)
    return on_device((np.abs(numbers) if np.dtype(dtype).kind == "u" else numbers).astype(dtype) + np.dtype(dtype).type(0))

def check(name, function, *operands, **keywords):
    """One launch."""
    global launches
    launches += 1
    attempt(name, function, *operands, **keywords)
'''


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipyRanks(shim_runner.TestCase):
    def compare(self, script, **env):
        """The script prints how many rank filters the device must have computed."""
        result = self.assert_same(PRELUDE + script + "\nprint(launches)", env={"GPUSHIM_ARENA_MIN": "256", **env})
        ran = sum(row["device_calls"] for row in result.report["operations"] if row["name"].startswith("rank filter"))
        self.assertEqual(ran, int(result.stdout))

    def test_dtypes(self):
        self.compare('''
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
for dtype in DTYPES:
    for values in (0, 5):
        a = make((60, 70), dtype, values)
        for mode in MODES:
            name = "%s %d %s " % (dtype, values, mode)
            check(name + "median", nd.median_filter, a, 3, mode=mode)
            check(name + "cross", nd.median_filter, a, footprint=CROSS, mode=mode, cval=1)
            check(name + "percentile", nd.percentile_filter, a, 20, (4, 3), mode=mode)
            line = a[7].astype(dtype)
            (attempt if dtype == "q" else check)(name + "line", nd.rank_filter, on_device(np.tile(line, 5)), 2, 7, mode=mode)
    if dtype in "Bfd":
        check(dtype + " medfilt2d", signal.medfilt2d, a, (3, 5))
    if dtype != "?":
        check(dtype + " medfilt", signal.medfilt, a, (5, 3))
        check(dtype + " order", signal.order_filter, a, CROSS, 1)
''')

    def test_sizes_and_ranks(self):
        self.compare('''
a, b, line = make((50, 64)), make((50, 64), "f", 9), make(4000, "d", 50)
for size in (3, 5, 7, 9):
    for rank in {1, 2, size, size * size // 2, size * size - size, size * size - 2}:
        check("%d of %d" % (rank, size), nd.rank_filter, a, rank, size)
        check("%d of %d, float" % (rank, size), nd.rank_filter, b, rank, size)
    for percentile in (12, 30, 88):
        check("%d%% of %d" % (percentile, size), nd.percentile_filter, a, percentile, size)
    check("medfilt2d %d" % size, signal.medfilt2d, a, size)
for length in range(3, 82, 6):
    for rank in {1, length // 3, length // 2, length - 2}:
        check("line %d of %d" % (rank, length), nd.rank_filter, line, rank, length)
for size in ((1, 3), (3, 1), (2, 2), (4, 6), (1, 81), (27, 3)):
    check("size %s %s" % size, nd.median_filter, a, size)
''')

    def test_dimensions_and_footprints(self):
        self.compare('''
for shape in ((60, 64), (20, 24, 28), (7, 9, 11, 13)):
    for dtype in ("d", "h"):
        a = make(shape, dtype, 30)
        for number in range(12):
            extents = rng.integers(2, 5 if len(shape) > 2 else 8, len(shape))
            footprint = rng.random(extents) < 0.6
            footprint.flat[:3] = footprint.flat[-1] = True
            count = int(footprint.sum())
            name = "%s %s %d" % (shape, dtype, number)
            origin = [int(rng.integers(-(extent // 2), (extent - 1) // 2 + 1)) for extent in extents]
            filtered = check if count <= 81 else attempt
            filtered(name, nd.rank_filter, a, int(rng.integers(1, max(count - 1, 2))), footprint=footprint, origin=origin, mode=MODES[number % 5])
a = make((30, 40, 50))
for axes in ((0,), (1, 2), (0, 2)):
    check("axes %s" % (axes,), nd.median_filter, a, 3, axes=axes)
check("transposed", nd.median_filter, make((80, 60)).T, 5)
check("reversed", nd.median_filter, make((80, 60))[::-1, ::2], 5)
''')

    def test_values_and_outputs(self):
        self.compare('''
for dtype in DTYPES:
    a = make((60, 64), dtype, 40)
    for value in (0, 1, 7, 300, -3, 2.5, 1e300, np.inf, 0.1, True, np.float64(4)):
        check("%s %r" % (dtype, value), nd.median_filter, a, 3, mode="constant", cval=value)
    for other in "?bhlBIfd":
        if dtype == other or (other != "?" and (dtype in "?b" or other in "fdl")):
            output = on_device(np.zeros(a.shape, other))
            check("%s to %s" % (dtype, other), nd.median_filter, a, 3, output=output)
            dump("output %s to %s" % (dtype, other), output)
for value in (-0.0, np.nan):
    attempt("%r" % value, nd.median_filter, a, 3, mode="constant", cval=value)
    attempt("line %r" % value, nd.median_filter, a.ravel(), 3, mode="constant", cval=value)
    attempt("least %r" % value, nd.minimum_filter, make((60, 64), "d", 3), 3, mode="constant", cval=value)
wide = on_device(np.zeros((60, 200)))
check("part", nd.median_filter, make((60, 64)), 5, output=wide[:, 3:195:3])
dump("wide", wide)
both = make((61, 64))
check("beside itself", nd.median_filter, both[1:], 5, output=both[:-1])
dump("both", both)
check("into itself", nd.median_filter, both, 5, output=both)
dump("itself", both)
big = make((60, 64), "l") * 2 ** 55 + 1
check("big, computed in vain", nd.median_filter, big, 3)
check("big line", nd.median_filter, big.ravel(), 3)
''')

    def test_left_to_others(self):
        self.compare('''
a = make((60, 64), "d", 40)
for size in (10, 11, (3, 40)):
    attempt("large %s" % (size,), nd.median_filter, a, size)
    attempt("large percentile %s" % (size,), nd.percentile_filter, a, 10, size)
attempt("wider than the line", nd.median_filter, a[:3], 9)
attempt("empty", nd.median_filter, a[:0], 3)
attempt("nothing", nd.rank_filter, a, 0, footprint=np.zeros((3, 3)))
attempt("rank", nd.rank_filter, a, 9, 3)
attempt("half", nd.median_filter, a.astype("e"), 3)
attempt("complex", nd.median_filter, a.astype("D"), 3)
check("list", nd.median_filter, [[3.0, 1.0], [2.0, 4.0]], 3)
for value in (np.nan, -0.0):
    b = a.copy()
    b[20, 30] = value
    attempt("%r" % value, nd.median_filter, b, 5)
    attempt("medfilt2d %r" % value, signal.medfilt2d, b, 5)
for size in range(1, 5):
    check("small %d" % size, nd.median_filter, a[:size, :size].copy(), 3)
''')

    def test_random_calls(self):
        result = self.assert_same(PRELUDE + '''
for number in range(250):
    ndim = int(rng.integers(1, 4))
    shape = [int(extent) for extent in rng.integers(1, (3000, 70, 20)[ndim - 1], ndim)]
    dtype, values = rng.choice(list(DTYPES)), int(rng.choice([0, 2, 10]))
    a = make(shape, dtype, values)
    footprint = rng.random(rng.integers(1, (80, 9, 5)[ndim - 1], ndim)) < rng.choice([0.3, 0.7, 1.1])
    rank, mode, value = int(rng.integers(-20, 40)), rng.choice(MODES), rng.choice([0, 1, -7, 2.5])
    attempt("%d" % number, nd.rank_filter, a, rank, footprint=footprint, mode=mode, cval=float(value))
    percentile = float(rng.choice([0, 3, 50, 77, 100]))
    attempt("percentile %d" % number, nd.percentile_filter, a, percentile, size=[int(extent) for extent in footprint.shape], mode=mode)
''', env={"GPUSHIM_ARENA_MIN": "64"})
        ran = sum(row["device_calls"] for row in result.report["operations"] if row["name"].startswith("rank filter"))
        self.assertGreater(ran, 100)

    def test_recorded(self):
        """Calls before and after it, and arrays that go before it runs."""
        self.compare('''
a = make((100, 120))
check("chain", lambda: nd.median_filter(a * 2 + 1, 3) - a)
for turn in range(3):
    check("again %d" % turn, lambda: nd.median_filter(nd.gaussian_filter(a, 1, mode="wrap").round(3), (3, 5)))
def many():
    made = a
    for size in (3, 5, 3, 7):
        made = nd.median_filter(made, size)
    return made
launches += 3
check("many", many)
moved = moved_by(lambda: nd.median_filter(a, 5))
launches += 1
dump("stays", moved["download_bytes"] < 32768)
''')

    def test_by_price(self):
        """Where the CPU is cheaper, the composition does without the launch."""
        for shape in ("(20, 20)", "(300, 400)"):
            self.assert_same(PRELUDE + '''
a = make(%s)
for turn in range(5):
    attempt("median %%d" %% turn, nd.median_filter, a, 5)
    attempt("medfilt2d %%d" %% turn, signal.medfilt2d, a, 3)
''' % shape, env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_ARENA_MIN": "256"}, device=False)


if __name__ == "__main__":
    unittest.main()
