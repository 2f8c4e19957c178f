# SPDX-License-Identifier: Apache-2.0
"""The values of scipy.interpolate's piecewise polynomials, B-splines and regular grids (numpy_composed_piecewise.py), against
plain SciPy, bit for bit. Skipped where there is no SciPy."""
import importlib.util
import unittest

import shim_runner
from test_scipy_composed import PRELUDE as COMPOSED

PRELUDE = COMPOSED + '''
import scipy.interpolate as si
BREAKS = np.cumsum(np.arange(60) % 7 + 0.5)
WAVE = np.arange(60) * 37 % 61 / 61
PLACES = on_device(np.arange(3000) * 7919 % 1009 / 1009 * (BREAKS[-1] + 20) - 10)
PLACES[:120:2], PLACES[7], PLACES[8] = BREAKS, np.nan, -np.inf
'''


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipyInterpolate(shim_runner.TestCase):
    def test_piecewise_polynomials(self):
        self.assert_same(PRELUDE + '''
for terms in (1, 2, 4, 7):
    for shape in ((), (3,), (2, 2)):
        c = np.array(make((terms, 59) + shape, spread=3.0))
        for kind in ("f8", "c16"):
            p = si.PPoly(c.astype(kind) * (1 if kind == "f8" else 1 + 0.5j), BREAKS)
            for order in (0, 1, 2, 3, 7, -1, -2):
                for beyond in (True, False, "periodic"):
                    attempt("%d %s %s %d %s" % (terms, shape, kind, order, beyond), p, PLACES, order, beyond)
c = np.array(make((4, 59)))
attempt("descending", si.PPoly(c, BREAKS[::-1]), PLACES)
attempt("table", si.PPoly(c, BREAKS), PLACES.reshape(30, 100))
attempt("integers", si.PPoly(c, BREAKS), on_device(np.arange(2000) % 90))
for maker in (si.CubicSpline, si.PchipInterpolator, si.Akima1DInterpolator):
    attempt(maker.__name__, lambda: maker(BREAKS, WAVE)(PLACES))
attempt("repeated", lambda: si.PPoly(c, np.sort(np.concatenate([BREAKS[:58], BREAKS[3:5]])))(PLACES))
''')

    def test_splines(self):
        self.assert_same(PRELUDE + '''
for degree in (0, 1, 2, 3, 4, 5):
    for shape in ((), (3,), (2, 2)):
        knots = {"plain": BREAKS, "ends": np.concatenate([[BREAKS[0]] * degree, BREAKS, [BREAKS[-1]] * degree]),
                 "repeated": np.sort(np.concatenate([BREAKS, BREAKS[10:13], BREAKS[11:12]]))}
        for name, t in knots.items():
            for kind in ("f8", "c16"):
                c = np.array(make((t.size - degree - 1,) + shape, spread=3.0)).astype(kind)
                for order in range(degree + 3):
                    for beyond in (True, False, "periodic"):
                        attempt("%s %d %s %s %d %s" % (name, degree, shape, kind, order, beyond), si.BSpline(t, c, degree), PLACES, order, beyond)
attempt("made", lambda: si.make_interp_spline(BREAKS, WAVE)(PLACES))
attempt("evaluated", lambda: si.splev(PLACES, si.splrep(BREAKS, WAVE)))
''')

    def test_regular_grids(self):
        self.assert_same(PRELUDE + '''
lines = [np.cumsum(np.arange(count) % 3 + 0.25) for count in (20, 31, 7)]
for ndim in (1, 2, 3):
    values = make([line.size for line in lines[:ndim]])
    at = on_device(np.stack([np.arange(2000) * step % 1009 / 1009 * (line[-1] + 6) - 3 for step, line in zip((7919, 104729, 31), lines)], -1)[:, :ndim])
    at[:20 * 7:7, 0], at[5] = lines[0], np.nan
    for kind in ("f8", "f4", "i4", "c16"):
        for method in ("linear", "nearest"):
            for fill in (np.nan, None, 3.0):
                made = si.RegularGridInterpolator(lines[:ndim], values.astype(kind), method, bounds_error=False, fill_value=fill)
                attempt("%d %s %s %s" % (ndim, kind, method, fill), made, at)
    attempt("%d out" % ndim, si.interpn, lines[:ndim], values, at)
values = make((20, 31))
attempt("one line", lambda: si.RegularGridInterpolator((lines[0], [2.0]), values[:, :1], bounds_error=False)(at[:, :2]))
attempt("vectors", lambda: si.RegularGridInterpolator(lines[:1], values, bounds_error=False)(at[:, :1]))
attempt("read-only", lambda: (values.setflags(write=False), si.RegularGridInterpolator(lines[:2], values, bounds_error=False)(at[:, :2])))
''')

    def test_operands_stay(self):
        self.assert_same(PRELUDE + '''
places = on_device(np.arange(40000) * 7919 % 1009 / 1009 * BREAKS[-1])
for maker in (si.CubicSpline, si.PchipInterpolator, si.Akima1DInterpolator, si.make_interp_spline):
    stays(maker.__name__, maker(BREAKS, WAVE), places)
g, values, places = np.arange(200.0), make((200, 200)), places * 0.5
stays("grid", si.RegularGridInterpolator((g, g), values), places.reshape(-1, 2))
stays("grid of three", si.RegularGridInterpolator((g, g, g[:4]), make((200, 200, 4))), on_device(np.stack([places, places, places / 100], -1)))
''')


if __name__ == "__main__":
    unittest.main()
