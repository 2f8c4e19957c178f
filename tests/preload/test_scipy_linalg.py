# SPDX-License-Identifier: Apache-2.0
"""scipy.linalg.solve and inv against plain SciPy: numbers near SciPy's, dtypes, shapes, memory layouts, warnings and
exceptions as they are. Skipped where SciPy does not compute them in its module _batched_linalg (before 1.17)."""
import importlib.util
import unittest

import shim_runner

PRELUDE = '''
import warnings
import numpy as np
import scipy.linalg as sl
from shim_script import attempt, dump, on_device, report, residency, well_conditioned
rng = np.random.default_rng(31)

def make(shape, dtype="f8"):
    return well_conditioned(rng, shape, dtype)

def layouts(a):
    yield "host", a
    yield "c", on_device(a)
    yield "f", on_device(np.ascontiguousarray(a.T)).T
    wide = np.zeros(tuple(2 * n for n in a.shape), a.dtype)
    wide[tuple(slice(None, None, 2) for _ in a.shape)] = a
    yield "step", on_device(wide)[tuple(slice(None, None, 2) for _ in a.shape)]
    flip = tuple(slice(None, None, -1) for _ in a.shape)
    yield "flip", on_device(np.ascontiguousarray(a[flip]))[flip]

def both(name, a, b, **options):
    attempt(name + " solve", sl.solve, a, b, **options)
    attempt(name + " inv", sl.inv, a)

def warned(name, function):
    """What it warns of, but for the number, whose last digits differ from run to run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    dump(name, [str(each.message).split(" rcond")[0] for each in caught])

def twos(n):
    """Pivots of 1, norm n, its inverse's norm 2 ** (n - 1)."""
    return 2 * np.eye(n) - np.triu(np.ones((n, n)))
'''
NEAR = {"^f2|^f4|^c8": 2e-4, "": 1e-9}
SIGNATURES = "ff->f dd->d FF->F DD->D".split()


def has_module():
    try:
        return importlib.util.find_spec("scipy.linalg._batched_linalg") is not None
    except ImportError:
        return False


@unittest.skipUnless(has_module(), "there is no scipy.linalg._batched_linalg")
class TestScipyLinalg(shim_runner.TestCase):
    def judge(self, script, device=("scipy.linalg.solve", "scipy.linalg.inv"), **options):
        options.setdefault("env", {"GPUSHIM_ARENA_MIN": "1"})
        result = self.assert_same(PRELUDE + script, rtol=NEAR, atol=NEAR, device=False, **options)
        for name in device:
            self.assert_on_device(result, name)
        return result

    def test_dtypes_and_layouts(self):
        result = self.judge('''
for dtype in ("f4", "f8", "c8", "c16"):
    for n in (2, 3, 5, 40, 130):
        right, vector = make((n, 4), dtype), make((n,), dtype)
        for layout, a in layouts(make((n, n), dtype)):
            both("%s %d %s" % (dtype, n, layout), a, right)
            attempt("%s %d %s vector" % (dtype, n, layout), sl.solve, a, vector)
            attempt("%s %d %s general" % (dtype, n, layout), sl.solve, a, right, assume_a="gen")
            attempt("%s %d %s transposed" % (dtype, n, layout), sl.solve, a, right, transposed=True)
            for other, b in layouts(right):
                attempt("%s %d %s right %s" % (dtype, n, layout, other), sl.solve, a, b)
''')
        for signature in SIGNATURES:
            calls = sum(row["device_calls"] for row in result.report["operations"]
                        if (row["name"], row["signature"]) == ("scipy.linalg.solve", signature))
            self.assertGreater(calls, 50, signature)

    def test_structures(self):
        """What a caller names, and what SciPy finds: the fast ways stay SciPy's."""
        result = self.judge('''
n = 30
for dtype in ("f8", "c16"):
    a, b = make((n, n), dtype), make((n, 2), dtype)
    definite = a @ a.conj().T
    for name, m in (("lower", np.tril(a)), ("upper", np.triu(a)), ("diagonal", np.diag(np.diag(a))),
                    ("tridiagonal", np.triu(np.tril(a, 1), -1)), ("banded", np.triu(np.tril(a, 2), -1)), ("definite", definite),
                    ("indefinite", definite - 9 * np.eye(n)), ("symmetric", a + a.T)):
        both("%s %s" % (dtype, name), on_device(m), b)
        for assume in ("gen", "sym", "her", "pos", "upper triangular", "lower triangular", "diagonal", "tridiagonal", "nonsense"):
            attempt("%s %s as %s" % (dtype, name, assume), sl.solve, on_device(m), b, assume_a=assume)
    for lower in (False, True):
        attempt("%s pos %s" % (dtype, lower), sl.solve, on_device(definite), b, assume_a="pos", lower=lower)
''')
        reasons = [row["reasons"] for row in result.report["operations"] if row["name"].startswith("scipy.linalg")]
        self.assertEqual(set().union(*reasons), {"numerical"})

    def test_conditions(self):
        """Warnings and errors are SciPy's own, also where no pivot is small."""
        self.judge('''
for dtype, sizes in (("f4", (12, 16, 20, 30)), ("f8", (30, 43, 50, 60)), ("c16", (43, 60))):
    for n in sizes:
        for name, a in (("upper", twos(n)), ("lower", twos(n).T), ("turned", np.roll(twos(n), n // 2, axis=1))):
            for assume in (None, "gen"):
                attempt("%s %d %s %s" % (dtype, n, name, assume), sl.solve, on_device(a.astype(dtype)), np.ones(n, dtype), assume_a=assume)
            attempt("%s %d %s inv" % (dtype, n, name), lambda: sl.inv(on_device(a.astype(dtype))).dtype)
for n in (5, 13):
    for assume in (None, "gen"):
        attempt("hilbert %d %s" % (n, assume), lambda: sl.solve(on_device(sl.hilbert(n)), np.ones(n), assume_a=assume).shape)
        for name, value in (("nan", np.nan), ("inf", np.inf)):
            a = make((n, n)); a[1, 2] = value
            attempt("%s %d %s" % (name, n, assume), sl.solve, on_device(a), np.ones(n), assume_a=assume)
            attempt("%s %d %s unchecked" % (name, n, assume), sl.solve, on_device(a), np.ones(n), assume_a=assume, check_finite=False)
        a = make((n, n)); a[:, 2] = a[:, 1]
        attempt("singular %d %s" % (n, assume), sl.solve, on_device(a), np.ones(n), assume_a=assume)
        attempt("zeros %d %s" % (n, assume), sl.solve, on_device(np.zeros((n, n))), np.ones(n), assume_a=assume)
    attempt("singular inv %d" % n, sl.inv, on_device(a))
''')

    def test_norms(self):
        """SciPy's condition number is of the infinity norm of the matrix and the 1-norm of its inverse."""
        self.judge('''
for n, large in ((400, 1e7), (40, 1e6), (40, 3e6), (40, 1e7)):
    row = np.eye(n); row[0, 1:] += large
    column = np.eye(n); column[1:, 0] += large
    for name, a in (("row", row), ("column", column)):
        a = a + 1e-10 * rng.standard_normal((n, n))
        for assume in (None, "gen"):
            for turned in (False, True):
                warned("%s %d %g %s %s" % (name, n, large, assume, turned),
                       lambda: sl.solve(on_device(a), np.ones(n), assume_a=assume, transposed=turned))
        warned("%s %d %g inv" % (name, n, large), lambda: sl.inv(on_device(a)))
''')

    def test_inverses_of_symmetric_matrices(self):
        self.judge('''
for dtype in ("f4", "f8", "c8", "c16"):
    for n in (2, 3, 40):
        a = make((n, n), dtype)
        for name, m in (("symmetric", a + a.T), ("hermitian", a + a.conj().T), ("definite", a + a.conj().T + 4 * np.sqrt(n) * np.eye(n, dtype=dtype)), ("tridiagonal", np.triu(np.tril(a, 1), -1)),
                        ("indefinite", a + a.conj().T - 4 * np.sqrt(n) * np.eye(n, dtype=dtype))):
            m = on_device(m.astype(dtype))
            x = attempt("%s %d %s" % (dtype, n, name), sl.inv, m)
            dump("%s %d %s: is" % (dtype, n, name), (sl.issymmetric(m), sl.issymmetric(x), sl.ishermitian(m), sl.ishermitian(x)))
''', device=("scipy.linalg.inv",))

    def test_left_to_the_module(self):
        """Its calls of LAPACK may still go to the device."""
        self.judge('''
a, b = make((2, 100, 100)), make((2, 100, 3))
attempt("batch", sl.solve, on_device(a), b); attempt("batch inv", sl.inv, on_device(a))
x = np.asfortranarray(a[0]); attempt("over", sl.solve, x, b[0], overwrite_a=True)
m = on_device(a[0] @ a[0].T); attempt("definite", sl.solve, m, b[0], assume_a="pos")
''', device="dgetrf dgetrs dgetri dpotrf dpotrs".split())

    def test_other_arguments(self):
        self.judge('''
a, b = on_device(make((20, 20))), make((20, 3))
attempt("stays", lambda: (sl.solve(a, b), a, b))
for dtype in ("i4", "i8", "?", "f2", "g", "u1", "O", ">f8"):
    attempt(dtype, sl.solve, (np.tri(6) + np.tri(6).T).astype(dtype), np.arange(6).astype(dtype)); attempt(dtype + " inv", sl.inv, on_device(np.tri(6)).astype(dtype))
attempt("mixed", sl.solve, a.astype("f4"), b); attempt("mixed complex", sl.solve, a, b + 1j); attempt("list", sl.solve, [[1.0, 2], [3, 5]], [1, 2])
attempt("batch", sl.solve, on_device(make((3, 9, 9))), make((3, 9, 2))); attempt("broadcast", sl.solve, on_device(make((9, 9))), make((3, 9, 2)))
attempt("batch inv", sl.inv, on_device(make((3, 9, 9)))); attempt("not square", sl.solve, on_device(make((3, 4))), np.ones(3))
attempt("shapes", sl.solve, a, np.ones(7)); attempt("empty", sl.solve, a[:0, :0], np.ones(0)); attempt("no columns", sl.solve, a, np.ones((20, 0)))
attempt("one", sl.solve, np.array([[2.0]]), np.array([3.0])); attempt("one inv", sl.inv, np.array([[2.0]])); attempt("subclass", sl.solve, np.asmatrix(a), b)
for order in "CF":
    x, y = np.array(make((20, 20)), order=order), np.array(b, order=order)
    z = attempt("overwritten b " + order, sl.solve, x, y, overwrite_b=True); dump("is y " + order, np.shares_memory(z, y))
    attempt("overwritten a " + order, lambda: (sl.solve(x, b, overwrite_a=True), x))
    x = np.array(make((20, 20)), order=order)
    z = attempt("inverted in place " + order, sl.inv, x, overwrite_a=True); dump("is x " + order, np.shares_memory(z, x))
module = sl._basic._batched_linalg
for i, arguments in enumerate(((), (a,), (a, b), (a, b, 0), (a, b, 0, False, False), (a, b, "x", 0, 0, 0, 0), (a, b, 0, 0, 0, 0, 0), (a, b, 0, 0, 0, 0, 0, 0), (a, b, 77, 0, 0, 0, 0), (a, 3, 0, 0, 0, 0, 0), (a, b[0], 0, 0, 0, 0, 0))):
    attempt("call of solve %d" % i, module._solve, *arguments)
for i, arguments in enumerate(((a, 0, False, False), (a, -1, 0, 0), (b, 0, False, False), (a[0], 0, False, False))):
    attempt("call of inv %d" % i, module._inv, *arguments)
attempt("keywords", module._solve, a, b, structure=0)
''')

    def test_results_stay(self):
        result = self.judge('''
a = on_device(make((200, 200)))
x = sl.inv(a)
dump("at", residency(x) in ("plain", "device"))
dump("back", (abs(a @ x - np.eye(200)) < 1e-12).all())
''', device=("scipy.linalg.inv",), env={})
        self.assertEqual(len(result.values), 2)


if __name__ == "__main__":
    shim_runner.main()
