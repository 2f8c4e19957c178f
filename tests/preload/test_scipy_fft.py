# SPDX-License-Identifier: Apache-2.0
"""scipy.fft against plain SciPy: every array to within eps log2(2 n) of its norm; dtypes, memory layouts, warnings and
exceptions as they are. Skipped without SciPy."""
import unittest

import shim_runner
from test_fft import FFTCase, has_library

PRELUDE = '''
import numpy as np
import scipy.fft as fft
from shim_script import attempt, dump, on_device, report, residency
rng = np.random.default_rng(29)

def make(shape, dtype="c16"):
    a = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        return (a + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    return (a * (1 if np.dtype(dtype).kind == "f" else 100)).astype(dtype)

def is_for(function, a):
    return a.dtype.kind != "c" or function not in ("rfft", "ihfft", "rfft2", "rfftn", "ihfft2", "ihfftn")

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfftn")
'''


def has_scipy():
    try:
        import scipy.fft  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        return False
    return True


@unittest.skipUnless(has_scipy(), "there is no SciPy")
class TestScipyFFT(FFTCase):
    prelude = PRELUDE
    device = "scipy.fft.c2c scipy.fft.r2c scipy.fft.c2r"
    reasons = {"dtype", "keywords", "shape", "unsupported", "operand"}

    def test_dtypes_and_norms(self):
        self.judge('''
for dtype in ("?", "i4", "i8", "f2", "f4", "f8", "c8", "c16", "g", "G", ">f8"):
    a = make((5, 12), dtype if dtype not in "g>f8" else "f8").astype(dtype)
    for place, x in (("host", a), ("device", on_device(a) if dtype != ">f8" else a)):
        for norm in (None, "backward", "ortho", "forward", "sideways"):
            for function in ONE + MANY:
                if is_for(function, x):
                    attempt("%s %s %s %s" % (dtype, place, norm, function), getattr(fft, function), x, norm=norm)
''')

    def test_axes_and_shapes(self):
        self.judge('''
for dtype in ("f8", "c16", "c8"):
    a = on_device(make((4, 6, 9), dtype))
    for layout, x in (("c", a), ("f", a.T), ("flip", a[::-1, :, ::-1]), ("cut", a[:, ::2])):
        for function in ONE:
            if is_for(function, x):
                for axis in (-1, 0, 1, 3):
                    for n in (None, 0, 1, 5, 8, 13):
                        attempt("%s %s %s %d %s" % (dtype, layout, function, axis, n), getattr(fft, function), x, n, axis)
        for function in MANY:
            if is_for(function, x):
                for axes in (None, (0, 1), (2, 0), (-1, -2), (1,), (1, 1), (0, 7)):
                    for s in (None, (5, 12), (3, -1)):
                        attempt("%s %s %s %s %s" % (dtype, layout, function, axes, s), getattr(fft, function), x, s=s, axes=axes)
attempt("four", fft.fftn, on_device(make((3, 4, 5, 6))))
''')

    def test_overwritten_inputs(self):
        self.judge('''
for dtype in ("c16", "c8", "f8"):
    for function in ("fft", "ifft", "fft2", "irfft2", "fftn"):
        x = on_device(make((8, 10), dtype)); keep = x.copy()
        attempt("%s %s" % (dtype, function), getattr(fft, function), x); dump("%s %s stays" % (dtype, function), np.array_equal(x, keep))
        y = attempt("%s %s over" % (dtype, function), getattr(fft, function), x, overwrite_x=True)
        dump("%s %s is x" % (dtype, function), y is x)
x = on_device(make((8, 10))); attempt("part", fft.fft, x[:, ::2], overwrite_x=True); dump("the rest", x)
''', device="scipy.fft.c2c scipy.fft.c2r")

    def test_direct_calls(self):
        result = self.judge('''
import sys
module = sys.modules.get("scipy.fft._duccfft.pyduccfft") or sys.modules["scipy.fft._pocketfft.pypocketfft"]
x, r = on_device(make((6, 8))), on_device(make((6, 8), "f8"))
attempt("no axes", module.c2c, x); attempt("list", module.c2c, x, [1, 0], True, 1)
attempt("keywords", module.c2c, a=x, axes=(1,), forward=False, inorm=2); attempt("lastsize", module.c2r, x, (0, 1), 15, False, 2)
attempt("bad lastsize", module.c2r, x, (1,), 9, False); attempt("no lastsize", module.c2r, x, (1,))
attempt("other way", module.r2c, r, (1,), False); attempt("other way c2r", module.c2r, x, (1,), 14, True)
attempt("r2c of complex", module.r2c, x, (1,)); attempt("c2r of real", module.c2r, r, (1,), 14)
attempt("norm 3", module.c2c, x, (1,), True, 3); attempt("unknown", module.c2c, x, sideways=1); attempt("nothing", module.c2c)
attempt("empty", module.c2c, x[:0], (1,)); attempt("axis", module.c2c, x, (2,)); attempt("no axis", module.c2c, x, ())
out = np.zeros((6, 8), "c16"); dump("out", module.c2c(x, (1,), True, 0, out, 1) is out); dump("out written", out)
attempt("narrow out", module.c2c, x, (1,), True, 0, np.zeros((6, 8), "c8"), 1)
attempt("masked", fft.fft, np.ma.array(x)); attempt("of a list", fft.fft, [1.0, 2, 3]); attempt("matrix", fft.fft2, np.asmatrix(x))
attempt("dct", fft.dct, r); attempt("workers", fft.fft2, x, workers=2); attempt("shift", fft.fftshift, fft.fft2(x))
''', device="scipy.fft.c2c scipy.fft.c2r")
        refused = {row["name"] for row in result.report["operations"] if "shape" in row["reasons"]}
        self.assertEqual(refused, {"scipy.fft.c2c", "scipy.fft.c2r"})

    def test_results_stay(self):
        result = self.judge('''
x = on_device(make((256, 300)))
y = fft.fft2(x)
dump("at", residency(y) in ("plain", "device") or not any(row["name"].startswith("scipy") for row in report()["operations"]))
dump("back", (abs(fft.ifft2(y) - x) < 1e-13).all())
''', device="scipy.fft.c2c", env={})
        self.assertEqual(len(result.values), 2)


if __name__ == "__main__":
    shim_runner.main()
