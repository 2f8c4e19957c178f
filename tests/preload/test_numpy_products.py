# SPDX-License-Identifier: Apache-2.0
"""Products of all dtypes, in batches, broadcast, of any strides: matmul and its kin, dot, inner, vdot, and what NumPy
builds of them, against plain NumPy."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(11)
DTYPES = "?bhilBHILefdFD"

def make(shape, dtype):
    """Small integers: every sum is exact in every dtype that does not wrap, so that results agree bit for bit."""
    values = rng.integers(-3, 4, shape)
    if dtype in "FD":
        values = values + 1j * rng.integers(-3, 4, shape)
    if dtype in "BHIL":
        values = abs(values)
    return values.astype(dtype)

def view(array):
    """The same shape in memory of another order, step or direction, on the device or not."""
    way = rng.integers(7)
    if way == 0 or array.ndim == 0:
        return array
    if way == 1:
        return on_device(array)
    if way == 2:
        return on_device(np.ascontiguousarray(array.T)).T
    if way == 3:
        big = np.zeros(tuple(2 * n + 1 for n in array.shape), array.dtype)
        big[tuple(slice(1, None, 2) for _ in array.shape)] = array
        return big[tuple(slice(1, None, 2) for _ in array.shape)]
    if way == 4:
        return on_device(array[..., ::-1])[..., ::-1]
    if way == 5:
        return on_device(array[::-1])[::-1]
    return np.broadcast_to(array[:1], array.shape)

def batch_of():
    """A shape of a batch, and one that broadcasts against it."""
    full = tuple(int(n) for n in rng.integers(1, 4, rng.integers(0, 4)))
    other = tuple(n if rng.random() < 0.6 else 1 for n in full)
    return full, other[int(rng.integers(0, len(other) + 1)):]

def extents():
    return (int(n) for n in rng.integers(1, 9, 3))
'''


class TestProducts(shim_runner.TestCase):
    def test_batches(self):
        self.assert_same(PRELUDE + '''
for turn in range(300):
    dtype = DTYPES[turn % len(DTYPES)]
    m, k, n = extents()
    first, second = batch_of()
    a, b = view(make(first + (m, k), dtype)), view(make(second + (k, n), dtype))
    name = "%d %s %s %s" % (turn, dtype, a.shape, b.shape)
    attempt("matmul " + name, np.matmul, a, b)
    attempt("swapped " + name, np.matmul, b.swapaxes(-1, -2), a.swapaxes(-1, -2))
    attempt("vector " + name, np.matmul, a, view(make((k,), dtype)))
    attempt("row " + name, np.matmul, view(make((k,), dtype)), b)
''', rtol=0, device="matmul")

    def test_gufuncs(self):
        self.assert_same(PRELUDE + '''
for turn in range(150 if hasattr(np, "vecmat") else 0):
    dtype = DTYPES[turn % len(DTYPES)]
    m, k, n = extents()
    first, second = batch_of()
    x, y = view(make(first + (k,), dtype)), view(make(second + (k,), dtype))
    a, b = view(make(first + (m, k), dtype)), view(make(second + (k, n), dtype))
    attempt("vecdot %d" % turn, np.vecdot, x, y)
    attempt("matvec %d" % turn, np.matvec, a, y)
    attempt("vecmat %d" % turn, np.vecmat, x, b)
    attempt("axis %d" % turn, np.vecdot, a, y, axis=-1)
for function in (np.vecdot, np.matvec, np.vecmat) if hasattr(np, "vecmat") else ():
    attempt("scalar " + function.__name__, function, make((3,), "d"), 2.0)
    attempt("lengths " + function.__name__, function, make((3, 4), "d"), make((5,), "d"))
a = make((20, 30), "D")
attempt("matmul", np.matmul, a, a.T)
''', rtol=0, device="matmul")

    def test_axis_on_the_host(self):
        """In mode auto, nothing being on the device."""
        self.assert_same('''
import numpy as np
from shim_script import attempt
x = np.arange(60_000.0).reshape(200, 300) / 7
for axis in (0, 1, -1, 2, None) if hasattr(np, "vecdot") else ():
    attempt("vecdot %s" % axis, np.vecdot, x, x[::-1], axis=axis)
    attempt("linalg %s" % axis, lambda: np.linalg.vecdot(x, x[::-1], axis=axis))
''', rtol=0, env={"GPUSHIM_MODE": "auto"}, device=False)

    def test_functions(self):
        self.assert_same(PRELUDE + '''
def named(name, function, *args, **kwargs):
    attempt("%s %d %s" % (name, turn, dtype), function, *args, **kwargs)
for turn in range(100):
    dtype = DTYPES[turn % len(DTYPES)]
    m, k, n = extents()
    a, b = view(make((2, m, k), dtype)), view(make((3, k, n), dtype))
    c, v = view(make((3, n, k), dtype)), view(make((k,), dtype))
    named("dot", np.dot, a, b); named("dot vector", np.dot, a, v); named("vector dot", np.dot, v, b)
    named("method", a.dot, b[0]); named("out", a[0].dot, b[0], np.zeros((m, n), dtype))
    named("inner", np.inner, a, c); named("inner vector", np.inner, v, c)
    named("vdot", np.vdot, a, a); named("vdot copies", np.vdot, make((4, 5), dtype), view(make((5, 4), dtype)))
    named("tensordot", np.tensordot, a, c, ((2,), (2,))); named("tensordot two", np.tensordot, a, a, ((0, 2), (0, 2)))
    named("outer", np.outer, v, v); named("kron", np.kron, a[0], b[0])
    named("trace", np.trace, a[0]); named("wrong", np.dot, a, a[:, :0])
    if k == n:
        named("power", np.linalg.matrix_power, b, 3)
    if dtype not in "e?":
        named("multi", np.linalg.multi_dot, [a[0], b[0], c[0]])
''', rtol=0, device="dot")

    def test_mixed(self):
        self.assert_same(PRELUDE + '''
for first in DTYPES:
    for second in DTYPES:
        a, b = view(make((2, 5, 6), first)), view(make((6, 4), second))
        attempt("matmul %s %s" % (first, second), np.matmul, a, b)
        attempt("dot %s %s" % (first, second), np.dot, a, b)
        attempt("vdot %s %s" % (first, second), np.vdot, a[0, 0], b[:, 0])
        attempt("vdot flat %s %s" % (first, second), np.vdot, np.ones((5, 6), first), np.ones((6, 5), second))
        attempt("dtype %s %s" % (first, second), np.matmul, a, b, dtype="D")
attempt("object", np.matmul, make((3, 3), "d").astype(object), make((3, 3), "d"))
attempt("long double", np.matmul, make((3, 3), "d").astype("g"), make((3, 3), "d"))
''', rtol=0, device="matmul")

    def test_mixed_broadcast(self):
        self.assert_same(PRELUDE + '''
a, b = (np.broadcast_to(on_device(make((1,) + shape, "f")), (5,) + shape) for shape in ((3, 4), (2, 3, 4)))
matrix, vector = on_device(make((2, 1, 4, 6), "d")), on_device(make((4,), "d"))
attempt("matmul", np.matmul, a, matrix); attempt("swapped", np.matmul, matrix.swapaxes(2, 3), b[:, :, :1].swapaxes(2, 3))
attempt("dot", np.dot, a, vector); attempt("inner", np.inner, vector, b); attempt("tensordot", np.tensordot, a, vector, 1)
for name in "vecdot", "matvec":
    if hasattr(np, name):
        attempt(name, getattr(np, name), b, vector)
for subscripts in "aij,j->ai", "aij,j->aij", "aij,j->jai", "aij,k->aijk", "aij,i...->a...":
    attempt(subscripts, np.einsum, subscripts, a, vector[:3] if "i..." in subscripts else vector)
''', rtol=0, device="matmul")

    def test_wraps(self):
        self.assert_same(PRELUDE + '''
for dtype in "bhilBHIL":
    info = np.iinfo(dtype)
    a, b = (on_device(rng.integers(info.min, info.max, shape, dtype, endpoint=True)) for shape in ((70, 50), (50, 80)))
    dump("matmul " + dtype, a @ b); dump("vdot " + dtype, np.vdot(a[0], b[:, 0])); dump("inner " + dtype, np.inner(a, a))
a, b = (on_device(rng.normal(0, 1, shape).astype("e")) for shape in ((70, 50), (50, 80)))
dump("half", a @ b); dump("half vector", a @ b[:, 0]); dump("half overflow", np.isinf((a * 200) @ (b * 200)))
''', device="matmul")

    def test_out(self):
        self.assert_same(PRELUDE + '''
for dtype in "ldD":
    a, b = on_device(make((3, 8, 8), dtype)), on_device(make((8, 8), dtype))
    for name, out in (("fresh", np.zeros((3, 8, 8), dtype)), ("order", on_device(np.zeros((8, 8, 3), dtype)).T),
                      ("step", np.zeros((6, 8, 8), dtype)[::2]), ("wide", np.zeros((3, 8, 8), "D")),
                      ("shape", np.zeros((4, 8, 8), dtype)), ("first", a.copy()), ("more", np.zeros((2, 3, 8, 8), dtype))):
        attempt("%s %s" % (dtype, name), lambda: (np.matmul(a, b, out=out) is out, out))
    c = a.copy(); attempt("itself " + dtype, lambda: (np.matmul(c, b, out=c), c))
    c = b.copy(); attempt("both " + dtype, lambda: (np.matmul(c, c, out=c), c))
    c = b.copy(); attempt("turned " + dtype, lambda: (np.matmul(c, b, out=c.T), c))
    c = b.copy(); attempt("part " + dtype, lambda: (np.matmul(c[:4], b, out=c[2:6]), c))
    def in_place(x):
        x @= b
        return x
    attempt("in place " + dtype, in_place, a.copy())
    for name, shape, function in (("matmul", (3, 8, 8), lambda out: np.matmul(a, b, out=out)),
                                  ("transposed", (3, 8, 8), lambda out: np.matmul(a, b.T, out=out)),
                                  ("einsum", (3, 8, 8), lambda out: np.einsum("aij,jk->aik", a, b, out=out)),
                                  ("dot", (8, 8), lambda out: np.dot(b, b, out=out)),
                                  ("column", (3, 8), lambda out: np.matmul(a, b[0], out=out))):
        out = np.ndarray(shape, dtype, bytearray(3 * 8 * 8 * 16 + 1), offset=1)
        attempt("unaligned %s %s" % (name, dtype), lambda: (function(out) is out, np.array(out)))
    v = on_device(make((8,), dtype))
    for name, function in (("dot", np.dot), ("method", lambda x, y, out: x.dot(y, out)), ("matmul", np.matmul),
                           ("einsum", lambda x, y, out: np.einsum("i,i", x, y, out=out))):
        out = on_device(np.zeros(1, dtype)).reshape(()); attempt("%s none %s" % (name, dtype), lambda: (function(v, v, out=out), out))
''', rtol=0, device="matmul")

    def test_casting(self):
        self.assert_same("""
import numpy as np
from shim_script import attempt
for x, y in (("f4", "f8"), ("f8", "f8"), ("i4", "i8")):
    a, b = np.ones((40, 40), x), np.ones((40, 40), y)
    for casting in "no", "equiv", "safe", "same_kind", "unsafe":
        attempt("%s %s %s" % (x, y, casting), lambda: np.matmul(a, b, casting=casting))
""", device=False)

    def test_errstate(self):
        self.assert_same(PRELUDE + '''
a, b = on_device(np.full((30, 30), np.inf)), on_device(np.zeros((30, 30)))
with np.errstate(all="raise"):
    attempt("matmul", np.matmul, a, b); attempt("dot", np.dot, a, b); attempt("in place", a.dot, b, np.zeros((30, 30)))
    attempt("vdot", np.vdot, a, b); attempt("einsum", np.einsum, "ij,jk", a, b); attempt("outer", np.einsum, "ij,kl->ijkl", a[:3], b[:3])
attempt("vdot quiet", np.vdot, a, b); attempt("einsum quiet", np.einsum, "ij,jk", a, b)
''', device="einsum")

    def test_symmetric(self):
        self.assert_same(PRELUDE + '''
for dtype in "fdFD":
    for shape in ((67, 130), (2, 67, 33)):
        a = on_device(rng.normal(0, 1, shape).astype(dtype))
        for name, g in (("rows", a @ a.swapaxes(-1, -2)), ("columns", a.swapaxes(-1, -2) @ a)):
            dump("%s %s %s" % (name, dtype, shape), bool((g == g.swapaxes(-1, -2)).all()))
''', device="matmul")

    def test_precision(self):
        self.assert_same(PRELUDE + '''
for dtype in "fdFD":
    a, b = (rng.uniform(0.5, 1.5, shape) for shape in ((4, 60, 200), (200, 70)))
    if dtype in "FD":
        a, b = a + 0.1j * a, b - 0.2j * b
    a, b = on_device(a.astype(dtype)), on_device(b.astype(dtype))
    dump(dtype + " batch", a @ b); dump(dtype + " vector", a @ b[:, 0]); dump(dtype + " inner", np.inner(a, a[0]))
    dump(dtype + " vdot", np.vdot(a, a)); dump(dtype + " lengths", np.einsum("bij,bij->bi", a, a))
''', rtol={"^[fF] ": 1e-5, "^[dD] ": 1e-13}, device="matmul")


if __name__ == "__main__":
    shim_runner.main()
