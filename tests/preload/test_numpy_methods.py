# SPDX-License-Identifier: Apache-2.0
"""copy, astype, array and the methods that only read arrays, against plain NumPy, bit for bit."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(3)
DTYPES = ["?", "i2", "u1", "i8", "f2", "f8", "c8"]
OTHER = ["c16", "f4", ">f8", "O", "U4", "u4"]

def make(shape, dtype):
    return rng.integers(-100, 100, shape).astype(dtype)

def layouts(dtype):
    a = make((4, 5, 6), dtype)
    yield "c", on_device(a) if dtype in DTYPES[1:] else a
    yield "f", np.asfortranarray(a)
    yield "t", a.transpose(1, 2, 0)
    yield "step", make((8, 10, 12), dtype)[::2, ::-2, 1::2]
    yield "wide", np.broadcast_to(make((5, 6), dtype), (4, 5, 6))
    yield "unit", make((4, 1, 6), dtype).transpose(2, 1, 0)
    yield "1-d", make((50,), dtype)[::-1]
    yield "0-d", np.array(5).astype(dtype)
    yield "empty", make((3, 0), dtype)
'''


class TestMethods(shim_runner.TestCase):
    def test_functions_are_found_in_sets(self):
        """A builtin's hash is of its C function, and NumPy keeps builtins in a set."""
        self.assert_same(PRELUDE + '''
builtins = [np.array, np.arange, np.zeros, np.empty, np.frombuffer, np.fromiter, np.dot, np.where,
            np.concatenate, np.inner, np.copyto, np.bincount]
try:
    known = np.testing.overrides.get_overridable_numpy_array_functions()
    dump("members", [function in known for function in builtins])
except AttributeError: # before NumPy 1.25
    pass
own = set(builtins)
dump("own", all(function in own for function in builtins))
''', device=False)

    def test_byteswap_in_place(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES[1:]:
    a = on_device(make((300, 400), dtype))
    attempt(dtype, lambda: (a.byteswap(inplace=True), a))
    attempt(dtype + " and then", lambda: a.byteswap() + 1)
''', device="add")

    def test_integer_with_fields(self):
        """Its type number is int32's, but it is another dtype."""
        self.assert_same(PRELUDE + '''
special = np.dtype((np.int32, [("a", "i2"), ("b", "i2")]))
plain = make((40, 50), "i4")
a = plain.view(special)
calls = {
    "copy": a.copy, "astype": lambda: a.astype("f8"), "to": lambda: plain.astype(special),
    "array": lambda: np.array(a), "array to": lambda: np.array(plain, dtype=special),
    "ascontiguous": lambda: np.ascontiguousarray(plain.T, dtype=special),
    "flatten": a.flatten, "ravel": a.T.ravel, "zeros": lambda: np.zeros(1000, special),
    "arange": lambda: np.arange(0, 1000, dtype=special), "add": lambda: a + a,
    "ones": lambda: np.ones(1000, special), "full": lambda: np.full(1000, 7, special),
    "out": lambda: np.add(plain, plain, out=a.copy()), "sum": lambda: a.sum(),
    "sum dtype": lambda: plain.sum(axis=0, dtype=special), "max": lambda: a.max(axis=0),
    "sum out": lambda: plain.sum(axis=0, out=np.zeros(50, special)), "mul": lambda: a * 2,
}
for name, call in calls.items():
    result = attempt(name, call)
    dump("dtype of " + name, repr(getattr(result, "dtype", result)))
b = a.copy(); b[1:] = 3; b[0] = plain[1]; np.copyto(b[5:6], plain[:1]); b.fill(2)
dump("assigned", b)
''', device=False)

    def test_copies(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES + OTHER:
    for layout, a in layouts(dtype):
        name = "%s %s" % (dtype, layout)
        for order in ("C", "F", "A", "K", "c", None, 5):
            attempt(name + " copy %r" % order, a.copy, order)
            attempt(name + " np.copy %r" % order, np.copy, a, order=order)
            attempt(name + " array %r" % order, np.array, a, order=order)
            attempt(name + " flatten %r" % order, a.flatten, order)
            attempt(name + " ravel %r" % order, a.ravel, order)
        attempt(name + " array", lambda: np.array(a))
        attempt(name + " f4", lambda: np.array(a, "f4"))
        attempt(name + " array i4", lambda: np.array(a, dtype=np.int32, copy=True))
        attempt(name + " no copy", lambda: np.array(a, copy=False))
        for mode in np._CopyMode:
            attempt(name + " %s" % mode, lambda: np.array(a, copy=mode) is a)
            attempt(name + " %s f4" % mode, lambda: np.array(a, "f4", copy=mode))
        attempt(name + " ndmin", lambda: np.array(a, ndmin=5))
        attempt(name + " subok", lambda: np.array(a, subok=True))
        attempt(name + " contiguous", lambda: np.ascontiguousarray(a))
        attempt(name + " fortran", lambda: np.asfortranarray(a))
        attempt(name + " contiguous f8", lambda: np.ascontiguousarray(a, dtype="f8"))
        attempt(name + " fortran f4", lambda: np.asfortranarray(a, "f4"))
        attempt(name + " T", lambda: a.T.copy())
        attempt(name + " reshape", lambda: a.reshape(-1))
''', device="copy")

    def test_copy_modes_stay(self):
        """The modes that the compatibility layer of the array API passes."""
        self.assert_same("""
import numpy as np
from shim_script import dump, moved_by, on_device
a = on_device(np.arange(50000) % 7)
def convert():
    b = np.array(a, "f8", copy=np._CopyMode.IF_NEEDED)
    np.add(np.array(b, copy=np._CopyMode.IF_NEEDED), 1, out=b)
dump("stays", moved_by(convert)["download_bytes"] < 1000)
""")

    def test_copies_with_odd_arguments(self):
        self.assert_same("""
import numpy as np
from shim_script import attempt
a = np.arange(3000.0).reshape(50, 60).T
attempt("copy", a.__copy__); attempt("copy of one", a.__copy__, 1)
attempt("deep copy", a.__deepcopy__, {}); attempt("deep copy of none", a.__deepcopy__); attempt("deep copy of two", a.__deepcopy__, {}, {})
""")

    def test_astype(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES + OTHER[:5]:
    for layout, a in layouts(dtype):
        for to in DTYPES + OTHER + [int, float, bool, np.float32, np.dtype("i4"), None, "nonsense"]:
            name = "%s %s -> %r" % (dtype, layout, to)
            attempt(name, a.astype, to)
            for order in ("C", "F", "A"):
                attempt(name + order, a.astype, to, order)
            for casting in ("no", "safe", "same_kind", "equiv"):
                attempt(name + casting, a.astype, to, casting=casting)
            attempt(name + " subok", a.astype, to, "K", "unsafe", False)
            attempt(name + " copy", lambda: (a.astype(to, copy=False) is a, a.astype(to,
                copy=False)))
a = make((5, 5), "f8")
attempt("none", lambda: a.astype()); attempt("unknown", lambda: a.astype("f4", foo=1))
attempt("by name", lambda: a.astype(dtype="f4", order="F"))
attempt("doubled", lambda: a.astype("f4", dtype="f4"))
class Sub(np.ndarray):
    pass
attempt("subclass", lambda: type(a.view(Sub).astype("f4")).__name__)
attempt("subclass copy", lambda: a.view(Sub).copy())
attempt("kept", lambda: (lambda b: (b.__setitem__(0, 9), a)[1])(a.copy()))
with np.errstate(all="raise"):
    attempt("raise", lambda: np.full((9, 9), 1e300).astype("f4"))
    attempt("raise int", lambda: np.full((9, 9), np.nan).astype(int))
with np.errstate(all="ignore"):
    for dtype in ("f4", "f8"):
        x = np.array([0.0, -0.0, 1.5, -1.5, 2.5, 1e10, -1e10, 1e20, np.nan, np.inf, -np.inf,
            5e-324, 3e38, 2.0**31, 2.0**63], dtype)
        for to in DTYPES:
            dump("odd %s %s" % (dtype, to), x.astype(to))
    i = np.array([0, 1, -1, 2**31 - 1, 2**31, -2**31 - 1, 2**53 + 1, 2**63 - 1, -2**63, 2**24 + 1])
    for to in DTYPES:
        dump("odd i8 %s" % to, i.astype(to)); dump("odd i4 %s" % to, i.astype("i4").astype(to))
''', device="astype")

    def test_readers(self):
        self.assert_same(PRELUDE + '''
import os, pickle, tempfile
for dtype in DTYPES:
    a = make((30, 40), dtype); r = on_device(a) if dtype != "?" else a.copy()
    v = on_device(make((50,), "i8"))
    calls = {
        "sort": lambda: (r.copy().sort(), np.sort(r)), "in place": lambda: (lambda b: (b.sort(0),
        b)[1])(r.copy()),
        "argsort": lambda: r.argsort(1, kind="stable"),
        "partition": lambda: np.sort(np.partition(r, 5)), "argmax": lambda: r.argmax(1),
        "argmin": lambda: r.argmin(), "take": lambda: r.take([3, 1, 2], axis=1),
        "nonzero": lambda: r.nonzero(),
        "tobytes": lambda: r.tobytes(), "tolist": lambda: r.tolist(),
        "repeat": lambda: r.repeat(2), "trace": lambda: r.trace(),
        "compress": lambda: r.compress([True, False, True], axis=0),
        "choose": lambda: np.choose(v % 2, [v, -v]),
        "searchsorted": lambda: np.searchsorted(np.sort(v), [3, 4]),
        "concatenate": lambda: np.concatenate([r, a, r], 1),
        "stack": lambda: np.stack((r, r)), "where": lambda: np.where(r > 0, r, a),
        "where 1": lambda: np.where(r),
        "bincount": lambda: np.bincount(np.abs(v)), "interp": lambda: np.interp(np.sort(v),
        np.sort(v), v),
        "einsum": lambda: np.einsum("ij,ij->i", r, a), "inner": lambda: np.inner(r.astype("i8"),
        a.astype("i8")),
        "vdot": lambda: np.vdot(v, v), "correlate": lambda: np.correlate(v, v[:5]),
        "convolve": lambda: np.convolve(v, v[:5]),
        "count": lambda: np.count_nonzero(r), "lexsort": lambda: np.lexsort((v, v % 3)),
        "unique": lambda: np.unique(r),
        "packbits": lambda: np.packbits(r > 0), "put": lambda: (lambda b: (b.put([1, 2], 1),
        b)[1])(r.copy()),
        "putmask": lambda: (lambda b: (np.putmask(b, b > 0, 0), b)[1])(r.copy()),
        "byteswap": lambda: r.byteswap(),
        "place": lambda: (lambda b: (np.place(b, b > 0, [1, 0]), b)[1])(r.copy()),
        "mask": lambda: r[r > 0], "fancy": lambda: r[[1, 2]],
        "round": lambda: r.round(), "clip": lambda: r.clip(0, 5) if dtype != "?" else 0,
        "cumsum": lambda: r.astype("i8").cumsum(1),
        "pickle": lambda: pickle.loads(pickle.dumps(r)), "dumps": lambda: pickle.loads(r.dumps()),
        "repr": lambda: repr(r),
        "item": lambda: r.item(7), "iter": lambda: [int(x) for x in v],
        "cov": lambda: np.round(np.cov(a.astype("f8")), 6),
        "histogram": lambda: np.histogram(v, 10),
        "argpartition": lambda: np.sort(v[np.argpartition(v, 5)[:5]]),
        "squeeze": lambda: r[None].squeeze(), "diff": lambda: np.diff(v),
        "tile": lambda: np.tile(r, 2), "roll": lambda: np.roll(r, 3),
        "pad": lambda: np.pad(r, 2), "block": lambda: np.block([[r, r], [r, r]]),
        "equal": lambda: np.array_equal(r, r.copy()),
    }
    for name, call in calls.items():
        attempt("%s %s" % (dtype, name), call)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x"); r.tofile(path)
        dump(dtype + " file", np.fromfile(path, dtype))
        r.dump(path); dump(dtype + " dump", np.load(path, allow_pickle=True))
''')


if __name__ == "__main__":
    shim_runner.main()
