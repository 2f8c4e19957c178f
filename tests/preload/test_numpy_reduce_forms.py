# SPDX-License-Identifier: Apache-2.0
"""ufunc.reduce for every row of reductions.def and every dtype, in all forms of the call. The data
is such that every order of joining gives the same bits, so results are compared exactly but for
those of hypot and logaddexp."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device, share
rng = np.random.default_rng(11)
DTYPES = "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
UFUNCS = ("add multiply maximum minimum fmax fmin logical_or logical_and logical_xor bitwise_and "
          "bitwise_or bitwise_xor hypot logaddexp logaddexp2 gcd").split()

def make(shape, dtype, low=-3, high=4):
    size = int(np.prod(shape))
    if dtype == "?":
        return (rng.integers(0, 5, size) > 0).reshape(shape)
    values = rng.integers(0 if dtype[0] == "u" else low, high, size)
    if dtype[0] == "c":
        values = values + 1j * rng.integers(low, high, size)
    return values.astype(dtype).reshape(shape)

def powers(shape, dtype):
    """Factors whose products are exact."""
    if dtype == "?":
        return make(shape, dtype)
    choice = [1, 1, 1, -1, 2] if dtype[0] in "ifc" else [1, 1, 1, 2]
    if dtype[0] == "c":
        choice += [1j]
    return rng.choice(choice, int(np.prod(shape))).astype(dtype).reshape(shape)

def operand(name, shape, dtype):
    return (powers if name == "multiply" else make)(shape, dtype)

def resident(array):
    """The same values, on the device only."""
    return array.copy(order="K")

def signs_unified(result):
    """The signs of a complex product's zeros depend on the order of the factors."""
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype.kind == "c":
        return result + result.dtype.type(0)
    return np.float32(result) if getattr(result, "dtype", None) == np.float16 else result

def reduced(ufunc, *args, **kwargs):
    return signs_unified(ufunc.reduce(*args, **kwargs))
'''

# Of reductions.def, in the order of UFUNCS.
ROWS = ("sum prod max min fmax fmin any all parity bit_and bit_or bit_xor hypot logaddexp logaddexp2 "
        "gcd").split()
LOOSE = {r"(hypot|logaddexp2?) (f2|.1|[?])": 2e-2, r"(hypot|logaddexp2?) (f4|.2)": 1e-5,
         r"(hypot|logaddexp2?) ": 1e-13}
NEAR_ZERO = shim_runner.off_host(LOOSE)  # what is left of larger terms carries their errors


class TestEveryRow(shim_runner.TestCase):
    @shim_runner.in_shares(3)
    def test_dtypes_and_axes(self, share):
        result = self.assert_same(PRELUDE + '''
for name in share(UFUNCS):
    ufunc = getattr(np, name)
    for dtype in DTYPES:
        a = resident(operand(name, (5, 6, 7), dtype))
        for axis in (None, 0, 2, (0, 2), (-1, 1), ()):
            for keep in (False, True):
                attempt("%s %s %s %s" % (name, dtype, axis, keep),
                        reduced, ufunc, a, axis, keepdims=keep)
''', args=share, rtol=LOOSE, atol=NEAR_ZERO)
        for name in ROWS[int(share[0])::int(share[1])]:
            self.assert_on_device(result, name)

    def test_one_element_and_signs_of_zero(self):
        self.assert_same(PRELUDE + '''
for name in UFUNCS:
    for dtype in DTYPES:
        for value in (-4, 4, 0):
            if dtype[0] in "u?" and value < 0:
                continue
            a = np.full((1, 40), value, dtype)
            attempt("one %s %s %s" % (name, dtype, value), getattr(np, name).reduce, a)
for name in ("add", "maximum", "minimum", "fmax", "hypot"):
    for dtype in ("f2", "f4", "f8", "c8", "c16"):
        a = np.full((6, 40), -0.0, dtype)
        attempt("zero %s %s" % (name, dtype), getattr(np, name).reduce, a)
        attempt("zero all %s %s" % (name, dtype), getattr(np, name).reduce, a, axis=None)
        attempt("zero none %s %s" % (name, dtype), getattr(np, name).reduce, a, initial=None)
''', rtol={r"one (logaddexp|hypot)": 1e-6}, device="max")

    def test_special_values(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f2", "f4", "f8", "c8", "c16"):
    for special in (np.nan, np.inf, -np.inf):
        a = make((4, 17), dtype); a[1, 3] = special; a[2, 3] = -special
        for name in ("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_or"):
            with np.errstate(all="ignore"):
                attempt("%s %s %s" % (name, dtype, special),
                        lambda: np.isnan(getattr(np, name).reduce(a)))
                attempt("axis %s %s %s" % (name, dtype, special),
                        lambda: np.isfinite(getattr(np, name).reduce(a, 1)))
for dtype in ("i1", "u1", "i8", "u8"):
    info = np.iinfo(dtype)
    a = np.array([[info.min, info.max, 3], [info.max, info.min, 5]] * 20, dtype)
    for name in ("add", "multiply", "maximum", "minimum", "bitwise_xor", "gcd"):
        for axis in (None, 0, 1):
            attempt("%s %s %s" % (name, dtype, axis), getattr(np, name).reduce, a, axis)
''', device="sum")


class TestForms(shim_runner.TestCase):
    def test_where(self):
        result = self.assert_same(PRELUDE + '''
for name in ("add", "multiply", "maximum", "logical_and", "logical_or", "gcd", "bitwise_and"):
    ufunc = getattr(np, name)
    for dtype in ("?", "i2", "u8", "f4", "c16"):
        a = resident(operand(name, (9, 6, 7), dtype))
        masks = {"full": make((9, 6, 7), "?"), "row": make((7,), "?"), "plane": make((6, 7), "?"),
                 "column": make((9, 1, 1), "?"), "nothing": np.zeros((9, 6, 7), bool),
                 "fortran": np.asfortranarray(make((9, 6, 7), "?")), "one": np.array(True),
                 "large": make((2, 9, 6, 7), "?"), "wrong": make((5,), "?"),
                 "integer": np.ones((9, 6, 7), int), "list": [True] * 7, "false": False,
                 "step": make((9, 12, 7), "?")[:, ::2]}
        for mask_name, mask in masks.items():
            for axis in (None, 0, (0, 2)):
                what = "%s %s %s %s" % (name, dtype, mask_name, axis)
                attempt(what, reduced, ufunc, a, axis, where=mask)
                attempt(what + " initial", reduced, ufunc, a, axis, initial=1, where=mask)
        attempt("%s %s out" % (name, dtype), reduced, ufunc, a, 0,
                out=resident(np.ones((6, 7), dtype)), where=masks["full"])
''', device="sum")
        self.assert_on_device(result, "max")

    def test_initial(self):
        self.assert_same(PRELUDE + '''
values = {"int": 2, "negative": -2, "float": 2.5, "whole": 3.0, "nan": np.nan, "inf": np.inf,
          "bool": True, "complex": 1 + 2j, "large": 2 ** 40, "huge": 2 ** 70, "none": None,
          "f4": np.float32(1.5), "i8": np.int64(7), "zero": -0.0, "array": np.array(3),
          "novalue": np._NoValue, "string": "x"}
for name in ("add", "multiply", "maximum", "fmin", "logical_or", "bitwise_or", "gcd"):
    for dtype in DTYPES:
        a = resident(operand(name, (9, 13), dtype))
        for label, value in values.items():
            if name == "multiply" and dtype[0] == "c" and label in ("nan", "inf"):
                continue  # which parts get a NaN depends on the order
            with np.errstate(all="ignore"):
                attempt("%s %s %s" % (name, dtype, label), reduced, getattr(np, name), a,
                        initial=value)
''', device="sum")

    @shim_runner.in_shares(4)
    def test_out_and_dtype(self, share):
        result = self.assert_same(PRELUDE + '''
for name in ("add", "multiply", "maximum", "logical_or", "bitwise_xor"):
    ufunc = getattr(np, name)
    for dtype in share(DTYPES):
        a = resident(operand(name, (8, 9), dtype))
        for to in DTYPES:
            with np.errstate(all="ignore"):
                what = "%s %s %s" % (name, dtype, to)
                attempt(what + " dtype", reduced, ufunc, a, 0, to)
                attempt(what + " out", reduced, ufunc, a, 0, out=resident(np.ones(9, to)))
                attempt(what + " 0-d", reduced, ufunc, a, None, out=np.ones((), to))
                attempt(what + " both", reduced, ufunc, a, 0, "f8", resident(np.ones(9, to)))
''', args=share, device="sum")
        self.assert_on_device(result, "prod")

    def test_memory_order(self):
        self.assert_same(PRELUDE + '''
base = make((4, 5, 6), "f8"); mask = make((4, 5, 6), "?")
layouts = {"c": base, "f": np.asfortranarray(base), "t": make((6, 4, 5), "f8").transpose(1, 2, 0),
           "flip": base[::-1, :, ::-1], "step": make((8, 5, 12), "f8")[::2, :, ::2],
           "wide": np.broadcast_to(make((5, 1), "f8"), (4, 5, 6))}
masks = {"no": True, "c": mask, "f": np.asfortranarray(mask),
         "t": make((5, 6, 4), "?").transpose(2, 0, 1)}
for layout, a in layouts.items():
    for mask_name, where in masks.items():
        for axis in (0, 1, 2, (0, 1), None):
            for keep in (False, True):
                attempt("%s %s %s %s" % (layout, mask_name, axis, keep), np.add.reduce, a, axis,
                        keepdims=keep, where=where)
''', device="sum")

    def test_out_is_the_array_itself(self):
        self.assert_same('''
import numpy as np
from shim_script import attempt, dump, on_device
a = on_device(np.arange(600.0).reshape(20, 30))
attempt("row of the operand", np.add.reduce, a, 0, out=a[4]); dump("after", a)
b = on_device(np.arange(30.0).reshape(1, 30))
attempt("itself", np.add.reduce, b, 0, out=b, keepdims=True); dump("b", b)
c = on_device(np.arange(30.0))
attempt("strided", np.maximum.reduce, a, 0, out=on_device(np.zeros(60))[::2])
attempt("stretched", np.add.reduce, a, 0, out=np.broadcast_to(c[:1], 30))
attempt("tuple", np.add.reduce, a, 0, out=(c,)); dump("c", c)
attempt("by position", np.add.reduce, a, 0, None, (c,))
attempt("two", np.add.reduce, a, 0, out=(c, c))
''', device="sum")


class TestErrors(shim_runner.TestCase):
    """Warnings and exceptions of reduce, accumulate, reduceat and at, reported at once."""

    def test_strict(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f4", "f8", "c8", "c16"):
    big = resident(np.full((4, 300), np.finfo(dtype).max / 3, dtype))
    mixed = big.copy(); mixed[2] = np.inf; mixed[3] = -np.inf
    for mode in ("warn", "raise", "ignore"):
        with np.errstate(all=mode, under="ignore"):
            what = "%s %s " % (dtype, mode)
            attempt(what + "sum", lambda: np.isinf(big.sum()))
            attempt(what + "sum axis", lambda: np.isinf(big.sum(0)))
            attempt(what + "cumsum", lambda: np.isinf(big.cumsum(1))[:, 5:])
            attempt(what + "reduceat", lambda: np.isinf(np.add.reduceat(big, [0, 150], 1)))
            attempt(what + "invalid", lambda: np.isnan(mixed.sum()))
            attempt(what + "invalid axis", lambda: np.isnan(mixed.sum(0)))
            attempt(what + "mean", lambda: np.isinf(big.mean()))
            attempt(what + "max", lambda: np.isnan(np.where(big > 0, np.nan, 0).max()))
            if dtype[0] == "f":
                attempt(what + "prod", lambda: np.isinf(big.prod()))
                attempt(what + "std", lambda: np.isinf(big.std()))
                attempt(what + "nansum", lambda: np.isnan(np.nansum(mixed)))
            at = big[0].copy()
            attempt(what + "at", np.add.at, at, np.array([1, 1, 1, 1]), big[0, 0])
            attempt(what + "at after", lambda: np.isinf(at))
''', env={"GPUSHIM_FPERR": "strict"}, device="sum")


class TestResidency(shim_runner.TestCase):
    """Whole functions of NumPy that must not fetch their operand: each fetches a few bytes."""

    def test_nothing_large_is_fetched(self):
        self.assert_same('''
import numpy as np
from shim_script import check_moved, dump, on_device
calls = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "mean": np.mean, "std": np.std,
    "var": np.var, "ptp": np.ptp, "any": np.any, "all": np.all, "argmax": np.argmax,
    "argmin": np.argmin, "count": np.count_nonzero, "average": np.average,
    "weighted": lambda a: np.average(a, weights=a),
    "cumsum": lambda a: np.cumsum(a).sum(), "cumprod": lambda a: np.cumprod(a)[:0].size,
    "cumsum step": lambda a: np.cumsum(a[:, ::2]).max(), "cumsum f": lambda a: a.T.cumsum().max(),
    "reduceat": lambda a: np.add.reduceat(a, [0, 30, 100]).max(),
    "cumsum axis": lambda a: np.cumsum(a, axis=0).max(), "diff": lambda a: np.diff(a).max(),
    "trace": np.trace, "nansum": np.nansum, "nanmax": np.nanmax,
    "sum axis": lambda a: a.sum(0).max(), "mean axis": lambda a: a.mean(1).max(),
    "std axis": lambda a: a.std(0).max(), "var axis": lambda a: a.var(1, ddof=1).max(),
    "count axis": lambda a: np.count_nonzero(a, axis=0).max(),
    "where": lambda a: np.sum(a, where=a > 1.5), "norm": lambda a: np.sqrt((a * a).sum()),
}
a = on_device(np.random.default_rng(5).uniform(1, 2, (300, 400)))
for name, call in calls.items():
    for dtype in ("f8", "f4", "i4"):
        b = a.astype(dtype)
        what = "%s %s" % (name, dtype)
        with np.errstate(all="ignore"):
            check_moved({what: lambda: dump(what, call(b))}, download_bytes=1024, upload_bytes=1024)
''', rtol={" f4": 1e-4, " ": 1e-10}, device="sum")

    def test_std_fetches_one_element_once(self):
        result = self.shim_run('''
import numpy as np
from shim_script import moved_by, on_device
a = on_device(np.linspace(0, 1, 100000))
for name in ("std", "var"):
    moved = moved_by(getattr(a, name))
    print(name, moved["downloads"], moved["download_bytes"], moved["uploads"])
''')
        self.assertEqual(result.stdout, "std 1 8 0\nvar 1 8 0\n")


if __name__ == "__main__":
    shim_runner.main()
