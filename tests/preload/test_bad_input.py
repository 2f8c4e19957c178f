# SPDX-License-Identifier: Apache-2.0
"""What the device does not take: NumPy's own result, warning or exception, to the letter.

Every operation meets every kind of odd operand, next to a device-resident one, so that a hook that
declines late, or half way, is seen. Force mode: nothing is declined for its size.
"""
import unittest

import shim_runner

HEAD = '''
import warnings
import numpy as np
from shim_script import attempt, dump, on_device, residency
SIZE = 600
def resident(dtype="f8", size=SIZE):
    return on_device(np.arange(size).astype(dtype))
BINARY = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.equal,
          np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
UNARY = (np.negative, np.absolute, np.sqrt, np.exp, np.log, np.sin, np.cos, np.tanh)
REDUCTIONS = (np.sum, np.max, np.min, np.any, np.all, np.mean)
'''

OPERANDS = HEAD + '''
class Sub(np.ndarray):
    pass
class Counting(np.ndarray):
    """A subclass that takes part: __array_ufunc__ is called and its answer kept."""
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ("mine", ufunc.__name__, method, len(inputs), sorted(kwargs))
class Wrapping(np.ndarray):
    def __array_finalize__(self, other): self.tag = getattr(other, "tag", "new")
    def __array_wrap__(self, array, context=None, return_scalar=False):
        return np.asarray(array).view(Wrapping)
class Duck:
    def __array__(self, dtype=None, copy=None): return np.arange(SIZE, dtype=dtype or "f8")
class Refuses:
    __array_ufunc__ = None
class Adds:
    __array_priority__ = 1000
    def __radd__(self, other): return "radd"
    def __rmul__(self, other): return "rmul"

base = np.arange(SIZE, dtype="f8")
misaligned = np.zeros(SIZE * 8 + 1, "u1")[1:].view("f8"); misaligned[:] = base
record = np.zeros(SIZE, [("a", "f8"), ("b", "i2")])
packed = np.zeros(SIZE, np.dtype([("p", "u1"), ("v", "f8")]))["v"]; packed[:] = base
read_only = resident(); read_only.flags.writeable = False
masked = np.ma.masked_array(base, mask=base % 7 == 0)
KINDS = {
    "f2": base.astype("f2"), "g": base.astype("g"), "c16": base.astype("c16"),
    "c8": base.astype("c8"),
    "i1": base.astype("i1"), "u1": (base % 200).astype("u1"), "i2": base.astype("i2"),
    "u2": base.astype("u2"), "u4": base.astype("u4"), "u8": base.astype("u8"),
    "bool": base.astype(bool), "i4": base.astype("i4"), "i8": base.astype("i8"),
    "f4": base.astype("f4"),
    "metadata": base.astype(np.dtype("f8", metadata={"unit": "m"})),
    "fields over int": base.astype("i4").view(np.dtype((np.int32, [("a", "i2"), ("b", "i2")]))),
    "object": base.astype(object), "str": base.astype("U8"), "bytes": base.astype("S8"),
    "datetime": base.astype("i8").view("M8[s]"), "timedelta": base.astype("i8").view("m8[s]"),
    "record": record, "packed field": packed, "void": np.zeros(SIZE, "V4"),
    "swapped": base.astype(">f8"), "swapped int": base.astype(">i4"), "misaligned": misaligned,
    "read-only": read_only, "subclass": resident().view(Sub), "counting": resident().view(Counting),
    "wrapping": resident().view(Wrapping), "matrix": np.matrix(base), "masked": masked,
    "recarray": np.rec.array(base), "duck": Duck(), "refuses": Refuses(), "adds": Adds(),
    "list": list(range(SIZE)), "tuple": tuple(range(SIZE)), "none": None, "string": "abc",
    "memoryview": memoryview(base), "range": range(SIZE), "ellipsis": Ellipsis,
    "python int": 3, "python float": 2.5, "python complex": 1j, "python bool": True,
    "huge int": 2 ** 70, "int out of range": 2 ** 40, "negative int": -5,
    "int8 scalar": np.int8(3), "float32 scalar": np.float32(2.5), "float64 scalar": np.float64(0.1),
    "int64 scalar": np.int64(2 ** 40), "bool scalar": np.bool_(True),
    "longdouble": np.longdouble(2),
    "0-d": np.array(2.5), "0-d int": np.array(3), "one": np.array([2.5]),
    "column": base.reshape(-1, 1)[:5],
    "empty": np.zeros(0), "zero rows": np.zeros((0, SIZE)), "wrong length": np.ones(7),
    "wrong 2-d": np.ones((3, 5)), "many axes": np.ones((1,) * 32), "nan": base * np.nan,
    "broadcast": np.broadcast_to(np.float64(1.5), SIZE), "reversed": base[::-1], "window":
    np.lib.stride_tricks.as_strided(base, (4, SIZE), (0, 8)),
}
'''

OPERATIONS = {
    "binary": '''
for dtype in ("f8", "i4"):
    a = resident(dtype)
    for name, other in KINDS.items():
        for ufunc in (np.add, np.divide, np.maximum, np.less):
            attempt("%s %s %s" % (ufunc.__name__, dtype, name), ufunc, a, other)
            attempt("%s %s, %s" % (ufunc.__name__, name, dtype), ufunc, other, a)
a = resident()
for name, other in KINDS.items():
    attempt("operator + " + name, lambda: a + other)
    attempt("operator r* " + name, lambda: other * a)
    attempt("operator > " + name, lambda: a > other)
    attempt("operator @ " + name, lambda: a @ other)
''',
    "unary and reductions": '''
for name, other in KINDS.items():
    for ufunc in UNARY:
        attempt("%s %s" % (ufunc.__name__, name), ufunc, other)
    for function in REDUCTIONS:
        attempt("%s %s" % (function.__name__, name), function, other)
    # More factors overflow on the way in any order but NumPy's.
    attempt("prod " + name, lambda: np.prod(np.asanyarray(other)[..., :12]))
    attempt("reduce bad axis " + name, lambda: np.add.reduce(other, axis=5))
    attempt("reduce dtype " + name, lambda: np.add.reduce(other, dtype="f4"))
''',
    "outputs": '''
a, b = resident(), resident() * 2.0
for name, other in KINDS.items():
    if name in ("list", "tuple"): continue
    target = other.copy() if isinstance(other, np.ndarray) and name not in ("read-only", "window", "broadcast", "misaligned", "packed field") else other
    attempt("out= " + name, lambda: np.add(a, b, out=target))
    attempt("positional out " + name, lambda: np.add(a, b, target))
    attempt("out=(x,) " + name, lambda: np.sqrt(a, out=(target,)))
    attempt("unsafe out " + name, lambda: np.multiply(a, b, out=target, casting="unsafe"))
    def in_place():
        x = resident(); x += other; return x
    attempt("+= " + name, in_place)
    def in_place_int():
        x = resident("i4"); x *= other; return x
    attempt("int *= " + name, in_place_int)
    def whole():
        x = resident(); x[...] = other; return x
    attempt("[...] = " + name, whole)
    def part():
        x = resident("i4"); x[3:9] = other; return x
    attempt("[3:9] = " + name, part)
    def scalar():
        x = resident("f4"); x[7] = other; return x
    attempt("[7] = " + name, scalar)
    def copied():
        x = resident("i8"); np.copyto(x, other); return x
    attempt("copyto " + name, copied)
    attempt("copy of " + name, lambda: other.copy())
    attempt("array of " + name, lambda: np.array(other, copy=True))
    attempt("astype of " + name, lambda: other.astype(other.dtype))
    attempt("zeros of " + name, lambda: np.zeros(9, other.dtype))
    attempt("ones like " + name, lambda: np.ones_like(other))
    attempt("full of " + name, lambda: np.full(9, 1, other.dtype))
    def filled():
        x = resident(); x.fill(other); return x
    attempt("fill " + name, filled)
attempt("sum out", lambda: np.sum(a.reshape(20, 30), axis=0, out=np.zeros(30)))
attempt("sum out wrong", lambda: np.sum(a.reshape(20, 30), axis=0, out=np.zeros(20)))
attempt("sum out int", lambda: np.sum(a.reshape(20, 30), axis=0, out=np.zeros(30, "i4")))
''',
    "keywords": '''
a, b = resident(), resident() + 1.0
mask = np.arange(SIZE) % 3 == 0
for name, options in {
    "where out": dict(where=mask, out=np.zeros(SIZE)), "dtype f4": dict(dtype="f4"),
    "dtype f4 same_kind": dict(dtype="f4", casting="same_kind"), "dtype i4": dict(dtype="i4"),
    "dtype none": dict(dtype=None), "dtype object": dict(dtype=object),
    "casting no": dict(casting="no"),
    "bad casting": dict(casting="never"), "order F": dict(order="F"), "bad order": dict(order="Z"),
    "subok": dict(subok=False), "signature": dict(signature="dd->d"),
    "sig": dict(sig=("d", "d", "d")), "sig dtype": dict(dtype=None, sig=("d", "d", "d")),
    "signature dtype": dict(signature="dd->d", dtype=None),
    "bad signature": dict(signature="qq->d"), "axes": dict(axes=[0]), "unknown": dict(banana=1),
    "out none": dict(out=None), "out tuple of none": dict(out=(None,)),
    "out list": dict(out=[np.zeros(SIZE)]),
    "two outs": dict(out=(np.zeros(SIZE), np.zeros(SIZE))), "extobj": dict(extobj=[1, 2, 3]),
}.items():
    attempt("add " + name, lambda: np.add(a, b, **options))
    attempt("maximum " + name, lambda: np.maximum(a, b, **options))
attempt("add where", lambda: np.add(a, b, where=mask)[mask])  # the rest is undefined
attempt("no arguments", lambda: np.add())
attempt("one argument", lambda: np.add(a))
attempt("five arguments", lambda: np.add(a, b, a, b, a))
attempt("sqrt none", lambda: np.sqrt(None))
attempt("out twice", lambda: np.add(a, b, np.zeros(SIZE), out=np.zeros(SIZE)))
m = a.reshape(20, 30)
for name, options in {
    "axis tuple": dict(axis=(0, 1)), "axis repeated": dict(axis=(0, 0)),
    "axis negative": dict(axis=-1),
    "axis out of range": dict(axis=2), "axis float": dict(axis=1.0),
    "axis array": dict(axis=np.int64(1)),
    "axis empty": dict(axis=()), "axis bool": dict(axis=True),
    "keepdims": dict(axis=0, keepdims=True),
    "initial": dict(initial=5.0), "initial none": dict(initial=None),
    "where": dict(where=m > 20, initial=0.0),
    "dtype": dict(dtype="i8"), "dtype f4": dict(dtype="f4"), "unknown": dict(banana=1),
}.items():
    for function in (np.add.reduce, np.maximum.reduce, np.multiply.reduce, np.logical_or.reduce):
        attempt("%r %s" % (function.__self__.__name__, name), lambda: function(m * 0.01, **options))
    attempt("sum " + name, lambda: m.sum(**options))
    attempt("mean " + name, lambda: m.mean(**options))
for name, call in {
    "accumulate": lambda: np.add.accumulate(m, axis=1),
    "accumulate 0": lambda: np.add.accumulate(m, axis=0),
    "accumulate out": lambda: np.add.accumulate(m, axis=0, out=m * 0.0),
    "cumsum out": lambda: np.cumsum(m, axis=0, out=m * 0.0),
    "accumulate 1-d": lambda: np.multiply.accumulate(a * 0.01, out=a * 0.0),
    "accumulate in place": lambda: np.maximum.accumulate(m, axis=0, out=m + 1.0),
    "accumulate int": lambda: np.subtract.accumulate(np.arange(900).reshape(30, 30)),
    "cumprod": lambda: np.cumprod((a % 3.0) + 0.5),
    "reduceat all": lambda: np.maximum.reduceat(a % 17.0, np.arange(0, SIZE, 7)),
    "reduceat out": lambda: np.add.reduceat(m, [0, 3], axis=0, out=m[:2] * 0.0),
    "subtract.reduce": lambda: np.subtract.reduce(m, axis=0),
    "divide.reduce": lambda: np.divide.reduce(m + 1.0, axis=0),
    "less.accumulate": lambda: np.less.accumulate(m > 3.0),
    "diff": lambda: np.diff(m, axis=0),
    "outer out": lambda: np.add.outer(a[:9], b[:5], out=np.zeros((9, 5)) + 1.0),
    "at slice": lambda: np.subtract.at(b, slice(3, 40), a[3:40]), "at values": lambda: b[:50] + 0.0,
    "reduceat": lambda: np.add.reduceat(a, [0, 5, 2]),
    "outer": lambda: np.multiply.outer(a[:9], b[:5]), "at": lambda: np.add.at(b, [1, 1, 2], 1.0),
    "nin": lambda: np.add.reduce(a, b, a), "empty max": lambda: np.max(np.zeros(0)),
    "empty sum": lambda: np.sum(np.zeros((0, 3)), axis=0),
    "empty mean": lambda: np.mean(np.zeros(0)),
    "empty max axis": lambda: np.max(np.zeros((0, 3)), axis=0),
    "empty any": lambda: np.zeros(0).any(),
    "zero columns": lambda: np.zeros((3, 0)).max(axis=0),
    "min nothing": lambda: np.zeros((3, 0)).min(axis=1),
}.items():
    attempt(name, call)
''',
    "shapes and creation": '''
a = resident()
for name, call in {
    "0-d add": lambda: np.add(np.array(1.5), np.array(2)),
    "0-d out": lambda: np.add(1.0, 2.0, out=np.array(0.0)),
    "0-d sqrt": lambda: np.sqrt(np.array(4.0)), "scalar": lambda: np.float64(1) + np.float64(2),
    "0-d sum": lambda: np.array(5).sum(), "0-d resident": lambda: a[3:4].reshape(()) + 1,
    "zero size": lambda: a[:0] + a[:0], "zero size 2-d": lambda: np.zeros((0, 5)) * np.ones((1, 5)),
    "zero size out": lambda: np.add(a[:0], 1.0, out=np.zeros(0)), "length 1": lambda: a[:1] + a[:1],
    "no broadcast": lambda: a + np.ones(5),
    "no broadcast 2-d": lambda: np.ones((3, 4)) + np.ones((4, 3)),
    "out too small": lambda: np.add(a, a, out=np.zeros(5)),
    "out broadcast": lambda: np.add(a, a, out=np.zeros((4, SIZE))),
    "in place grows": lambda: a[:1].__iadd__(a),
    "many dims": lambda: np.ones((2,) * 20) + np.ones((2,) * 20),
    "33 dims": lambda: np.ones((1,) * 33) + 1.0, "65 dims": lambda: np.ones((1,) * 65) + 1.0,
    "matmul shapes": lambda: np.ones((3, 4)) @ np.ones((3, 4)),
    "matmul 0-d": lambda: np.ones(3) @ 2.0,
    "matmul 3-d": lambda: np.ones((2, 3, 4)) @ np.ones((4, 5)),
    "matmul empty": lambda: np.ones((3, 0)) @ np.ones((0, 4)),
    "matmul int": lambda: np.ones((30, 20), int) @ np.ones((20, 30), int),
    "matmul mixed": lambda: np.ones((30, 20), "f4") @ np.ones((20, 30)),
    "matmul object": lambda: np.ones((3, 2), object) @ np.ones((2, 3)),
    "matmul out": lambda: np.matmul(np.ones((30, 20)), np.ones((20, 30)), out=np.zeros((30, 31))),
    "matmul out f4": lambda: np.matmul(np.ones((30, 20)), np.ones((20, 30)), out=np.zeros((30, 30), "f4")),
    "dot 3-d": lambda: np.ones((2, 3, 4)).dot(np.ones((4, 5))),
    "dot wrong": lambda: np.dot(np.ones(3), np.ones(4)),
    "dot out wrong": lambda: np.dot(np.ones((30, 20)), np.ones((20, 30)), out=np.zeros((30, 30), "f4")),
    "dot scalar": lambda: np.dot(3, 4), "dot none": lambda: np.dot(None, a),
    "arange nothing": lambda: np.arange(0), "arange backwards": lambda: np.arange(5, 0),
    "arange float": lambda: np.arange(0, 1, 0.1),
    "arange zero step": lambda: np.arange(0, 5, 0), "arange nan": lambda: np.arange(0, np.nan),
    "arange inf": lambda: np.arange(0, np.inf),
    "arange huge": lambda: np.arange(2 ** 62), "arange too huge": lambda: np.arange(2 ** 70),
    "arange complex": lambda: np.arange(3, dtype=complex),
    "arange i1": lambda: np.arange(300, dtype="i1")[-1:],
    "arange bool": lambda: np.arange(2, dtype=bool),
    "arange bool 3": lambda: np.arange(3, dtype=bool),
    "arange swapped": lambda: np.arange(5, dtype=">i4"), "arange str": lambda: np.arange("a"),
    "arange none": lambda: np.arange(None), "arange nothing at all": lambda: np.arange(),
    "arange keywords": lambda: np.arange(start=2, stop=900, step=3),
    "arange stop none": lambda: np.arange(900, None, 2),
    "arange bad": lambda: np.arange(1, 2, 3, "f8", 5),
    "arange date": lambda: np.arange("2020-01-01", "2020-02-01", dtype="M8[D]"),
    "arange scalars": lambda: np.arange(np.float32(3), np.int8(90)),
    "arange like": lambda: np.arange(9, like=a),
    "arange negative": lambda: np.arange(900, -900, -7),
    "arange f4": lambda: np.arange(0, 100, 0.3, dtype="f4"),
    "arange i4 overflow": lambda: np.arange(0, 2 ** 33, 2 ** 31, dtype="i4"),
    "zeros negative": lambda: np.zeros(-1), "zeros huge": lambda: np.zeros(2 ** 62),
    "zeros str": lambda: np.zeros("a"), "zeros dtype": lambda: np.zeros(3, "nope"),
    "full object": lambda: np.full(600, None), "full str": lambda: np.full(3, "ab"),
    "full nan int": lambda: np.full(600, np.nan, "i4"),
    "full wide": lambda: np.full((20, 30), [1.0] * 30),
    "full wrong": lambda: np.full((20, 30), [1.0] * 20), "full complex": lambda: np.full(600, 1j),
    "full int8": lambda: np.full(600, 300, "i1"), "ones u8": lambda: np.ones(600, "u8"),
    "copy order": lambda: a.reshape(20, 30).copy("Z"),
    "copy F": lambda: a.reshape(20, 30).copy("F"), "astype nope": lambda: a.astype("nope"),
    "astype str": lambda: a.astype("U5"),
    "astype safe": lambda: a.astype("i4", casting="safe"),
    "astype casting": lambda: a.astype("f4", casting="what"),
    "astype swapped": lambda: a.astype(">f8"), "astype f2": lambda: a.astype("f2"),
    "astype nan": lambda: (a * np.nan).astype("i4"), "astype inf": lambda: (a / 0).astype("i8"),
    "astype no copy": lambda: a.astype("f8", copy=False) is a,
    "astype subok": lambda: type(np.matrix(a).astype("f4", subok=False)).__name__,
    "copy argument": lambda: a.copy(1, 2, 3), "fill argument": lambda: a.fill(),
    "fill str": lambda: resident().fill("abc"), "fill nan int": lambda: resident("i4").fill(np.nan),
}.items():
    attempt(name, call)
''',
    "indices": '''
a = resident(); m = resident().reshape(20, 30)
for name, key in {
    "int": 5, "negative": -1, "too far": SIZE, "float": 1.5, "none": None, "ellipsis": Ellipsis,
    "bool": True,
    "slice": slice(3, 50, 4), "backwards": slice(None, None, -3), "empty slice": slice(5, 5),
    "tuple": (3,), "two": (3, 4),
    "list": [1, 2, 2], "array": np.array([0, -1]), "mask": np.arange(SIZE) % 2 == 0,
    "wrong mask": np.ones(3, bool),
    "string": "a", "int64": np.int64(3), "slice of slice": slice(slice(1), 2),
    "zero step": slice(0, 5, 0), "huge": 2 ** 70,
    "slice huge": slice(0, 2 ** 70), "new axis": (None, slice(2, 9)),
    "two ellipses": (Ellipsis, Ellipsis), "float array": np.array([1.0]),
}.items():
    attempt("get " + name, lambda: a[key])
    attempt("get 2-d " + name, lambda: m[key])
    def set_scalar():
        x = resident(); x[key] = 7.5; return x
    attempt("set " + name, set_scalar)
    def set_array():
        x = resident(); x[key] = np.ones(12); return x
    attempt("set array " + name, set_array)
    def set_2d():
        x = resident().reshape(20, 30); x[key] = x[0] * 2.0; return x
    attempt("set 2-d " + name, set_2d)
    def delete():
        x = resident(); del x[key]
    attempt("del " + name, delete)
def overlap(shift, step):
    x = resident()
    if shift >= 0:
        x[shift:] = x[:SIZE - shift]
    else:
        x[:shift] = x[-shift:]
    x[::step] = x[::step][::-1]
    return x
for shift in (1, -1, 7, -7, 300):
    attempt("overlap %d" % shift, overlap, shift, 2)
def in_place_overlap(function, *keys):
    x = resident(); views = [x[key] for key in keys]; function(*views[:-1], out=views[-1]); return x
S = slice
for name, keys in {"shifted": (S(0, 500), S(1, 501), S(2, 502)), "same": (S(0, 500), S(0, 500), S(0, 500)),
                   "backwards": (S(None, None, -1), S(None), S(None)),
                   "strided": (S(0, 300), S(0, 300), S(0, 600, 2)),
                   "broadcast": (S(0, 1), S(None), S(None)),
                   "transposed": (S(0, 300), S(300, 600), S(150, 450))}.items():
    attempt("overlapping add " + name, in_place_overlap, np.add, *keys)
def self_overlap():
    x = resident(); view = np.lib.stride_tricks.as_strided(x, (4, 9), (8, 8)); view += 1.0; return x
attempt("self-overlapping output", self_overlap)
def broadcast_output():
    x = resident(); view = np.lib.stride_tricks.as_strided(x, (4, SIZE), (0, 8))
    np.add(view, 1.0, out=view); return x[:0]
attempt("broadcast output", broadcast_output)
def transposed_in_place():
    x = resident(size=400).reshape(20, 20); x += x.T; return x
attempt("x += x.T", transposed_in_place)
''',
}

ERRORS = OPERANDS + '''
a = resident(); zero = a * 0.0
OPERATIONS = {
    "1/0": lambda: (a + 1.0) / zero, "0/0": lambda: zero / zero, "log 0": lambda: np.log(zero),
    "log -1": lambda: np.log(zero - 1.0),
    "sqrt -1": lambda: np.sqrt(zero - 1.0), "exp overflow": lambda: np.exp(a * 10.0),
    "overflow": lambda: (a + 1e300) * 1e300,
    "inf - inf": lambda: np.subtract(np.full(SIZE, np.inf), np.inf),
    "sin inf": lambda: np.sin(np.full(SIZE, np.inf)),
    "nan compare": lambda: np.full(SIZE, np.nan) < a,
    "nan max": lambda: np.maximum(np.full(SIZE, np.nan), a),
    "nan to int": lambda: np.full(SIZE, np.nan).astype("i4"),
    "sum overflow": lambda: np.sum(np.full(SIZE, 1e308)),
    "nothing": lambda: a * 2.0, "int": lambda: np.full(SIZE, 2 ** 31 - 1, "i4") + np.int32(1),
}
'''

# Modes in which NumPy's error is part of the call: an exception, a callback, or nothing.
ERRORS_IN_THE_CALL = ERRORS + '''
for name, call in OPERATIONS.items():
    for mode in ("ignore", "raise"):
        with np.errstate(all=mode):
            attempt("%s %s" % (mode, name), call)
    seen = []
    with np.errstate(all="call", call=lambda kind, flag: seen.append((kind, flag))):
        attempt("call " + name, call)
    dump("called " + name, sorted(seen))
'''

# The default: a warning, by the time that the values are seen.
WARNINGS = ERRORS + '''
for name, call in OPERATIONS.items():
    attempt("default " + name, call)
    with np.errstate(all="warn"):
        attempt("warn " + name, call)
'''

WARNINGS_AS_ERRORS = ERRORS + '''
warnings.simplefilter("error")
for name, call in OPERATIONS.items():
    try:
        dump("as error " + name, call())
    except RuntimeWarning as error:
        dump("as error " + name, error)
'''


class TestBadInput(shim_runner.TestCase):
    def check(self, name):
        self.compare(OPERANDS + "np.seterr(all='ignore')\n" + OPERATIONS[name])

    def compare(self, script):
        # Transcendentals and float sums are compared within the bounds their rows promise.
        ulp = {r"^(exp|log|sin|cos|tanh) ": 4, r"\b(sum|prod|mean|add)\b": 4, r"'add'": 4, r"'multiply'": 32,
               r"(exp|sin|log) ": 4}
        ulp.update(shim_runner.off_host({"^cumprod$": 32}))
        self.assert_same(script, python_args=["-W", "ignore"], same_stderr=True, ulp=ulp)

    def test_binary(self):
        self.check("binary")

    def test_unary_and_reductions(self):
        self.check("unary and reductions")

    def test_outputs(self):
        self.check("outputs")

    def test_keywords(self):
        self.check("keywords")

    def test_shapes_and_creation(self):
        self.check("shapes and creation")

    def test_indices(self):
        self.check("indices")

    def test_floating_point_errors(self):
        self.compare(ERRORS_IN_THE_CALL)

    def test_floating_point_warnings(self):
        self.compare(WARNINGS)

    def test_floating_point_warnings_as_errors(self):
        self.compare(WARNINGS_AS_ERRORS)


if __name__ == "__main__":
    unittest.main()
