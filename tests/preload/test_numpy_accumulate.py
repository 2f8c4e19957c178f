# SPDX-License-Identifier: Apache-2.0
"""ufunc.accumulate, cumsum and cumprod; argmax, argmin and count_nonzero; ufunc.at: against plain
NumPy, exactly (the data is such that every order of joining gives the same bits)."""
import shim_runner
from test_numpy_reduce_forms import LOOSE, PRELUDE, ROWS

LAYOUTS = '''
def layouts(shape, dtype, operand=make):
    yield "c", resident(operand(shape, dtype))
    yield "f", np.asfortranarray(operand(shape, dtype))
    yield "t", operand(shape[::-1], dtype).T
    big = operand(tuple(2 * n for n in shape), dtype)
    yield "step", big[tuple(slice(None, None, 2) for _ in shape)]
    yield "flip", operand(shape, dtype)[tuple(slice(None, None, -1) for _ in shape)]
    yield "wide", np.broadcast_to(operand(shape[-1:], dtype), shape)
'''


class TestAccumulate(shim_runner.TestCase):
    @shim_runner.in_shares(4)
    def test_rows_and_dtypes(self, share):
        result = self.assert_same(PRELUDE + '''
for name in share(UFUNCS):
    ufunc = getattr(np, name)
    for dtype in DTYPES:
        a = resident(operand(name, (5, 12, 3), dtype))
        for axis in (0, 1, -1):
            attempt("%s %s %s" % (name, dtype, axis),
                    lambda: signs_unified(ufunc.accumulate(a, axis)))
''', args=share, rtol=LOOSE)
        rounding = {"hypot", "logaddexp", "logaddexp2"}  # would round in another order
        for name in set(ROWS[int(share[0])::int(share[1])]) - rounding:
            self.assert_on_device(result, "cum" + name)

    def test_forms(self):
        self.assert_same(PRELUDE + LAYOUTS + '''
import warnings
for dtype in ("?", "i1", "u4", "i8", "f4", "c16"):
    for shape in ((60,), (5, 7), (3, 4, 5), (1, 6), (6, 1)):
        for layout, a in layouts(shape, dtype):
            what = "%s %s %s" % (dtype, shape, layout)
            attempt(what + " cumsum", a.cumsum)
            attempt(what + " cumsum dtype", np.cumsum, a, None, "c16")
            attempt(what + " cumsum out", a.cumsum, out=np.zeros(a.size, "c16"))
            attempt(what + " cumprod", (a != 0).cumprod)
            for axis in range(-1, len(shape)):
                attempt(what + " axis %d" % axis, np.cumsum, a, axis)
                attempt(what + " max %d" % axis, np.maximum.accumulate, a, axis)
def refused(call):
    """The warnings of a call that fails."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            call()
        except ValueError:
            return [str(warning.message) for warning in told]
a = resident(make((8, 9), "f8")); i = resident(make((8, 9), "i4")); out = resident(a)
calls = {
    "default": lambda: np.add.accumulate(a), "none": lambda: np.add.accumulate(a, None),
    "none 1-d": lambda: np.add.accumulate(a[0], None),
    "keyword": lambda: np.add.accumulate(a, axis=1),
    "out": lambda: np.add.accumulate(a, 0, out=out) is out and out,
    "out tuple": lambda: np.add.accumulate(a, 1, out=(out,)),
    "out position": lambda: np.add.accumulate(a, 1, None, out),
    "out int": lambda: np.add.accumulate(i, 0, out=resident(np.zeros((8, 9)))),
    "out narrow": lambda: np.add.accumulate(a, 0, out=resident(np.zeros((8, 9), "f4"))),
    "out integer": lambda: np.add.accumulate(a, 0, out=resident(np.zeros((8, 9), "i8"))),
    "out shape": lambda: np.add.accumulate(a, 0, out=resident(np.zeros((9, 8)))),
    "out shape, parts dropped": lambda: refused(lambda: np.multiply.accumulate(i, 0, "D", resident(np.zeros((9, 8), "i2")))),
    "out order": lambda: np.add.accumulate(a, 0, out=np.asfortranarray(np.zeros((8, 9)))),
    "dtype": lambda: np.add.accumulate(i, 0, "f4"), "dtype i2": lambda: np.add.accumulate(i, 0,
    "i2"),
    "dtype int of float": lambda: np.add.accumulate(a, 0, int),
    "cumsum dtype": lambda: i.cumsum(dtype=np.int32), "cumprod": lambda: (i[:2] % 2).cumprod(1),
    "cumsum out": lambda: a.cumsum(1, out=out),
    "axis out of range": lambda: np.add.accumulate(a, 2),
    "axis tuple": lambda: np.add.accumulate(a, (0,)),
    "axis bool": lambda: np.add.accumulate(a, True),
    "0-d": lambda: np.add.accumulate(np.array(1.0)), "empty": lambda: np.add.accumulate(a[:0]),
    "empty axis": lambda: np.add.accumulate(a[:, :0], 1), "list": lambda: np.add.accumulate([1, 2]),
    "subtract": lambda: np.subtract.accumulate(a), "divide": lambda: np.divide.accumulate(a + 4),
    "power": lambda: np.power.accumulate(np.abs(a) % 3),
    "unknown": lambda: np.add.accumulate(a, ax=0),
    "object": lambda: np.add.accumulate(a.astype(object)), "nan": lambda: np.nancumsum(a),
}
for name, call in calls.items():
    attempt(name, call)
np.add.accumulate(a, 0, out=a); dump("in place", a)
b = resident(make((40,), "f8")); np.add.accumulate(b[:-1], out=b[1:]); dump("overlap", b)
b = resident(make((40,), "i8")); np.add.accumulate(b, out=b[::-1]); dump("reversed", b)
''', device="cumsum")

    def test_rounding_is_no_worse(self):
        self.assert_same(PRELUDE + '''
import math
x = resident(rng.uniform(-1, 1, 20000)); y = np.cumsum(x)
exact = [math.fsum(x[:n]) for n in (1, 100, 5000, 19999)]
dump("close", [abs(y[n - 1] - e) < 1e-12 for n, e in zip((1, 100, 5000, 19999), exact)])
dump("again", all(np.array_equal(y, np.cumsum(x)) for _ in range(3)))
''', device="cumsum")


class TestReduceat(shim_runner.TestCase):
    def test_segments(self):
        result = self.assert_same(PRELUDE + LAYOUTS + '''
indices = {"list": [0, 7, 20], "one": [3], "falling": [9, 4, 4, 0, 22], "array": np.array([1, 5]),
           "i1": np.array([1, 9, 3], "i1"), "u8": np.array([2, 0], "u8"), "tuple": (5, 6, 7),
           "resident": resident(np.array([0, 9, 11])), "step": np.arange(20)[::5],
           "too large": [0, 24], "negative": [-1, 3], "empty": [], "float": [1.0], "int": 3,
           "bool": [True, False], "two dimensions": [[1, 2], [3, 4]], "many": list(range(23)) * 4}
for name in ("add", "multiply", "maximum", "logical_or", "bitwise_xor", "gcd", "subtract"):
    for dtype in DTYPES:
        a = resident(operand(name, (24,), dtype))
        for label, index in indices.items():
            attempt("%s %s %s" % (name, dtype, label),
                    lambda: signs_unified(getattr(np, name).reduceat(a, index)))
for dtype in ("f2", "f4", "f8", "F", "D"):
    a = resident(np.full(24, -0.0, dtype)); b = resident(np.where(np.arange(24) % 5 == 0, 0, a))
    for label, x in (("zeros", a), ("mixed zeros", b), ("conjugates", np.ones(24, dtype).conj())):
        for part in "real", "imag":
            attempt("%s %s %s" % (dtype, label, part),
                    lambda: signs_unified(np.signbit(getattr(np.add.reduceat(x, [0, 1, 3, 4, 20]), part))))
for dtype in ("i1", "f4", "f8"):
    for shape in ((8, 9), (4, 5, 6)):
        for layout, a in layouts(shape, dtype):
            for axis in range(-1, len(shape)):
                for index in ([0, 3, 2], [1]):
                    attempt("%s %s %s %d %s" % (dtype, shape, layout, axis, index),
                            np.add.reduceat, a, index, axis)
a = resident(make((8, 9), "f8")); i = resident(make((8, 9), "i4")); out = resident(a[:2])
calls = {
    "out": lambda: np.add.reduceat(a, [0, 5], out=out) is out and out,
    "out position": lambda: np.add.reduceat(a, [0, 5], 0, None, out),
    "out overlap": lambda: np.add.reduceat(a, [0, 5], out=a[3:5]), "a": lambda: a,
    "out shape": lambda: np.add.reduceat(a, [0, 5, 6], out=out),
    "out narrow": lambda: np.add.reduceat(a, [0, 5], out=resident(np.zeros((2, 9), "f4"))),
    "out wide": lambda: np.add.reduceat(i, [0, 5], out=out),
    "out integer": lambda: np.add.reduceat(a, [0, 5], out=resident(np.zeros((2, 9), int))),
    "dtype": lambda: np.add.reduceat(i, [0, 5], dtype="f8"),
    "dtype i2": lambda: np.add.reduceat(i, [0, 5], dtype="i2"),
    "axis out of range": lambda: np.add.reduceat(a, [0, 5], 2),
    "axis tuple": lambda: np.add.reduceat(a, [0, 5], (0,)),
    "no indices": lambda: np.add.reduceat(a),
    "axis none": lambda: np.add.reduceat(a, [0], None),
    "empty array": lambda: np.add.reduceat(a[:0], [0]),
}
for name, call in calls.items():
    attempt(name, call)
''', device="sum.at")
        self.assert_on_device(result, "max.at")


class TestPlaces(shim_runner.TestCase):
    def test_argmax_and_argmin(self):
        result = self.assert_same(PRELUDE + LAYOUTS + '''
for dtype in DTYPES:
    for shape in ((70,), (6, 11), (3, 4, 5)):
        for layout, a in layouts(shape, dtype):
            for name in ("argmax", "argmin"):
                for axis in (None, *range(-1, len(shape))):
                    attempt("%s %s %s %s %s" % (name, dtype, shape, layout, axis),
                            getattr(a, name), axis)
                    attempt("%s %s %s %s %s keep" % (name, dtype, shape, layout, axis),
                            getattr(np, name), a, axis=axis, keepdims=True)
for dtype in ("f2", "f4", "f8", "c8", "c16"):
    a = make((9, 9), dtype); a[3, 4] = np.nan; a[7, 4] = np.nan; a[1, 2] = np.inf
    if dtype[0] == "c":
        a[5, 5] = complex(1, np.nan); a[0, 8] = complex(np.nan, 0)
    a = resident(a)
    for axis in (None, 0, 1):
        dump("nan %s %s" % (dtype, axis), (a.argmax(axis), a.argmin(axis)))
    z = np.zeros((2, 40), dtype); z[1] = -0.0
    dump("zeros %s" % dtype, (z.argmax(), z.argmin(), z.argmax(0), z.argmin(0)))
''', device="argmax")
        self.assert_on_device(result, "argmin")

    def test_forms(self):
        self.assert_same(PRELUDE + '''
a = resident(make((8, 9), "f8")); out = resident(np.zeros(9, int))
calls = {
    "out": lambda: a.argmax(0, out) is out and out,
    "out keyword": lambda: a.argmin(axis=0, out=out),
    "out dtype": lambda: a.argmax(0, np.zeros(9)), "out shape": lambda: a.argmax(1, out),
    "out i4": lambda: a.argmax(0, resident(np.zeros(9, "i4"))),
    "out step": lambda: a.argmax(0, resident(np.zeros(18, int))[::2]),
    "out host": lambda: a.argmax(0, np.zeros(9, int)), "out none": lambda: a.argmax(0, None),
    "out 0-d": lambda: a.argmax(out=np.zeros((), int)),
    "axis numpy": lambda: a.argmax(np.int64(1)), "axis range": lambda: a.argmax(5),
    "axis tuple": lambda: a.argmax((0, 1)), "axis bool": lambda: a.argmax(True),
    "axis float": lambda: a.argmax(1.0), "keepdims int": lambda: a.argmax(0, keepdims=1),
    "three": lambda: a.argmax(0, None, True), "0-d": lambda: np.array(1.0).argmax(),
    "empty": lambda: a[:0].argmax(), "empty axis": lambda: a[:0].argmax(1),
    "list": lambda: np.argmax([1, 3, 2]), "object": lambda: a.astype(object).argmax(),
    "nanargmax": lambda: np.nanargmax(a, 0), "string": lambda: np.array(["a", "b"] * 20).argmax(),
}
for name, call in calls.items():
    attempt(name, call)
''', device="argmax")

    def test_count_nonzero(self):
        result = self.assert_same(PRELUDE + LAYOUTS + '''
for dtype in DTYPES:
    for shape in ((70,), (6, 11), (3, 4, 5)):
        for layout, a in layouts(shape, dtype):
            what = "%s %s %s" % (dtype, shape, layout)
            attempt(what, np.count_nonzero, a)
            attempt(what + " axis", np.count_nonzero, a, axis=0)
            attempt(what + " keep", np.count_nonzero, a, keepdims=True)
b = np.frombuffer(bytes(range(8)) * 10, bool).copy()
attempt("odd bytes", np.count_nonzero, b)
attempt("nan", np.count_nonzero, np.full(30, np.nan))
for value in (np.zeros((0, 3)), np.array(3.0), 5, [1, 0, 2], np.ones(5, object), "a"):
    attempt("other %r" % (value,), np.count_nonzero, value)
''', device="count_nonzero")

    def test_trace(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    a = resident(make((7, 9), dtype)); b = resident(make((3, 4, 5), dtype))
    attempt("trace %s" % dtype, np.trace, a, dtype=None)
    attempt("offset %s" % dtype, a.trace, 2)
    attempt("axes %s" % dtype, np.trace, b, 1, 0, 2)
    attempt("dtype %s" % dtype, np.trace, a, dtype="c16")
''', device="sum")


class TestAt(shim_runner.TestCase):
    def test_ops_and_dtypes(self):
        result = self.assert_same(PRELUDE + '''
names = ("add subtract multiply divide maximum minimum fmax fmin bitwise_and bitwise_or "
         "bitwise_xor logical_or gcd lcm power left_shift floor_divide "
         "remainder").split()
values = {"one": 1, "two": 2, "float": 1.5, "tenth": 0.1, "minus": -1, "bool": True,
          "complex": 1 + 1j, "f4": np.float32(0.5), "i8": np.int64(3), "large": 300,
          "row": np.arange(1, 4), "array f8": np.arange(1, 8.0)[:, None],
          "array i1": np.arange(1, 22, dtype="i1").reshape(7, 3), "u1": np.uint8(200)}
for name in names:
    for dtype in DTYPES:
        base = make((20, 3), dtype, 1, 9)
        index = np.array([3, 3, 5, 19, 3, 0, -1])
        for label, value in values.items():
            if name == "power" and label == "minus":
                continue  # a ValueError, which leaves undefined elements behind
            a = resident(base)
            what = "%s %s %s" % (name, dtype, label)
            with np.errstate(all="ignore"):
                attempt(what, getattr(np, name).at, a, index, value)
            dump(what + " result", a)
''', device="add.at")
        for name in ("subtract.at", "maximum.at", "bitwise_or.at"):
            self.assert_on_device(result, name)

    def test_indices_and_shapes(self):
        self.assert_same(PRELUDE + '''
base = make((20, 3), "i8"); flat = make((50,), "i4")
indices = {
    "plain": np.array([1, 2, 2]), "i1": np.array([1, -2, 2], "i1"), "u8": np.array([1, 2, 2], "u8"),
    "two dimensions": np.array([[1, 2], [2, -20]]), "tuple": (np.array([1, 2, 2]),),
    "list": [1, 2, 2], "int": 3, "slice": slice(2, 9), "mask": np.arange(20) % 3 == 0,
    "pair": (np.array([1, 2]), np.array([0, 0])), "step": np.arange(12)[::3],
    "empty": np.array([], int),
    "too large": np.array([1, 20]), "too small": np.array([1, -21]), "float": np.array([1.0]),
    "resident": resident(np.array([4, 4, 4])), "resident wrong": resident(np.array([4, 99])),
    "0-d": np.array(4), "none": None, "ellipsis": ..., "read only": np.broadcast_to(3, 6),
    "f order": np.asfortranarray(np.array([[1, 2, 3], [3, 2, -1]])),
}
for name, index in indices.items():
    a, f, t = resident(base), resident(flat), resident(base.T.copy()).T
    for label, target in (("rows", a), ("flat", f), ("columns", t), ("step", resident(base)[::-2]),
                          ("read-only", np.broadcast_to(base[0], (20, 3)))):
        what = "%s %s" % (name, label)
        attempt(what, np.add.at, target, index, 5)
        dump(what + " after", target)
a = resident(base)
attempt("value shape", np.add.at, a, np.array([1, 2]), np.ones((3, 3), int))
attempt("value larger", np.add.at, a, np.array([1, 2]), np.ones((1, 2, 3), int))
attempt("unary", np.negative.at, a, np.array([1, 2]))
attempt("no value", np.add.at, a, np.array([1, 2]))
attempt("list target", np.add.at, [1, 2], np.array([1]), 1)
attempt("itself", np.add.at, a, np.array([1, 2]), a[:2]); dump("itself after", a)
i = resident(np.array([3, 0, 1, 2, 2])); attempt("own index", np.add.at, i, i, i); dump("i", i)
h = np.zeros(64, int); np.add.at(h, rng.integers(0, 64, 3000), 1); dump("histogram", h)
''', device="add.at")


if __name__ == "__main__":
    shim_runner.main()
