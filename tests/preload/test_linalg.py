# SPDX-License-Identifier: Apache-2.0
"""numpy.linalg against plain NumPy. The host device computes with NumPy's own LAPACK: same bits. On any other device what is
unique must be near, and what is not (singular vectors, eigenvectors) must solve its equation and be orthogonal: bounds of a
small factor times n eps times the norms involved. Layouts, dtypes, warnings and exceptions are NumPy's everywhere."""
import collections
import importlib.util
import unittest

import numpy as np
import shim_runner
import shim_script

PRELUDE = '''
import random
import sys
import numpy as np
from shim_script import attempt, dump, on_device, report, residency, well_conditioned
rng = np.random.default_rng(17)
linalg = np.linalg
is_exact = sys.argv[1] == "host"
few = None if is_exact else random.Random(5)
dtypes = ("f4", "f8", "c8", "c16")
batches = ((), (3,), (2, 1, 3))

def make(shape, dtype):
    return well_conditioned(rng, shape, dtype)

def spoiled(a):
    """Of a Hermitian matrix's diagonal the real part alone is read."""
    return a + np.asarray(3j * np.eye(a.shape[-1]), a.dtype) if a.dtype.kind == "c" else a

def steps(a):
    wide = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    return on_device(wide)[tuple(slice(None, None, 2) for _ in a.shape)]

def flipped(a):
    flip = tuple(slice(None, None, -1) for _ in a.shape)
    return on_device(np.ascontiguousarray(a[flip]))[flip]

def turned(a):
    axes = tuple(range(a.ndim - 2))[::-1] + (-2, -1)
    return on_device(np.ascontiguousarray(a.transpose(axes))).transpose(axes)

LAYOUTS = {
    "host": lambda a: a,
    "c": on_device,
    "f": lambda a: on_device(np.ascontiguousarray(np.swapaxes(a, -1, -2))).swapaxes(-1, -2),
    "batch": lambda a: on_device(np.ascontiguousarray(np.moveaxis(a, -1, 0))).transpose(tuple(range(1, a.ndim)) + (0,)),
    "step": steps, "flip": flipped, "turned": turned,
    "stretched": lambda a: np.broadcast_to(on_device(a), (2,) + a.shape)}

def some(items, count):
    """All of them, or where each costs kernels to compile, a few that differ from call to call."""
    return items if few is None else few.sample(sorted(items), count)

def layouts(a, count=2):
    """The values in memory of several kinds."""
    for name in some(LAYOUTS, count):
        yield name, LAYOUTS[name](a)

def plain(a):
    """Matrices one behind the other: the checks' own kernels are then few."""
    return np.ascontiguousarray(a).reshape((-1,) + a.shape[-2:])

def norm(a):
    return np.sqrt((np.abs(a) ** 2).sum(axis=(-2, -1)))

def H(a):
    return np.conj(a).swapaxes(-1, -2)

def holds(name, residual, scale, n, single):
    """Whether the residual's norm is within rounding of the scale."""
    eps = np.finfo("f4" if single else "f8").eps
    dump(name, bool((norm(residual) <= 30 * n * eps * scale).all()))

def is_orthogonal(name, q, single):
    q = plain(q)
    holds(name + " orthogonal", H(q) @ q - np.eye(q.shape[-1]), 1, q.shape[-1], single)

def is_solved(name, a, values, vectors, scale, single):
    a, values, vectors = plain(a), plain(values[..., None, :]), plain(vectors)
    holds(name, a @ vectors - vectors * values, scale, a.shape[-1], single)

def show(name, *values):
    """Results that are not unique: all of them where bits are compared, else what arrays they are."""
    for i, value in enumerate(values):
        dump("%s [%d]" % (name, i), value if is_exact else (value.dtype.str, value.shape, value.strides))
'''

NEAR = {"^f4|^c8": 2e-4, "": 1e-9}


class TestNearness(unittest.TestCase):
    """What is near counts as equal also in the named tuples that np.linalg returns."""

    def test_named_tuples(self):
        pair = collections.namedtuple("PairResult", "first second")
        want, near, far = (shim_script.describe(pair(np.ones(3), np.ones(3) * x)) for x in (1, 1 + 1e-12, 1.1))
        self.assertIsNone(shim_runner.difference("near", near, want, rtol=1e-9))
        self.assertIn("[1] differs", shim_runner.difference("far", far, want, rtol=1e-9))
        self.assertIsNotNone(shim_runner.difference("bits", near, want))


class TestLinalg(shim_runner.TestCase):
    def judge(self, script, device=True, rtol=None, **options):
        off_host = {"rtol": NEAR, "atol": NEAR} if shim_runner.DEVICE != "host" else {}
        if rtol:
            off_host = {"rtol": rtol, "atol": rtol}
        return self.assert_same(PRELUDE + script, args=(shim_runner.DEVICE,), device=device, **off_host, **options)

    def test_linear_systems(self):
        result = self.judge('''
for dtype in dtypes:
    for n in (1, 2, 37):
        for batch in batches:
            a, right, vector = make(batch + (n, n), dtype), make(batch + (n, 3), dtype), make(batch + (n,), dtype)
            for layout, x in layouts(a):
                name = "%s %d %s %s" % (dtype, n, batch, layout)
                attempt(name + " inv", linalg.inv, x); attempt(name + " det", linalg.det, x)
                attempt(name + " slogdet", lambda: tuple(linalg.slogdet(x)))
                attempt(name + " solve self", linalg.solve, x, x)
                for other, b in layouts(right):
                    attempt("%s solve %s" % (name, other), linalg.solve, x, b)
            attempt("%s %d %s vector" % (dtype, n, batch), linalg.solve, a, vector)
            attempt("%s %d %s one vector" % (dtype, n, batch), linalg.solve, a, on_device(make((n,), dtype)))
            attempt("%s %d %s one right" % (dtype, n, batch), linalg.solve, a, make((n, 2), dtype))
            attempt("%s %d %s one matrix" % (dtype, n, batch), linalg.solve, make((n, n), dtype), right)
attempt("mixed", linalg.solve, make((9, 9), "f4"), make((9, 2), "c16"))
attempt("ints", linalg.solve, np.arange(9).reshape(3, 3) + 7 * np.eye(3, dtype=int), on_device(np.arange(6).reshape(3, 2)))
attempt("bool", linalg.inv, np.tri(5, dtype=bool)); attempt("bytes", linalg.det, np.tri(5, dtype="u1"))
attempt("tensorsolve", linalg.tensorsolve, make((6, 2, 3), "f8"), make((6,), "f8"))
attempt("tensorinv", linalg.tensorinv, make((6, 2, 3), "f8"), 1)
''')
        for name in ("solve", "inv", "det", "slogdet"):
            self.assert_on_device(result, name)

    def test_cholesky(self):
        self.judge('''
for dtype in dtypes:
    for n in (1, 2, 37):
        for batch in batches:
            a = make(batch + (n, n), dtype); a = a @ H(a)
            a += np.triu(make((n, n), dtype), 1)  # only one triangle is read
            for layout, x in layouts(spoiled(a)):
                name = "%s %d %s %s" % (dtype, n, batch, layout)
                attempt(name, linalg.cholesky, x)
                attempt(name + " upper", lambda: linalg.cholesky(H(x), upper=True))
''', device="cholesky")

    def test_qr(self):
        self.judge('''
for dtype in dtypes:
    for m, n in ((1, 1), (5, 5), (31, 7), (7, 31), (1, 6), (6, 1)):
        for batch in some(batches, 1):
            a = make(batch + (m, n), dtype)
            for layout, x in layouts(a, 1):
                for mode in ("reduced", "complete", "r", "raw"):
                    name = "%s %d %d %s %s %s" % (dtype, m, n, batch, layout, mode)
                    q = attempt(name, lambda: linalg.qr(x, mode))
                    if mode in ("reduced", "complete") and isinstance(q, tuple):
                        is_orthogonal(name, q[0], dtype in ("f4", "c8"))
                        holds(name + " product", plain(q[0]) @ plain(q[1]) - plain(x), norm(plain(x)), m, dtype in ("f4", "c8"))
            before = a.copy(); linalg.qr(on_device(a)); dump("kept %s %d %d %s" % (dtype, m, n, batch), (a == before).all())
attempt("ints", linalg.qr, np.arange(12).reshape(4, 3) ** 2); attempt("bad mode", linalg.qr, np.eye(3), "x")
''', device="qr")

    def test_svd(self):
        self.judge('''
for dtype in dtypes:
    for m, n in ((1, 1), (6, 6), (23, 7), (7, 23), (1, 5), (5, 1)):
        for batch in batches:
            a = make(batch + (m, n), dtype)
            for layout, x in layouts(a):
                for full in (False, True):
                    name = "%s %d %d %s %s %s" % (dtype, m, n, batch, layout, full)
                    u, s, v = linalg.svd(x, full_matrices=full)
                    show(name, u, v); dump(name + " values", s)
                    single, p = dtype in ("f4", "c8"), min(m, n)
                    is_orthogonal(name + " u", u, single); is_orthogonal(name + " v", H(v), single)
                    product = plain(u[..., :p]) * plain(s[..., None, :]) @ plain(v[..., :p, :])
                    holds(name, product - plain(x), norm(plain(x)), m + n, single)
                attempt(name + " alone", lambda: linalg.svd(x, compute_uv=False))
                if hasattr(linalg, "svdvals"):
                    attempt(name + " svdvals", linalg.svdvals, x)
a = make((8, 8), "c16"); a = a + H(a)
attempt("hermitian values", lambda: linalg.svd(a, compute_uv=False, hermitian=True))
''', device="svd")

    def test_hermitian_eigenvalues(self):
        result = self.judge('''
for dtype in dtypes:
    for n in (1, 2, 29):
        for batch in batches:
            a = make(batch + (n, n), dtype); whole = a + H(a)
            for triangle, part in (("L", np.tril), ("U", np.triu)):
                for layout, x in layouts(spoiled(part(whole))):  # only one triangle is read
                    name = "%s %d %s %s %s" % (dtype, n, batch, triangle, layout)
                    values, vectors = linalg.eigh(x, triangle)
                    show(name, vectors); dump(name + " values", values)
                    is_orthogonal(name, vectors, dtype in ("f4", "c8"))
                    mirror = np.broadcast_to(whole, vectors.shape)
                    is_solved(name, mirror, values, vectors, norm(plain(mirror)), dtype in ("f4", "c8"))
                    attempt(name + " alone", linalg.eigvalsh, x, triangle)
''')
        for name in ("eigh", "eigvalsh"):
            self.assert_on_device(result, name)

    def test_eigenvalues(self):
        result = self.judge('''
for dtype in dtypes:
    for n in (1, 2, 19):
        for batch in batches:
            a = make(batch + (n, n), dtype)
            for layout, x in layouts(a):
                name = "%s %d %s %s" % (dtype, n, batch, layout)
                values, vectors = linalg.eig(x)
                show(name, values, vectors)
                is_solved(name, x, values, vectors, norm(plain(x)) * norm(plain(vectors)), dtype in ("f4", "c8"))
                alone = linalg.eigvals(x)
                show(name + " alone", alone)
                apart = np.abs(plain(values[..., None]) - plain(alone[..., None, :])).min(-1)
                holds(name + " both", apart[..., None], 100 * norm(plain(x)), n, dtype in ("f4", "c8"))
attempt("real", linalg.eig, np.diag(np.arange(1.0, 5))); attempt("turn", lambda: linalg.eigvals(np.array([[0.0, 1], [-1, 0]])))
''')
        for name in ("eig", "eigvals"):
            self.assert_on_device(result, name)

    def test_composed(self):
        self.judge('''
for dtype in dtypes:
    for m, n in ((6, 6), (23, 7), (7, 23)):
        for batch in batches[:2]:
            x = on_device(make(batch + (m, n), dtype))
            name = "%s %d %d %s " % (dtype, m, n, batch)
            attempt(name + "pinv", linalg.pinv, x); attempt(name + "rank", linalg.matrix_rank, x)
            for kind in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
                attempt(name + "norm %s" % kind, lambda: linalg.norm(x, kind, axis=None if not batch and kind is None else (-2, -1)))
            for kind in (None, 2, -2) + (("fro", 1, -1, np.inf) if m == n else ()):
                attempt(name + "cond %s" % kind, linalg.cond, x, kind)
            if not batch:
                attempt(name + "lstsq", lambda: tuple(linalg.lstsq(x, make((m, 2), dtype), rcond=None)))
            if m == n:
                for power in (-2, -1, 0, 1, 3):
                    attempt(name + "power %d" % power, linalg.matrix_power, x, power)
attempt("rank of a deficient one", linalg.matrix_rank, np.outer(np.arange(9.0), np.arange(7.0)))
attempt("hermitian pinv", lambda: linalg.pinv(np.cov(rng.uniform(size=(5, 40))), hermitian=True))
''', rtol=NEAR)

    def test_failures(self):
        result = self.judge('''
nan, inf = make((7, 7), "f8"), make((7, 7), "f8")
nan[2, 3] = np.nan; inf[4, 1] = np.inf
some = make((3, 7, 7), "f8"); some[1] = 0
for name, x in (("singular", np.ones((5, 5))), ("zero", np.zeros((4, 4))), ("one zero", np.zeros((1, 1))),
                ("negative", -np.eye(6)), ("indefinite", np.diag([1.0, 2, -3, 4])), ("nan", nan), ("inf", inf),
                ("some", some), ("complex", np.ones((5, 5), "c16")), ("single", np.zeros((6, 6), "f4")),
                ("no matrices", np.zeros((0, 4, 4))), ("empty", np.zeros((0, 0))), ("no rows", np.zeros((0, 4))),
                ("no columns", np.zeros((4, 0))), ("empty batch", np.zeros((3, 0, 0))), ("wide", np.ones((3, 5))),
                ("vector", np.ones(5)), ("scalar", np.float64(3)), ("half", np.eye(3, dtype="f2")),
                ("long", np.eye(3, dtype="g")), ("object", np.eye(3).astype(object)), ("text", np.array([["a"]])),
                ("list", [[2.0, 1], [1, 3]]), ("swapped", make((5, 5), ">f8")), ("matrix", np.matrix(make((4, 4), "f8"))),
                ("nan in f4", nan.astype("f4")), ("one", np.array([[4.0]])), ("huge", 1e200 * np.eye(5)),
                ("tiny", 1e-200 * np.eye(5))):
    x = on_device(x) if type(x) is np.ndarray and x.dtype.kind in "fc" and x.dtype.isnative and x.ndim else x
    for text in ("inv", "det", "slogdet", "cholesky", "eigvalsh", "matrix_rank", "qr", "eigh", "eig", "eigvals", "pinv", "cond"):
        def call():
            value = getattr(linalg, text)(x)
            if is_exact or text in ("inv", "det", "slogdet", "cholesky", "eigvalsh", "matrix_rank"):
                return tuple(value) if isinstance(value, tuple) else value
        attempt("%s %s" % (text, name), call)
    attempt("svd " + name, lambda: linalg.svd(x, compute_uv=False)); attempt("power " + name, linalg.matrix_power, x, -1)
    attempt("solve " + name, lambda: linalg.solve(x, x)); attempt("solve right " + name, lambda: linalg.solve(np.eye(5) * 2, x))
    attempt("vector " + name, lambda: linalg.solve(x, x[0]))
for name, a, b in (("rows", np.eye(3), np.ones((4, 2))), ("batch", np.ones((2, 3, 3)), np.ones((4, 3, 1))), ("0-d", np.eye(3), 1.0)):
    attempt("solve " + name, linalg.solve, a, b)
attempt("bad triangle", linalg.eigh, np.eye(3), "x")
''', rtol={"^(pinv|cond|power)" if shim_runner.DEVICE == "host" else "": 1e-9})
        reasons = {key for row in result.report["operations"] for key in row["reasons"]}
        self.assertIn("numerical", reasons)

    def test_error_states(self):
        self.judge('''
bad, good = on_device(np.ones((40, 40))), on_device(make((40, 40), "f8"))
for kind in ("ignore", "warn", "raise", "print"):
    with np.errstate(all=kind):
        attempt("inv " + kind, linalg.inv, bad); attempt("det " + kind, linalg.det, 1e10 * good)
        attempt("good det " + kind, linalg.det, good); attempt("good " + kind, linalg.inv, good)
        attempt("overflow " + kind, lambda: linalg.det(1e200 * good))
        attempt("underflow " + kind, lambda: linalg.det(1e-200 * good))
        attempt("cholesky " + kind, linalg.cholesky, bad - 2)
        attempt("sum " + kind, lambda: np.full(100, 1e308).cumsum()[:1])
found = []
with np.errstate(all="call", call=lambda *error: found.append(error)):
    attempt("call", lambda: linalg.det(1e200 * good))
dump("found", found)
attempt("after", lambda: np.float64(1) + 1)
''')

    def test_gufuncs(self):
        """Called as np.linalg does not."""
        result = self.judge('''
u = linalg._umath_linalg
a, b = on_device(make((12, 12), "f8")), on_device(make((12, 4), "f8"))
class Sub(np.ndarray):
    pass
for name, call in (
        ("plain", lambda: u.inv(a)), ("single", lambda: u.inv(a.astype("f4"))), ("complex", lambda: u.inv(a + 1j)),
        ("complex single", lambda: u.inv((a + 1j).astype("c8"))), ("eig of complex single", lambda: u.eigvals((a + 1j).astype("c8")).dtype),
        ("sig", lambda: u.inv(a, sig="d->d")), ("tuple", lambda: u.inv(a, signature=("d", "d"))), ("partial", lambda: u.inv(a, signature=(None, "d"))),
        ("other loop", lambda: u.inv(a.astype("f4"), signature="D->D")), ("down", lambda: u.inv(a, signature="f->f")),
        ("no loop", lambda: u.inv(a, signature="e->e")), ("dtype", lambda: u.inv(a, dtype="D")), ("int", lambda: u.inv(np.eye(4, dtype="i4"))),
        ("order", lambda: u.inv(np.stack([a, a]), order="F").strides), ("casting", lambda: u.inv(a.astype("f4"), signature="d->d", casting="no")),
        ("axes", lambda: u.inv(np.moveaxis(np.stack([a, a]), 0, -1), axes=[(0, 1), (0, 1)])), ("bad axes", lambda: u.inv(a, axes=[(0, 1)])),
        ("subclass", lambda: type(u.inv(a.view(Sub))).__name__), ("list", lambda: u.inv([[2.0, 0], [0, 4]])),
        ("few", lambda: u.solve(a)), ("many", lambda: u.inv(a, a, a)), ("where", lambda: u.inv(a, where=True)), ("matmul where", lambda: np.matmul(a, a, where=True)),
        ("add axes", lambda: np.add(a, a, axes=[(0,), (0,), (0,)])), ("add extobj", lambda: np.add(a, a, extobj=[8192, 0, None])), ("junk", lambda: u.inv(a, junk=1)),
        ("1-d", lambda: u.inv(a[0])), ("outer", lambda: u.inv.reduce(a)),
        ("names", lambda: (u.inv.__name__, u.inv.signature, u.inv.types, u.solve.nin))):
    attempt(name, call)
for name, out in (("out", on_device(np.zeros((12, 12)))), ("f out", on_device(np.zeros((12, 12))).T), ("self", a.copy()), ("bad out", np.zeros((3, 3)))):
    def call():
        value = u.inv(a, out=out)
        return value is out, value
    attempt(name, call)
same = a.copy(); attempt("in place", lambda: u.inv(same, same))
read_only = a.copy(); read_only.flags.writeable = False
attempt("read-only", lambda: u.inv(read_only))
qr_r_raw = getattr(u, "qr_r_raw", None) or u.qr_r_raw_n
raw = on_device(b); tau = qr_r_raw(raw); dump("raw", raw); dump("tau", tau)
part = on_device(make((20, 9), "f8")); dump("tau of a part", qr_r_raw(part[3:15, 2:8])); dump("the whole", part)
kept = on_device(b); sums = kept + 1; qr_r_raw(kept); dump("what was recorded before", sums); dump("kept", kept)
attempt("wide complete", lambda: u.qr_complete(on_device(b.T.copy()), np.full(12, 0.5)))
single = on_device(b.astype("f4")); attempt("raw of a single", qr_r_raw, single); dump("single as it was", single)
''', rtol={"^(single|complex single|raw of)": 2e-4, "": 1e-10} if shim_runner.DEVICE != "host" else None)
        self.assert_on_device(result, "inv")
        reasons = {key for row in result.report["operations"] if row["name"] == "qr" for key in row["reasons"]}
        self.assertIn("shape", reasons)  # of a wide matrix, which has fewer reflectors than its tau says

    def test_tall(self):
        """More rows than the square root of 2**31."""
        result = self.judge('''
a, b = on_device(rng.standard_normal((50_000, 4))), on_device(rng.standard_normal((50_000, 2)))
for rows in 9, 50_000:  # some NumPys find LAPACK's routine in the first call
    attempt("lstsq %d" % rows, linalg.lstsq, a[:rows], b[:rows], rcond=None)
attempt("values", linalg.svd, a, compute_uv=False)
u, s, v = linalg.svd(a, full_matrices=False)
q, r = linalg.qr(a)
for name, x, product in ("svd", u, (u * s) @ v), ("qr", q, q @ r):
    is_orthogonal(name, x, False)
    holds(name + " product", plain(product) - plain(a), norm(plain(a)), 4, False)
''', rtol=1e-9)
        for name in "lstsq", "svd", "qr":
            self.assert_on_device(result, name)

    def test_lstsq(self):
        result = self.judge('''
for dtype in dtypes:
    for m, n in ((1, 1), (6, 6), (23, 7), (7, 23), (60, 40), (1, 5), (5, 1)):
        a, right, vector = make((m, n), dtype), make((m, 3), dtype), make((m,), dtype)
        for layout, x in layouts(a, 1):
            name = "%s %d %d %s" % (dtype, m, n, layout)
            attempt(name, lambda: linalg.lstsq(x, vector, rcond=None))
            for other, b in layouts(right, 1):
                x_kept, b_kept = x.copy(), b.copy()
                attempt(name + " " + other, linalg.lstsq, x, b, 1e-6) if b.ndim == 2 else None
                dump("kept %s %s" % (name, other), ((x == x_kept).all(), (b == b_kept).all()))
        low = make((m, 2), dtype) @ make((2, n), dtype)
        # what is left of singular values that are only rounding differs
        attempt("%s %d %d of rank 2" % (dtype, m, n), lambda: linalg.lstsq(low, right, rcond=1e-3)[:3])
a, b = make((30, 12), "f8"), make((30, 2), "f8")
nan = a.copy(); nan[3, 4] = np.nan
for name, call in (
        ("zeros", lambda: linalg.lstsq(0 * a, b, rcond=None)), ("no rcond", lambda: linalg.lstsq(a, b)),
        ("all of the rank", lambda: linalg.lstsq(a, b, rcond=0.0)), ("negative", lambda: linalg.lstsq(a, b, rcond=-1)),
        ("none of the rank", lambda: linalg.lstsq(a, b, rcond=0.99999)), ("beyond", lambda: linalg.lstsq(a, b, rcond=2.0)),
        ("array rcond", lambda: linalg.lstsq(a, b, rcond=np.array(0.1))), ("float32 rcond", lambda: linalg.lstsq(a, b, rcond=np.float32(0.25))),
        ("int rcond", lambda: linalg.lstsq(a, b, rcond=1)), ("text rcond", lambda: linalg.lstsq(a, b, rcond="x")),
        ("mixed", lambda: linalg.lstsq(a.astype("f4"), b + 1j, rcond=None)), ("ints", lambda: linalg.lstsq(np.arange(12).reshape(4, 3) ** 2, np.arange(4), rcond=None)),
        ("no columns", lambda: linalg.lstsq(a, b[:, :0], rcond=None)), ("no rows", lambda: linalg.lstsq(a[:0], b[:0], rcond=None)),
        ("no unknowns", lambda: linalg.lstsq(a[:, :0], b, rcond=None)), ("rows", lambda: linalg.lstsq(a, b[:5], rcond=None)),
        ("batch", lambda: linalg.lstsq(np.stack([a, a]), b, rcond=None)), ("huge", lambda: linalg.lstsq(1e200 * a, b, rcond=None)),
        ("tiny", lambda: linalg.lstsq(1e-200 * a, b, rcond=None)), ("matrix", lambda: linalg.lstsq(np.matrix(a), b, rcond=None)),
        ("not writeable", lambda: tuple(part.flags.writeable for part in linalg.lstsq(a, b, rcond=None)[:2])),
        ("types", lambda: [type(part).__name__ for part in linalg.lstsq(a, b, rcond=None)])):
    attempt(name, call)
for name, x, y in (("nan", nan, b), ("nan right", a, nan[:, 4]), ("inf", np.where(nan == nan, a, np.inf), b)):
    attempt(name, lambda: [np.isnan(part).any() for part in linalg.lstsq(x, y, rcond=None)])
u = linalg._umath_linalg
plain_gufunc = getattr(u, "lstsq", None) or u.lstsq_n
for name, call in (
        ("single", lambda: plain_gufunc(a.astype("f4"), b.astype("f4"), np.float32(0.01), signature="fff->ffif")),
        ("no signature", lambda: plain_gufunc(a, b, 0.01)), ("double of a single", lambda: plain_gufunc(a.astype("f4"), b, 0.01, signature="ddd->ddid")),
        ("stack", lambda: plain_gufunc(np.stack([a, 2 * a]), b, 0.01, signature="ddd->ddid")),
        ("rconds", lambda: plain_gufunc(a, b, np.array([0.01, 0.5]), signature="ddd->ddid")),
        ("out", lambda: plain_gufunc(a, b, 0.01, np.zeros((12, 2)), signature="ddd->ddid")), ("few", lambda: plain_gufunc(a, b))):
    attempt("gufunc " + name, call)
''', device="lstsq", rtol={"^(single|gufunc single|f4|c8)": 2e-3, "": 1e-9})
        reasons = {key for row in result.report["operations"] if row["name"] == "lstsq" for key in row["reasons"]}
        self.assertTrue({"operand", "keywords"} <= reasons, reasons)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "needs SciPy")
    def test_lstsq_beside_scipys(self):
        """The host device has two LAPACKs to borrow from: NumPy's results are its own one's."""
        self.judge('''
from scipy.linalg import lstsq
a, b = make((200, 60), "f8"), make((200, 3), "f8")
attempt("first", linalg.lstsq, a, b, None); lstsq(a, b); attempt("f8 then", linalg.lstsq, a, b, None)
''', device="lstsq")

    def test_residency(self):
        """Results stay where they are made, inputs of another dtype are cast there; of least squares all but the solution is
        read by the host."""
        result = self.shim_run(PRELUDE + '''
a = on_device(make((200, 200), "f8"))
q, r = linalg.qr(a)
values = {"inv": linalg.inv(a), "solve": linalg.solve(a, a), "q": q, "u": linalg.svd(a)[0], "eigh": linalg.eigh(a)[1],
          "lstsq": linalg.lstsq(a[:, :50], a, rcond=None)[0], "f4": linalg.inv(a.astype("f4")), "int": linalg.inv(on_device(np.eye(200, dtype=int))), "cholesky": linalg.cholesky(a @ a.T)}
for name, value in values.items():
    assert residency(value) == "device", (name, residency(value))
''', args=(shim_runner.DEVICE,))
        moved = shim_runner.counter(result.report, "download_bytes")
        self.assertLess(moved, 4 * 200 * 200 * 8)

    @unittest.skipIf(shim_runner.DEVICE == "host", "the host device keeps the GIL: the loops that it borrows may call Python")
    def test_other_threads_go_on(self):
        self.shim_run(PRELUDE + '''
import threading, time
a = on_device(make((2000, 2000), "f8"))
linalg.svd(a)
ticks, ends = [], False
def tick():
    while not ends:
        time.sleep(1e-3)
        ticks.append(time.perf_counter())
thread = threading.Thread(target=tick)
thread.start()
begin = time.perf_counter()
linalg.svd(a)
end = time.perf_counter()
ends = True
thread.join()
count = sum(begin < t < end for t in ticks)
assert end - begin > 0.02 and count > (end - begin) * 200, (end - begin, count)
''', args=(shim_runner.DEVICE,))

    def test_small_calls_are_left_alone(self):
        result = self.shim_run('''
import numpy as np
a = np.eye(4)
for _ in range(50):
    np.linalg.inv(a); np.linalg.det(a); np.linalg.solve(a, a)
''', env={"GPUSHIM_MODE": "auto"})
        names = {row["name"] for row in result.report["operations"]}
        for name in ("inv", "det", "solve"):
            self.assertIn(name, names)
            self.assertEqual(shim_runner.device_calls(result.report, name), 0)


if __name__ == "__main__":
    shim_runner.main()
