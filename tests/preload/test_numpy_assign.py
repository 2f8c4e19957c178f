# SPDX-License-Identifier: Apache-2.0
"""Stores into arrays (a[key] = x, copyto, fill) against plain NumPy, bit for bit."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(11)
DTYPES = ["?", "i1", "u4", "i8", "f2", "f4", "f8", "c8"]

def make(shape, dtype):
    values = rng.integers(-100, 100, shape)
    return (values > 0) if dtype == "?" else values.astype(dtype)

def resident(a):
    """The same values in device memory."""
    b = a.copy(order="K")
    return b if a.dtype == bool else on_device(b)
'''


class TestAssign(shim_runner.TestCase):
    def test_keys(self):
        self.assert_same(PRELUDE + '''
s = slice
keys = [..., s(None), s(2, 9), s(None, None, 2), s(None, None, -1), s(8, 1, -3), 3, -1,
    (s(None), 2), (2, s(1, 7)), (s(1, -1), s(1, -1)),
        (..., 0), (0, ...), (..., s(2, 5)), (s(2, 4), ..., None), (None, s(2, 4)),
        (..., None, s(0, 3)), (1, 2), (-1, -2), (s(5, 5),),
        (s(100, 200),), np.int64(3), (np.int64(3), s(1, 4)), (s(1, 4), np.int64(3)), [1, 3],
        np.array([0, 2, 4]),
        (s(None), [1, 2]), True, False, None, (), 100, (1, 100), (0, 0, 0), "x", 1.5, (1.5, 2),
        (s(0.5),), (s(0, 5, 0),)]
for dtype in DTYPES:
    for name, a in (("c", make((10, 12), dtype)), ("f", np.asfortranarray(make((10, 12), dtype))),
                    ("t", make((12, 10), dtype).T), ("sub", make((20, 24), dtype)[::2, ::-2])):
        for number, key in enumerate(keys):
            b = resident(a)
            def go():
                b[key] = 7
                return b
            attempt("%s %s %d %r" % (dtype, name, number, key), go)
a = resident(make((10, 12), "i8"))
a[a > 5] = 0; dump("mask", a)
a[a.argsort(axis=0)[0]] = 4; dump("fancy", a)
a[3] += 2; dump("in place row", a); a[1:5, ::2] *= 3; dump("in place view", a)
zero = resident(make((1,), "f8")).reshape(()); zero[...] = 3; dump("0-d", zero); zero[()] = 4
dump("0-d tuple", zero)
def delete():
    del a[1]
attempt("del", delete)
''', device="fill")

    def test_keys_that_run_code(self):
        self.assert_same(PRELUDE + '''
class Index:
    """An integer that tells how often it was asked."""
    def __init__(self, value):
        self.value, self.asked = value, 0
    def __index__(self):
        self.asked += 1
        return self.value

source = make((8, 12), "f8")
late = [source, resident(source), 3.0, "no number", make((3, 5), "f8"), source.astype("c16")]
for number, value in enumerate(late):
    start, stop, row, step = Index(1), Index(9), Index(2), Index(2)
    b = resident(make((10, 12), "f8"))
    for name, key in (("slice", slice(start, stop)), ("tuple", (slice(None, stop), 2)),
                      ("step", slice(None, None, step)), ("row", (row, slice(None))),
                      ("one", row), ("numpy", slice(np.int64(1), np.int64(9)))):
        def go():
            b[key] = value
            return b
        attempt("%d %s" % (number, name), go)
        dump("%d %s asked" % (number, name), [start.asked, stop.asked, row.asked, step.asked])
''', device="add")

    def test_resident_values_are_fetched_at_once(self):
        """A value that only the device has, stored where the device cannot: one transfer."""
        result = self.shim_run(PRELUDE + '''
from shim_script import report
class Sub(np.ndarray):
    pass
class Index:
    def __index__(self):
        return 0
for make_target, key in (
        (lambda: np.frombuffer(bytearray(800000)).reshape(100, 1000), slice(None)),
        (lambda: np.zeros((2, 100, 1000)), Index()),
        (lambda: np.zeros((2, 100, 1000)), slice(Index(), 1)),
        (lambda: np.zeros((100, 1000), "c16"), slice(None))):
    for view in (np.asarray, lambda array: array.view(Sub)):
        value = view(on_device(np.ones((100, 1000))))
        target = make_target()
        target[key] = 0 # its own pages are there
        before = report()["counters"]["faults_read"]
        target[key] = value
        after = report()["counters"]["faults_read"]
        assert after == before, (type(target), key, after - before)
        assert (np.asarray(target)[key] == 1).all()
''')
        self.assert_on_device(result, "add")

    def test_values(self):
        self.assert_same(PRELUDE + '''
values = [0, 1, -1, 300, 2**31, 2**40, 2**63, 2**70, True, False, 0.5, -2.75, 1e40, -0.0, np.nan,
    np.inf, np.int32(-5),
          np.int64(2**35), np.float32(0.1), np.float64(1e39), np.bool_(True), np.int8(7),
          np.uint64(2**63), np.array(3.5), np.array([4]),
          np.array([[[2.5]]]), [5], [1, 2], "3", "x", None, 1 + 2j, b"1", [[1.0]], (2,), range(12),
          np.array(["7"]),
          np.longdouble(2), np.datetime64("2020")]
arrays = {"row": (12,), "column": (10, 1), "same": (10, 12), "ones": (1, 1, 10, 12),
    "wrong": (11,), "deep": (2, 10, 12),
          "empty": (0,), "empty row": (0, 12)}
for dtype in DTYPES:
    base = make((10, 12), dtype)
    for number, value in enumerate(values):
        text = "%d %r" % (number, value)
        b, c, d = resident(base), resident(base), resident(base)
        def go():
            b[1:, ::2] = value
            return b
        attempt("%s = %s" % (dtype, text), go)
        attempt("%s fill %s" % (dtype, text), lambda: (c.fill(value), c))
        for casting in ("no", "safe", "same_kind", "unsafe"):
            attempt("%s copyto %s %s" % (dtype, casting, text),
                lambda: (np.copyto(d, value, casting), d))
    for other in DTYPES + ["u1", "c16", ">f8", ">i4", "O"]:
        for name, shape in arrays.items():
            source = make(shape, "i8").astype(other)
            for where, x in (("host", source), ("device",
                resident(source) if other in DTYPES else source),
                             ("flip", source[..., ::-1])):
                b = resident(base)
                def go():
                    b[...] = x
                    return b
                attempt("%s[...] = %s %s %s" % (dtype, other, name, where), go)
        same = make((10, 12), "i8").astype(other)
        for casting in ("no", "equiv", "safe", "same_kind", "unsafe", "odd", None):
            b = resident(base)
            attempt("%s copyto %s array %s" % (dtype, casting, other),
                lambda: (np.copyto(b, same, casting=casting), b))
''', device="assign")

    def test_overlap_and_odd_destinations(self):
        self.assert_same(PRELUDE + '''
def case(name, function, shape=(40, 30), dtype="i8"):
    a = resident(make(shape, dtype))
    attempt(name, lambda: (function(a), a)[1])
def put(a, key, value): a[key] = value
case("shift up", lambda a: put(a, slice(1, None), a[:-1]))
case("shift down", lambda a: put(a, slice(None, -1), a[1:]))
case("shift 1-d up", lambda a: put(a, slice(1, None), a[:-1]), (1000,))
case("shift 1-d down", lambda a: put(a, slice(None, -1), a[1:]), (1000,))
case("reverse", lambda a: put(a, ..., a[::-1]))
case("reverse 1-d", lambda a: put(a, ..., a[::-1]), (1000,))
case("reverse both", lambda a: put(a, slice(None), a[::-1, ::-1]))
case("transpose", lambda a: put(a, ..., a.T), (30, 30))
case("self", lambda a: put(a, ..., a))
case("self slice", lambda a: put(a, slice(2, 9), a[2:9]))
case("row to all", lambda a: put(a, ..., a[5]))
case("column to all", lambda a: put(a, ..., a[:, 5:6]))
with np.errstate(all="ignore"):
    case("view as f8", lambda a: put(a, ..., a.view("f8")))
def raising(a):
    with np.errstate(all="raise"):
        a[...] = np.full(30, np.nan)
case("invalid cast, raise", raising)
def mirror(a):
    for i in range(0, 30, 7):
        a[i:, i] = a[i, i:]
        a[i, :i] = a[:i, i]
case("mirror a triangle", mirror, (30, 30))
for to, source in ((slice(0, 900, 3), slice(0, 300)), (slice(0, 300), slice(0, 900, 3)), (slice(1, 901, 3), slice(0, 300)),
                   (slice(5, 305), slice(0, 900, 3)), (slice(899, None, -3), slice(299, None, -1)),
                   (slice(299, None, -1), slice(899, None, -3)), (slice(2, 602, 2), slice(0, 900, 3)), (slice(0, 600, 2), slice(1, 901, 3))):
    case("strides %s %s" % (to, source), lambda a: put(a, to, a[source]), (1000,))
    case("strides of two dtypes %s %s" % (to, source), lambda a: put(a.view("f8"), to, a[source]), (1000,))
case("view as i4", lambda a: put(a, slice(0, 10), a.view("i4")[10:20, :30]))
case("stencil", lambda a: put(a, (slice(1, -1), slice(1, -1)),
     0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])), dtype="f8")
case("copyto self", lambda a: np.copyto(a, a))
case("copyto shift", lambda a: np.copyto(a[1:], a[:-1]))
case("copyto where", lambda a: np.copyto(a, 0, where=a > 3))
case("copyto where true", lambda a: np.copyto(a, 0, where=True))
case("copyto by name", lambda a: np.copyto(dst=a, src=5))
case("copyto none", lambda a: np.copyto(a))
case("copyto unknown", lambda a: np.copyto(a, 1, foo=2))
case("copyto list", lambda a: np.copyto([1, 2], a))
case("fill none", lambda a: a.fill()); case("fill two", lambda a: a.fill(1, 2))
case("fill array", lambda a: a.fill(a[0]))
def read_only(a):
    a.flags.writeable = False
    a[...] = 5
case("read-only", read_only)
case("broadcast", lambda a: put(np.broadcast_to(a[0], (40, 30)), ..., 5))
case("strided", lambda a: put(np.lib.stride_tricks.as_strided(a, (10, 10), (8, 8)), ..., 5))
class Sub(np.ndarray):
    pass
case("subclass", lambda a: put(a.view(Sub), slice(3, 7), 5))
case("subclass source", lambda a: put(a, ..., a[::-1].view(Sub)))
case("record", lambda a: put(a.view([("x", "i8")]), "x", 3), (40, 1))
case("object", lambda a: put(a, ..., np.array(5, object)))
bytes_ = bytearray(8001); u = np.frombuffer(bytes_, np.uint8)[1:].view("f8"); u[...] = 3
dump("unaligned", u)
u[...] = resident(np.arange(1000.0)); dump("unaligned from device", u)
m = np.ma.zeros((20, 20)); m[3:5] = 7; dump("masked", m.filled(9))
big = np.zeros((300, 400)); big[10:20] = 3; big[:, 5] = np.arange(300); big[7, 7] = 2
dump("big", big)
for i in range(100):
    big[i, i] = i; big[i, 3:6] = [1, 2, 3]
dump("scalars", big)
''')

    def test_auto_mode_small(self):
        self.assert_same(PRELUDE + '''
a = np.zeros(1000); b = np.zeros((600, 600))
for i in range(1000):
    a[i] = i; b[i % 600, :50] = i; b[i % 600, i % 600] = 1; b[3:5, i % 600] = 2
dump("a", a); dump("b", b)
''', env={"GPUSHIM_MODE": "auto"}, device=False)


if __name__ == "__main__":
    shim_runner.main()
