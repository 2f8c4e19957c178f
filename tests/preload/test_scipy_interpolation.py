# SPDX-License-Identifier: Apache-2.0
"""scipy.ndimage's interpolation and filters of Fourier transforms, composed of NumPy's functions (numpy_composed_splines.py,
numpy_composed_fourier.py), against plain SciPy: bit for bit but for the spline filter, and what rests on exp, sin and cos.
Skipped where there is no SciPy."""
import importlib.util
import unittest

import shim_runner
from test_scipy_composed import PRELUDE as COMPOSED

PRELUDE = COMPOSED + '''
import scipy.ndimage as nd
MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap")
WAVE = np.arange(2 * 50 * 40) * 7919 % 1009 / 1009
PLACES = on_device(WAVE.reshape(2, 50, 40) * 220 - 80)  # far beyond the borders
WHOLE = on_device(np.rint(WAVE.reshape(2, 50, 40) * 130 - 30))
MATRIX, OFFSETS = np.array([[0.9, 0.3], [-0.2, 1.1]]), [-7.3, 4.25]
'''
OF_FILTER = 8 * 2.0 ** -52


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipyInterpolation(shim_runner.TestCase):
    def test_interpolation(self):
        """With the array's numbers as coefficients, all orders have SciPy's bits."""
        self.assert_same(PRELUDE + '''
a = make((61, 70))
for order in range(6):
    for mode in MODES:
        def check(name, function, *operands, **keywords):
            attempt("%s %d %s" % (name, order, mode), function, a, *operands, order=order, mode=mode, cval=2.5, prefilter=False, **keywords)
        check("places", nd.map_coordinates, PLACES)
        check("whole places", nd.map_coordinates, WHOLE)
        check("affine", nd.affine_transform, MATRIX, OFFSETS)
        check("affine shape", nd.affine_transform, MATRIX, OFFSETS, output_shape=(33, 101))
        check("homogeneous", nd.affine_transform, np.array([[0.9, 0.3, 5], [-0.2, 1.1, 9], [0, 0, 1]]))
        check("diagonal", nd.affine_transform, [0.7, 1.3], [-2.5, 3])
        check("shift", nd.shift, (3.5, -90.25))
        check("whole shift", nd.shift, 65)
        check("zoom", nd.zoom, (1.5, 0.6))
        check("zoom on the grid", nd.zoom, (1.7, 2), grid_mode=True)
        check("rotate", nd.rotate, 30)
        check("rotate in place", nd.rotate, 90, reshape=False)
''')

    def test_dtypes_and_outputs(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f4", "u1", "i2", "i4", "u4", "i8", "u8", "?", "c8", "c16"):
    a = make((61, 70), dtype, 90.0) * (1 if dtype == "?" else np.dtype(dtype).type(3))
    for output in (None, "f8", "f4", "u1", "i1", "i4", "u8", "i8", "?"):
        if (np.dtype(dtype).kind == "c") and output:
            continue
        for order in (0, 1):
            name = "%s %s %d " % (dtype, output, order)
            keywords = dict(order=order, output=output, mode="grid-wrap", cval=3.5)
            attempt(name + "shift", nd.shift, a, (3.5, -9.25), **keywords)
            attempt(name + "zoom", nd.zoom, a, 1.4, **keywords)
            attempt(name + "rotate", nd.rotate, a, 30, **keywords)
            attempt(name + "places", nd.map_coordinates, a, PLACES.astype("f4"), **keywords)
            attempt(name + "whole", nd.map_coordinates, a, WHOLE.astype("i2"), **keywords)
    attempt(dtype + " constant", nd.shift, a, 5, order=1, cval=-1.5)
made = np.zeros((80, 100))
attempt("into a part", nd.affine_transform, make((61, 70)), MATRIX, OFFSETS, output=made[5:66, 20:90], order=1)
dump("the part", made)
a = make((61, 70))
attempt("into itself", nd.shift, a, (1.5, -2), output=a, order=1)
dump("itself", a)
attempt("onto itself", nd.affine_transform, a[:40], MATRIX, OFFSETS, output=a[20:60], order=1)
dump("onto", a)
places = PLACES * 1
attempt("into places", nd.map_coordinates, a, places, output=places[1], order=1)
dump("places", places)
attempt("turned", nd.zoom, make((61, 70)).T[::-1], 2, order=1)
''')

    def test_shapes(self):
        self.assert_same(PRELUDE + '''
for shape in ((4000,), (1, 4000), (4000, 1), (2, 3000), (3, 2000), (5, 6, 70), (20, 30, 40), (7, 6, 5, 9)):
    a = make(shape)
    for order in (0, 1, 3):
        for mode in MODES:
            name = "%s %d %s " % (shape, order, mode)
            keywords = dict(order=order, mode=mode, cval=7, prefilter=False)
            attempt(name + "shift", nd.shift, a, 1.25, **keywords)
            attempt(name + "zoom", nd.zoom, a, 1.3, **keywords)
            attempt(name + "line", nd.map_coordinates, a, on_device(np.arange(len(shape) * 900.0).reshape(len(shape), -1) % 13 - 4.5), **keywords)
    if len(shape) > 1:
        attempt("%s rotate" % (shape,), nd.rotate, a, 20, order=1)
    attempt("%s affine" % (shape,), nd.affine_transform, a, np.eye(len(shape)) * 0.9 + 0.05, order=1)
a = make((61, 70))
a[3, 7], a[50, 60] = np.nan, np.inf
attempt("NaN", nd.shift, a, 0.5, order=1)
attempt("NaN places", nd.map_coordinates, make((61, 70)), np.where(PLACES > 30, np.nan, PLACES), order=1)
attempt("huge places", nd.map_coordinates, make((61, 70)), PLACES * 1e300, order=1)
attempt("plane", nd.map_coordinates, make((61, 70)), PLACES[:, 0], order=1)
attempt("called", nd.geometric_transform, make((61, 70)), lambda place: (place[0] * 0.5, place[1] + 1), order=1)
attempt("error", nd.map_coordinates, make((61, 70)), PLACES[:1], order=1)
''')

    def test_splines(self):
        """The filter's recursion is added up in another order. Results are divided by what the coefficients of numbers of
        [0, 1) reach at most."""
        self.assert_same(PRELUDE + '''
LARGEST = {2: 2.0, 3: 3.0, 4: 4.8, 5: 7.5}
for shape in ((61, 70), (2, 500), (1, 900), (3, 300), (4000,), (12, 13, 14)):
    for dtype in ("f8", "f4"):
        a = make(shape, dtype, 1.0)
        for order in (2, 3, 4, 5):
            for mode in MODES:
                def check(name, function, *operands, **keywords):
                    attempt("%s %s %d %s %s" % (shape, dtype, order, mode, name),
                            lambda: function(a, *operands, order=order, mode=mode, output="f8", **keywords) / LARGEST[order] ** a.ndim)
                check("filter", nd.spline_filter)
                check("along", nd.spline_filter1d, axis=0)
                check("shift", nd.shift, 1.3, cval=0.5)
                if a.ndim == 2:
                    check("places", nd.map_coordinates, PLACES)
a = make((61, 70), "f8", 1.0)
attempt("complex", lambda: nd.zoom(a + 1j * a[::-1], 2) / 9)
attempt("single", nd.spline_filter, a, output="f4")
attempt("integers", nd.zoom, make((61, 70), "u1", 250.0), 2)
attempt("filtered integers", nd.spline_filter1d, make((61, 70), "i4"), output="i4")
a[3, 7] = np.nan
attempt("NaN", nd.spline_filter, a)
a[3, 7] = 1e300
attempt("huge", nd.spline_filter, a)
''', rtol={"single": 2.0 ** -23}, atol={"single": 2.0 ** -23, "filter$|along|shift|places|complex": OF_FILTER})

    def test_fourier_filters(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f8", "f4", "i4", "u1", "?", "c16", "c8"):
    for shape in ((40, 51), (2001,), (1, 900), (9, 10, 11)):
        a = make(shape, dtype, 1.0 if dtype != "i4" else 90.0)
        for count in (-1, 2 * shape[-1] - 2):
            for size in (0, 0.7, 2, tuple(0.5 * axis + 1 for axis in range(len(shape)))):
                for output in (None, np.float32, np.complex64, np.complex128):
                    for function in (nd.fourier_gaussian, nd.fourier_uniform, nd.fourier_shift, nd.fourier_ellipsoid):
                        name = "%s %s %s %s %d %s" % (function.__name__, dtype, shape, size, count, output and output.__name__)
                        attempt(name, function, a, size, count, output=output)
a = make((200, 300), spread=1.0)
attempt("first axis", nd.fourier_gaussian, a, 2, 398, 0)
attempt("into itself", nd.fourier_gaussian, a, 2, output=a)
dump("itself", a)
attempt("error", nd.fourier_uniform, a, [1, 2, 3])
attempt("none", nd.fourier_ellipsoid, a[:0], 2)
''', rtol={"": 1e-6}, atol={"complex64|f4|c8|float32": 2e-5, "": 1e-13})

    def test_operands_stay(self):
        self.assert_same(PRELUDE + '''
a, places = make((200, 300), spread=1.0), on_device(np.arange(2 * 40000.0).reshape(2, 200, 200) * 7 % 190)
for order in (0, 1, 3):
    stays("affine %d" % order, nd.affine_transform, a, MATRIX, OFFSETS, order=order)
    stays("places %d" % order, nd.map_coordinates, a, places, order=order)
    stays("rotate %d" % order, nd.rotate, a, 30, order=order)
    stays("shift %d" % order, nd.shift, a, 3.5, order=order, mode="nearest")
    stays("zoom %d" % order, nd.zoom, a, 2, order=order, mode="reflect")
stays("filter", nd.spline_filter, a)
for function in (nd.fourier_gaussian, nd.fourier_uniform, nd.fourier_shift):
    stays(function.__name__, function, a, 2)
stays("ellipsoid", nd.fourier_ellipsoid, a.reshape(30, 40, 50), 2)
stays("complex", nd.fourier_shift, a + 1j, 2)
''', rtol={"": 1e-13}, atol={"": 1e-13})


if __name__ == "__main__":
    unittest.main()
