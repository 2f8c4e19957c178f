# SPDX-License-Identifier: Apache-2.0
"""Matrix products (@, matmul, dot, ndarray.dot) against plain NumPy: values within a tolerance
(exact where all sums are exact), layout, scalar types and exceptions as NumPy's."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(5)

def make(shape, dtype="f8"):
    """Small integers: every sum is exact in either precision, so that results agree bit for bit."""
    return rng.integers(-8, 9, shape).astype(dtype)

def layouts(shape, dtype):
    yield "c", on_device(make(shape, dtype))
    yield "host", make(shape, dtype)
    yield "t", on_device(make(shape[::-1], dtype)).T
    yield "part", make(tuple(n + 3 for n in shape), dtype)[tuple(slice(1, n + 1) for n in shape)]
    doubled = tuple(2 * n for n in shape)
    yield "step", make(doubled, dtype)[tuple(slice(None, None, 2) for _ in shape)]
    yield "flip", make(shape, dtype)[tuple(slice(None, None, -1) for _ in shape)]
    yield "wide", np.broadcast_to(make(shape[-1:], dtype), shape)
'''


class TestMatmul(shim_runner.TestCase):
    def test_layouts(self):
        self.assert_same(PRELUDE + '''
pairs = [((7, 5), (5, 9)), ((7, 5), (5,)), ((5,), (5, 9)), ((5,), (5,)), ((1, 5), (5, 9)),
         ((7, 1), (1, 9)), ((7, 5), (5, 1)), ((1, 1), (1, 1)), ((1,), (1,)), ((1, 1), (1,)),
         ((1, 5), (5, 1)), ((30, 40), (40, 50)), ((64, 64), (64, 64))]
for dtype in ("f4", "f8"):
    for first, second in pairs:
        for name_a, a in layouts(first, dtype):
            for name_b, b in layouts(second, dtype):
                name = "%s %s %s %s %s" % (dtype, first, name_a, second, name_b)
                attempt("@ " + name, lambda: a @ b); attempt("dot " + name, lambda: np.dot(a, b))
                attempt("method " + name, a.dot, b)
''', rtol=0, device="matmul")  # rtol 0: only the sign of zero may differ

    def test_odd_input(self):
        self.assert_same(PRELUDE + '''
a, b, v = on_device(make((20, 30))), on_device(make((30, 20))), on_device(make((30,)))
i = make((20, 30), "i8"); f = make((30, 20), "f4"); stack = make((3, 20, 30))
scalar = np.array(2.0)
for name, x, y in (("mixed", a, f), ("ints", i, i.T), ("int float", i, b), ("complex", a, b + 0j),
    ("bool", i > 0, i.T > 0), ("object", a.astype(object), b),
                   ("wrong", a, a), ("wrong vector", a, v[:5]), ("stack", stack, b),
                   ("stack stack", stack, stack.transpose(0, 2, 1)), ("scalar", a, scalar),
                   ("python", a, 2.0), ("list", a, b.tolist()), ("zero m", a[:0], b),
                   ("zero k", a[:, :0], b[:0]), ("zero n", a, b[:, :0]),
                   ("half", a.astype("f2"), b.astype("f2")), ("swapped", a.astype(">f8"), b),
                   ("text", a, "x"), ("none", a, None),
                   ("empty vectors", v[:0], v[:0]), ("self", a, a.T), ("gram", b, b.T)):
    attempt("matmul " + name, lambda: np.matmul(x, y)); attempt("dot " + name, lambda: np.dot(x, y))
    attempt("inner " + name, lambda: np.inner(x, y))
    attempt("tensordot " + name, lambda: np.tensordot(x, y, 1))
class Sub(np.ndarray):
    pass
attempt("subclass", lambda: type(a.view(Sub) @ b).__name__)
attempt("matrix", lambda: np.matrix(a) * np.matrix(b))
attempt("multi", lambda: np.linalg.multi_dot([a, b, a]))
attempt("power", lambda: np.linalg.matrix_power(make((5, 5)), 3))
with np.errstate(all="ignore"):
    n = a.copy(); n[3, 4] = np.nan; n[5, 6] = np.inf; dump("nan", np.isnan(n @ b))
''')

    def test_out(self):
        self.assert_same(PRELUDE + '''
a, b, v = on_device(make((20, 30))), on_device(make((30, 20))), on_device(make((30,)))
for name, out in (("fresh", on_device(np.zeros((20, 20)))), ("host", np.zeros((20, 20))),
    ("f", on_device(np.zeros((20, 20))).T),
                  ("step", on_device(np.zeros((40, 40)))[::2, ::2]),
                  ("part", on_device(np.zeros((40, 40)))[3:23, 3:23]),
                  ("shape", on_device(np.zeros((20, 21)))), ("dtype f4", np.zeros((20, 20), "f4")),
                  ("dtype c16", np.zeros((20, 20), "c16")),
                  ("int", np.zeros((20, 20), int)), ("list", [1]), ("none", None),
                  ("1-d", np.zeros(20)), ("flip", on_device(np.zeros((20, 20)))[::-1])):
    def check(result):
        return (result is out, result)
    attempt("matmul " + name, lambda: check(np.matmul(a, b, out=out)))
    attempt("tuple " + name, lambda: check(np.matmul(a, b, out=(out,))))
    attempt("dot " + name, lambda: check(np.dot(a, b, out=out)))
    attempt("method " + name, lambda: check(a.dot(b, out)))
read_only = np.zeros((20, 20)); read_only.flags.writeable = False
attempt("read-only", lambda: np.matmul(a, b, out=read_only))
attempt("read-only dot", lambda: np.dot(a, b, out=read_only))
s = on_device(make((25, 25)))
attempt("overlap", lambda: np.matmul(s, s, out=s))
s = on_device(make((25, 25))); attempt("overlap dot", lambda: np.dot(s, s.T, s))
def in_place(a):
    a @= make((25, 25))
    return a
attempt("in place", in_place, on_device(make((25, 25))))
o = on_device(np.zeros(20)); attempt("vector out", lambda: np.matmul(a, v, out=o))
attempt("vector dot out", lambda: np.dot(a, v, o))
o = on_device(np.zeros(40))[::2]; attempt("vector out step", lambda: np.matmul(a, v, out=o))
''')

    def test_precision(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f4", "f8"):
    for m, k, n in ((100, 200, 50), (3, 1000, 2), (128, 128, 128)):
        a = on_device(rng.uniform(0.5, 1.5, (m, k)).astype(dtype))
        b = on_device(rng.uniform(0.5, 1.5, (k, n)).astype(dtype))
        name = "%s %d %d %d" % (dtype, m, k, n)
        dump("matmul " + name, a @ b); dump("vector " + name, a @ b[:, 0])
        dump("inner " + name, a[0] @ b[:, 0]); dump("gram " + name, a @ a.T)
''', rtol={"f4": 1e-5, "f8": 1e-13}, device="matmul")


if __name__ == "__main__":
    shim_runner.main()
