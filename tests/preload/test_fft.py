# SPDX-License-Identifier: Apache-2.0
"""numpy.fft against plain NumPy: every array to within eps log2(2 n) of its norm, n being the elements of the result;
dtypes, memory layouts, warnings and exceptions as they are. Where the device has no library for transforms (the host device
without FFTW) NumPy computes, and only that is compared."""
import ctypes

import numpy as np
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device, report, residency
rng = np.random.default_rng(23)
fft = np.fft
is_new = np.lib.NumpyVersion(np.__version__) >= "2.0.0"

def make(shape, dtype="c16"):
    """A transform of it is of about its own size, in all dtypes."""
    a = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        return (a + 1j * rng.uniform(-1, 1, shape)).astype(dtype)
    return (a * (1 if np.dtype(dtype).kind == "f" else 100)).astype(dtype)

def layouts(a):
    """The values in memory of several kinds."""
    yield "host", a
    yield "c", on_device(a)
    yield "f", on_device(np.ascontiguousarray(a.T)).T
    turned = np.roll(np.arange(a.ndim), 1)
    yield "turned", on_device(np.ascontiguousarray(a.transpose(turned))).transpose(np.argsort(turned))
    wide = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    yield "step", on_device(wide)[tuple(slice(None, None, 2) for _ in a.shape)]
    flip = tuple(slice(None, None, -1) for _ in a.shape)
    yield "flip", on_device(np.ascontiguousarray(a[flip]))[flip]
    yield "stretched", np.broadcast_to(on_device(a), (2,) + a.shape)

def is_for(function, a):
    return a.dtype.kind != "c" or "rfft" not in function or "irfft" in function

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2")
'''


def has_library():
    try:
        return shim_runner.DEVICE != "host" or bool(ctypes.CDLL("libfftw3.so.3") and ctypes.CDLL("libfftw3f.so.3"))
    except OSError:
        return False


def distance(name, got, want):
    """Of two records, in units of eps times the norm of what is wanted. Into a wide out= NumPy casts single-precision
    results, which are double ones here."""
    if want[0] not in ("array", "scalar") or got == want:
        return 0
    got, want = shim_runner.array_of(got), shim_runner.array_of(want)
    if want.dtype.kind not in "fc" or want.dtype.char in "gG":
        return 0
    norm = np.linalg.norm(want.ravel().astype("c16"))
    far = np.linalg.norm((got.astype("c16") - want.astype("c16")).ravel())
    eps = np.finfo("f4" if name.startswith("c8") and " wide " in name else want.dtype).eps
    return far / (eps * np.log2(2 * max(want.size, 1)) * (norm or 1))


class FFTCase(shim_runner.TestCase):
    prelude = PRELUDE
    device = "fft"
    reasons = {"dtype", "errstate", "operand", "keywords", "shape"}

    def judge(self, script, device=None, **options):
        """Plain and under the shim: alike in all but the numbers, and these near each other."""
        options.setdefault("env", {"GPUSHIM_ARENA_MIN": "1"})
        result = self.assert_same(self.prelude + script, atol=1e30, device=False, **options)
        plain = shim_runner.run_plain(self.prelude + script)
        far = {name: distance(name, result.values[name], want) for name, want in plain.values.items()}
        self.assertEqual({name: x for name, x in far.items() if not x <= 1}, {})
        for name in (device or self.device).split() if has_library() else ():
            self.assert_on_device(result, name)
            rows = [row for row in result.report["operations"] if row["name"] == name]
            declined = {key: n for row in rows for key, n in row["reasons"].items()}
            self.assertLessEqual(set(declined), self.reasons)
        return result


class TestFFT(FFTCase):
    def test_lengths(self):
        self.judge('''
for n in list(range(1, 71)) + [97, 127, 128, 243, 1000, 1021, 1024, 4096, 6561, 10007, 2 ** 16, 3 * 2 ** 15, 65537]:
    x = on_device(make((n,)))
    real = on_device(make((n,), "f8"))
    for function in ONE:
        if n > 1 or function not in ("irfft", "hfft"):
            attempt("%s %d" % (function, n), getattr(fft, function), real if function in ("rfft", "ihfft") else x)
    attempt("irfft %d odd" % n, fft.irfft, x, 2 * n - 1)
''', device="fft ifft rfft irfft")

    def test_dtypes(self):
        self.judge('''
for dtype in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "g", "G", ">f8", "O"):
    for n in (12, 31):
        a = make((5, n), "f8" if dtype == "O" else dtype)
        a = a.astype(dtype)
        for place, x in (("host", a), ("device", on_device(a) if dtype not in ("O", ">f8") else a)):
            for function in ONE + MANY:
                for norm in (None, "ortho"):
                    attempt("%s %s %d %s %s" % (dtype, place, n, function, norm), getattr(fft, function), x, norm=norm)
''', device="fft ifft rfft irfft")

    def test_layouts_and_axes(self):
        self.judge('''
for dtype in ("f8", "c16", "f4", "c8"):
    a = make((3, 8, 15), dtype)
    for layout, x in layouts(a):
        for axis in range(-x.ndim, x.ndim):
            for function in ONE:
                if is_for(function, x):
                    attempt("%s %s %d %s" % (dtype, layout, axis, function), getattr(fft, function), x, axis=axis)
''', device="fft ifft rfft irfft")

    def test_lengths_asked_for(self):
        self.judge('''
for dtype in ("f8", "c16", "i4", "c8"):
    for layout, x in layouts(make((3, 4, 10), dtype)):
        for n in (1, 2, 5, 6, 9, 10, 11, 12, 20, 21):
            for axis in (-1, 1, 0):
                for function in ONE:
                    if is_for(function, x):
                        attempt("%s %s %d %d %s" % (dtype, layout, n, axis, function), getattr(fft, function), x, n, axis)
''', device="fft ifft rfft irfft")

    def test_norms(self):
        self.judge('''
for dtype in ("f8", "c16", "c8"):
    for layout, x in layouts(make((6, 11), dtype)):
        for norm in (None, "backward", "ortho", "forward", "sideways"):
            for function in ONE + MANY:
                if is_for(function, x):
                    attempt("%s %s %s %s" % (dtype, layout, norm, function), getattr(fft, function), x, norm=norm)
''', device="fft ifft rfft irfft")

    def test_many_dimensions(self):
        self.judge('''
for dtype in ("f8", "c16", "c8"):
    for layout, x in layouts(make((4, 5, 6, 7), dtype)):
        for function in MANY:
            if not is_for(function, x):
                continue
            call = getattr(fft, function)
            attempt("%s %s %s" % (dtype, layout, function), call, x)
            for axes in ((0, 1), (2, 0), (-1, -2), (1, 1)):
                attempt("%s %s %s %s" % (dtype, layout, function, axes), call, x, axes=axes)
                attempt("%s %s %s %s s" % (dtype, layout, function, axes), call, x, s=(3, 9), axes=axes)
    attempt(dtype + " there and back", lambda: fft.ifftn(fft.fftn(x)))
    attempt(dtype + " real there and back", lambda: fft.irfftn(fft.rfftn(x.real), s=x.shape[1:], axes=(1, 2, 3, 4)[:x.ndim - 1]))
''', device="fft ifft rfft irfft")

    def test_many_transforms(self):
        """A batch that steps as several dimensions, over few and many transforms."""
        self.judge('''
for shape in ((3, 20, 5), (40, 20, 5), (40, 3, 20, 5), (2, 3, 4, 5, 6)):
    for function in ("fft", "rfft", "irfft"):
        for dtype in ("f8", "f4"):
            x = on_device(make(shape, dtype)[..., ::2].repeat(2, -1)) if dtype == "f4" else on_device(make(shape, dtype))
            attempt("%s %s %s" % (shape, function, dtype), getattr(fft, function), x, axis=-2)
            attempt("%s %s %s cut" % (shape, function, dtype), getattr(fft, function), x[:, ::2], axis=-2)
''', device="fft rfft irfft")

    def test_imaginary_parts_not_looked_at(self):
        self.judge('''
for n in range(1, 10):
    x = on_device(make((4, n // 2 + 1)))
    keep = x.copy()
    attempt("irfft %d" % n, fft.irfft, x, n)
    attempt("hfft %d" % n, fft.hfft, x, n)
    dump("input %d" % n, np.array_equal(x, keep))
x = on_device(make((6, 9, 5))); keep = x.copy()
attempt("irfftn", fft.irfftn, x); attempt("irfft2", fft.irfft2, x, s=(8, 7))
dump("input", np.array_equal(x, keep))
''', device="irfft")

    def test_inputs_stay(self):
        self.judge('''
for function in ONE + MANY:
    x = on_device(make((8, 12), "f8")) if "rfft" in function and "irfft" not in function or function == "ihfft" else on_device(make((8, 12)))
    keep = x.copy()
    getattr(fft, function)(x)
    dump(function, np.array_equal(x, keep))
''', device="fft ifft rfft irfft")

    def test_out(self):
        self.judge('''
if is_new:
    for dtype in ("c16", "c8"):
        for shape, axis in (((6, 10), -1), ((6, 10), 0), ((3, 6, 10), 1)):
            for layout, x in layouts(make(shape, dtype)):
                name = "%s %s %d %s" % (dtype, shape, axis, layout)
                for kind, out in (("same", np.zeros(x.shape, dtype)), ("f", np.zeros(x.shape[::-1], dtype).T),
                                  ("flip", np.zeros(x.shape, dtype)[..., ::-1]), ("wide", np.zeros(x.shape, "c16")),
                                  ("narrow", np.zeros(x.shape, "c8")), ("real", np.zeros(x.shape, "f8")),
                                  ("short", np.zeros(x.shape[:-1] + (3,), dtype)), ("list", [1])):
                    try:
                        out += out * 0
                    except Exception:
                        pass
                    result = attempt("%s %s fft" % (name, kind), fft.fft, x, axis=axis, out=out)
                    dump("%s %s is out" % (name, kind), result is out)
                    dump("%s %s out" % (name, kind), out)
                    attempt("%s %s ifftn" % (name, kind), fft.ifftn, x, out=out)
                    real = on_device(x.real.copy())
                    attempt("%s %s rfft" % (name, kind), fft.rfft, real, axis=axis,
                            out=np.zeros(tuple(n // 2 + 1 if d == axis % x.ndim else n for d, n in enumerate(x.shape)), dtype))
    x = on_device(make((8, 8)))
    attempt("in place", fft.fft, x, out=x); dump("in place x", x)
    attempt("in place 2", fft.fft2, x, out=x); dump("in place 2 x", x)
    attempt("overlap", fft.fft, x[:4], out=x[2:6]); dump("overlap x", x)
    attempt("turned", fft.fft, x, out=x.T); dump("turned x", x)
    r = on_device(make((8, 8), "f8"))
    attempt("irfft out", fft.irfft, x[:, :5], out=r); dump("irfft out r", r)
    gufunc = getattr(fft._pocketfft_umath if hasattr(fft, "_pocketfft_umath") else fft._pocketfft.pfu, "fft")
    attempt("gufunc", gufunc, x, 0.5, out=np.zeros((8, 8), "c16"))
    attempt("gufunc axes", gufunc, x, 2, axes=[0, (), 1], out=np.zeros((8, 8), "c16"))
    attempt("gufunc other axes", gufunc, x, 2, axes=[(0,), (), (1,)], out=np.zeros((8, 8), "c16"))
    attempt("gufunc no out", gufunc, x, 1)
    attempt("gufunc factors", gufunc, x, np.arange(8.0), out=np.zeros((8, 8), "c16"))
    attempt("gufunc cut", gufunc, x, 1.0, out=np.zeros((8, 3), "c16"))
    attempt("gufunc more", gufunc, x, 1.0, out=np.zeros((2, 8, 8), "c16"))
else:
    attempt("fft", fft.fft, on_device(make((8,))))
''')

    def test_wrong_calls(self):
        self.judge('''
x = on_device(make((4, 6)))
for function in ONE:
    call = getattr(fft, function)
    for name, args in (("n 0", (x, 0)), ("n -1", (x, -1)), ("axis", (x, None, 2)), ("0-d", (np.array(1.0),)), ("text", ("abc",)),
                       ("empty", (x[:, :0],)), ("no lines", (x[:0],)), ("list", ([1, 2, 3, 4],)), ("masked", (np.ma.array(x),)),
                       ("matrix", (np.asmatrix(x),))):
        attempt("%s %s" % (function, name), call, *args)
attempt("rfft of complex", fft.rfft, x)
for function in MANY:
    attempt(function + " axes", getattr(fft, function), x, axes=(0, 5))
    attempt(function + " none", getattr(fft, function), x[:0])
''')

    def test_errstate(self):
        result = self.judge('''
x = on_device(make((64,)))
for kind in ("ignore", "warn", "raise", "call", "print"):
    with np.errstate(all=kind, call=lambda *args: None):
        attempt(kind, fft.fft, x)
''')
        if has_library() and np.lib.NumpyVersion(np.__version__) >= "2.0.0":
            row = [row for row in result.report["operations"] if row["name"] == "fft" and row["device_calls"]]
            self.assertEqual([(r["device_calls"], r["reasons"]) for r in row], [(2, {"errstate": 3})])

    def test_results_stay_and_repeat(self):
        result = self.judge('''
x = on_device(make((256, 300)))
y = fft.fft(x)
dump("at", residency(y) in ("plain", "device") or report() and not any(
    row["name"].startswith("fft") and row["device_calls"] for row in report()["operations"]))
same = [fft.fft(x).tobytes() == y.tobytes() for _ in range(3)]
same += [fft.rfft2(x.real).tobytes() == fft.rfft2(x.real.copy()).tobytes()]
dump("same", same)
dump("sum", (abs(fft.ifft(y) - x) < 1e-13).all())
''', env={})
        self.assertEqual(len(result.values), 3)

    def test_dimensions_together(self):
        """With fusion, transforms over several dimensions are one launch of the device, but where somebody looks at what lies
        between."""
        counts = has_library() and shim_runner.DEVICE == "host" and shim_runner.FUSION != "0"
        self.judge("COUNTS = %r" % bool(counts) + '''
from shim_script import synchronize
def count(wanted, name, function, *args, **keywords):
    synchronize()
    before = report()["counters"]["launches"] if report() else 0
    made = function(*args, **keywords)
    synchronize()
    launches = report()["counters"]["launches"] - before if report() else wanted
    dump("launches " + name, wanted if launches == wanted or not COUNTS else launches)
    dump(name, made)
c, r, h = on_device(make((6, 16, 20))), on_device(make((6, 16, 20), "f8")), on_device(make((6, 16, 11)))
for dtype in ("c16", "c8"):
    for function, x in (("fft2", c), ("fftn", c), ("ifftn", c), ("rfft2", r), ("rfftn", r), ("irfft2", h), ("irfftn", h)):
        x = x.astype("f4" if x is r and dtype == "c8" else "f8" if x is r else dtype)
        for axes in ((0, 1, 2), (0, 1), (0, 2)):
            wanted = 1 if is_new or not function.startswith("irfft") else 4  # NumPy 1 copies between them
            count(wanted, "%s %s %s" % (dtype, function, axes), getattr(fft, function), x, axes=axes)
count(1 if is_new else 4, "padded", fft.fft2, c, s=(30, 9)); count(1, "from real", fft.fftn, r); count(2, "four", fft.fftn, c.reshape(6, 4, 4, 20))
count(1, "halved outside", fft.rfft2, r, axes=(2, 1)); count(1, "transposed", fft.rfft2, r.T)
count(1, "by hand", lambda: fft.fft(fft.fft(fft.fft(c, axis=1), axis=2), axis=0))
count(2, "there and back", lambda: fft.ifft(fft.fft(c), axis=0))
count(2, "same dimension", lambda: fft.fft(fft.fft(c, axis=1), axis=1))
kept = []
def keep():
    kept.append(fft.fft(c, axis=2))
    return fft.fft(kept[0], axis=1)
count(2, "kept", keep); dump("kept itself", kept[0])
def read_between():
    y = fft.fft(c, axis=2)
    z = y * 2
    y = fft.fft(y, axis=1)
    return z + y
count(3, "read between", read_between)
x = on_device(make((6, 16, 20)))
def overwritten():
    y = fft.fft(x, axis=2)
    np.multiply(x[2:4], 3, x[2:4])
    y = fft.fft(y, axis=1)
    return y, x
count(3, "overwritten", overwritten)
def in_place():
    return fft.fft(fft.fft(x, out=x, axis=2), axis=1) if is_new else fft.fft2(x)
count(2 if is_new else 1, "in place", in_place)
count(2, "other view", lambda: fft.fft(fft.fft(c, axis=2).reshape(16, 6, 20), axis=1))
count(2, "cut", lambda: fft.fft(fft.fft(c, axis=2)[:, ::2], axis=1))
count(3, "other dtype", lambda: fft.fft(fft.fft(c, axis=2).astype("c8"), axis=1))
''', device="fft rfft irfft", env={"GPUSHIM_FEED_MS": "0"})

    def test_recorded_calls_come_first(self):
        self.judge('''
x = np.zeros((200, 300))
x += 1.5; x[3] *= 2; x[:, 7] = np.arange(200)
y = fft.rfft(x, axis=0)
x[:] = 0
z = y * 2; y[:3] = 0
dump("z", z); dump("y", y); dump("back", fft.irfft(z, 200, axis=0)); dump("x", x)
dump("shift", fft.fftshift(fft.fft2(x + 1))); dump("freq", fft.fftfreq(100, 0.1))
''', device="rfft irfft", env={})


if __name__ == "__main__":
    shim_runner.main()
