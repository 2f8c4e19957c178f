# SPDX-License-Identifier: Apache-2.0
"""Reductions through every road that reaches ufunc.reduce, against plain NumPy: results bit for bit
(float sums and products within a tolerance), dtypes, memory order, scalar types, exceptions."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(7)
DTYPES = ["?", "i4", "i8", "f4", "f8"]

def make(shape, dtype):
    size = int(np.prod(shape))
    if dtype == "?":
        return (rng.integers(0, 5, size) > 0).reshape(shape)
    if dtype[0] == "i":
        return rng.integers(-1000, 1000, size).astype(dtype).reshape(shape)
    return rng.uniform(0.5, 2.0, size).astype(dtype).reshape(shape)

def layouts(shape, dtype):
    big = make(tuple(2 * n for n in shape), dtype)
    base = make(shape, dtype)
    yield "c", on_device(base) if dtype != "?" else base.copy()
    yield "f", np.asfortranarray(base)
    yield "host", base
    yield "step", big[tuple(slice(None, None, 2) for _ in shape)]
    yield "flip", base[tuple(slice(None, None, -1) for _ in shape)]
    if len(shape) > 1:
        yield "swap", np.swapaxes(make(shape[::-1], dtype), 0, -1)
        yield "wide", np.broadcast_to(make(shape[1:], dtype), shape)
'''


class TestReduce(shim_runner.TestCase):
    def test_axes_and_layouts(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for shape, axes in (((100,), (None, 0, -1)), ((13, 17), (None, 0, 1, (0, 1))),
                        ((5, 6, 7), (None, 0, 1, 2, (0, 2), (1, 2), (-1, 0))),
                        ((3, 1, 4, 5), (None, 1, (0, 3), (1, 2)))):
        for layout, a in layouts(shape, dtype):
            for axis in axes:
                for keep in (False, True):
                    for name in ("sum", "prod", "max", "min", "any", "all", "mean"):
                        attempt("%s %s %s %s %s %s" % (name, dtype, shape, layout, axis, keep),
                                getattr(np, name), a, axis=axis, keepdims=keep)
''', rtol={r"^(sum|prod|mean) (f4)": 3e-6, r"^(sum|prod|mean) ": 1e-14}, device="sum")

    def test_forms_of_the_call(self):
        self.assert_same(PRELUDE + '''
a = on_device(make((40, 50), "f8")); i = on_device(make((40, 50), "i4")); b = make((40, 50), "?")
out = on_device(np.zeros(50)); wide = on_device(np.zeros((1, 50))); small = np.zeros(50)
calls = {
    "default axis": lambda: np.add.reduce(i),
    "by name": lambda: np.maximum.reduce(array=a, axis=1),
    "dtype f8": lambda: np.add.reduce(i, 0, "f8"),
    "dtype type": lambda: np.add.reduce(i, axis=None, dtype=float),
    "dtype i8": lambda: np.multiply.reduce(b, 0, np.int64),
    "dtype f4": lambda: np.sum(a > 1, dtype=np.float32),
    "dtype f4 exact": lambda: np.add.reduce(i.astype("f8"), 0, np.float32),
    "dtype i4": lambda: np.add.reduce(i, 0, np.int32),
    "dtype i2": lambda: np.add.reduce(i, 0, np.int16),
    "dtype bool": lambda: np.logical_or.reduce(a, 0, bool),
    "max dtype": lambda: np.maximum.reduce(i, 0, float),
    "min dtype": lambda: np.minimum.reduce(a, 0, int),
    "out": lambda: np.max(a, axis=0, out=out) is out and out,
    "out tuple": lambda: np.minimum.reduce(a, 0, out=(out,)) is out and out,
    "out keepdims": lambda: np.max(a, axis=0, out=wide, keepdims=True),
    "out host": lambda: np.max(a, axis=0, out=small),
    "out dtype": lambda: np.max(i, axis=0, out=out),
    "out shape": lambda: np.max(a, axis=1, out=out),
    "out 0-d": lambda: np.max(a, out=np.zeros(())),
    "out in": lambda: np.max(a, axis=0, out=a[3]),
    "initial": lambda: np.max(a, initial=3.0),
    "initial none": lambda: np.add.reduce(a, initial=None),
    "where": lambda: np.sum(i, where=b),
    "where true": lambda: np.sum(i, where=True),
    "keepdims int": lambda: np.add.reduce(i, 0, None, None, 1),
    "axis numpy": lambda: np.add.reduce(i, np.int64(1)),
    "axis empty": lambda: np.add.reduce(i, ()),
    "axis list": lambda: np.add.reduce(i, [0]),
    "axis bool": lambda: np.add.reduce(i, True),
    "axis out of range": lambda: np.add.reduce(i, 2),
    "axis doubled": lambda: np.add.reduce(i, (0, 0)),
    "axis doubled negative": lambda: np.add.reduce(i, (1, -1)),
    "unknown keyword": lambda: np.add.reduce(i, axes=0),
    "too many": lambda: np.add.reduce(i, 0, None, None, False, 0, True, 1),
    "doubled": lambda: np.add.reduce(i, 0, axis=0),
    "none": lambda: np.add.reduce(),
    "list": lambda: np.add.reduce([1, 2, 3]),
    "method": lambda: i.sum(0), "method any": lambda: b.any(1), "method mean": lambda: i.mean(),
    "method mean axis": lambda: i.mean(0), "method prod": lambda: b.prod(1),
    "subtract": lambda: np.subtract.reduce(i), "power": lambda: np.power.reduce(np.arange(1, 4)),
    "bitwise": lambda: np.bitwise_or.reduce(i, 1), "xor": lambda: np.logical_xor.reduce(b, 1),
    "accumulate": lambda: np.add.accumulate(i, 1), "cumsum": lambda: i.cumsum(),
    "reduceat": lambda: np.add.reduceat(i, [0, 7, 20]),
    "outer": lambda: np.multiply.outer(i[0], i[1]),
    "std": lambda: i.std(), "var": lambda: i.var(axis=1), "ptp": lambda: np.ptp(i, axis=0),
}
for name, call in calls.items():
    attempt(name, call)
target = on_device(np.zeros(10, int)); np.add.at(target, [1, 1, 3], 2); dump("at", target)
''', rtol={"mean|std|var": 1e-13})

    def test_values(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f4", "f8"):
    a = make((64, 33), dtype)
    for place in (0, 5, 63):
        b = a.copy(); b[place, 7] = np.nan
        for name in ("max", "min", "any", "all", "sum"):
            attempt("nan %s %s %d" % (name, dtype, place),
                lambda: np.isnan(getattr(np, name)(b, axis=0)))
    b = a.copy(); b[3] = np.inf; b[9] = -np.inf
    for name in ("max", "min"):
        dump("inf %s %s" % (name, dtype), getattr(b, name)(axis=0))
    z = np.full((8, 8), -0.0, dtype)
    for name in ("sum", "max", "min"):
        dump("zero %s %s" % (name, dtype), getattr(z, name)())
        dump("zeros %s %s" % (name, dtype), getattr(z, name)(0))
big = np.full(100, 2**62); attempt("wrap", lambda: big.sum())
attempt("wrap i4", lambda: np.full(100, 2**31 - 1, "i4").sum())
for dtype in DTYPES + ["f2", "c16", "u1", "O", "M8[s]", "U3", ">f8"]:
    for shape in ((0,), (3, 0), (0, 3), ()):
        a = np.zeros(shape, dtype)
        for name in ("sum", "max", "all", "prod"):
            attempt("empty %s %s %s" % (name, dtype, shape), lambda: getattr(np, name)(a))
            if len(shape) > 1:
                attempt("empty0 %s %s %s" % (name, dtype, shape),
                    lambda: getattr(np, name)(a, axis=0))
    a = np.ones((6, 6), dtype)
    attempt("other sum %s" % dtype, lambda: a.sum(0))
with np.errstate(all="raise"):
    attempt("raise", lambda: np.full(100, 1e308).sum())
    attempt("raise nan", lambda: np.array([np.inf, -np.inf] * 9).sum())
class Sub(np.ndarray): pass
s = on_device(make((20, 20), "i8")).view(Sub)
attempt("subclass", lambda: s.sum(0))
attempt("matrix", lambda: np.matrix(make((4, 4), "i8")).sum(1))
m = np.ma.masked_less(make((20, 20), "i8"), 0); attempt("masked", lambda: m.sum(0).filled(0))
unaligned = np.frombuffer(b"\\0" + make((50,), "f8").tobytes(), np.uint8)[1:].view("f8")
attempt("unaligned", lambda: unaligned.max())
''', rtol={"sum": 1e-6})

    def test_repeats_bit_for_bit(self):
        self.assert_same(PRELUDE + '''
a = on_device(make((1000, 300), "f8"))
for axis in (None, 0, 1):
    first = a.sum(axis)
    dump("again %s" % axis, all(np.array_equal(first, a.sum(axis)) for _ in range(5)))
''', device="sum")


if __name__ == "__main__":
    shim_runner.main()
