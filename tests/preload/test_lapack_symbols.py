# SPDX-License-Identifier: Apache-2.0
"""The exported names of LAPACK: SciPy's functions with and without the shim; and each routine by its name, in all types, with
odd arguments, beside the library's own one: info, pivots, ranks, workspaces, bytes between columns."""
import ast
import importlib.metadata
import importlib.util
import re
import unittest

from shim_runner import DEVICE, TestCase, device_calls, main

ALL_ARENA = {"GPUSHIM_ARENA_MIN": "1"}
HEAD = """
    import itertools, sys
    import numpy as np, numpy.linalg
    import lapack_calls, shim_script
    try:
        import scipy.linalg
    except ImportError:
        pass
    rng = np.random.default_rng(7)
    failed = []
    def check(what, holds):
        if not holds:
            failed.append(what)
    def numbers(caller, *shape):
        a = rng.standard_normal(shape)
        return (a + 1j * rng.standard_normal(shape) if caller.is_complex else a).astype(caller.dtype)
    def callers():
        libraries = lapack_calls.libraries()
        assert libraries
        for library, letter, kind in itertools.product(libraries, "sdcz", ("numpy", "malloc")):
            yield lapack_calls.Caller(library, letter, kind)
    def values(arguments, *which):
        return [arguments[k].values.copy() for k in which]
    """
TAIL = """
    print("\\n".join(failed[:100]) or "all as the original")
    """

SOLVERS = HEAD + """
    def solvers(c):
        name = "%s %s %s " % (c.letter, c.kind, c.library.integer)
        n, r = 30, 4
        a, b = numbers(c, n, n), numbers(c, n, r)
        definite = (a @ a.conj().T + n * np.eye(n)).astype(c.dtype)
        singular = a.copy()
        singular[:, 5] = 0
        for m, k in ((30, 30), (40, 30), (30, 40), (1, 1)):
            wide = numbers(c, m, k)
            mine, own = c.both("getrf", lambda: [m, k, A := c.matrix(wide), A.leading, c.integers(min(m, k)), c.integers(1)])
            check(name + "getrf %d %d" % (m, k), mine[5].values[0] == own[5].values[0] == 0 and
                  (mine[4].values == own[4].values).all() and c.near(mine[2].values, own[2].values))
        mine, own = c.both("getrf", lambda: [n, n, A := c.matrix(singular), A.leading, c.integers(n), c.integers(1)])
        check(name + "getrf singular", mine[5].values[0] == own[5].values[0] > 0 and (mine[4].values == own[4].values).all()
              and (mine[2].values == own[2].values).all())
        lu, pivots = c.both("getrf", lambda: [n, n, A := c.matrix(a), A.leading, c.integers(n), c.integers(1)])[1][2:5:2]
        def pivoted():
            p = c.integers(n)
            p.values[:] = pivots.values
            return p
        for letter in "NTCtx":
            if letter == "x" and c.library.stops:
                continue
            mine, own = c.both("getrs", lambda: [letter, n, r, A := c.matrix(lu.values), A.leading, pivoted(),
                                                 B := c.matrix(b), B.leading, c.integers(1)])
            check(name + "getrs " + letter, mine[8].values[0] == own[8].values[0] and c.near(mine[6].values, own[6].values))
        for system in (a, singular):
            mine, own = c.both("gesv", lambda: [n, r, A := c.matrix(system), A.leading, c.integers(n), B := c.matrix(b),
                                                B.leading, c.integers(1)])
            check(name + "gesv", mine[7].values[0] == own[7].values[0] and (mine[4].values == own[4].values).all() and
                  c.near(mine[2].values, own[2].values) and c.near(mine[5].values, own[5].values))
        for letter in "ULu":
            triangle = np.triu if letter in "Uu" else np.tril
            for system in (definite, -definite):
                mine, own = c.both("potrf", lambda: [letter, n, A := c.matrix(system), A.leading, c.integers(1)])
                same = mine[4].values[0] == own[4].values[0]
                check(name + "potrf " + letter, same and c.near(triangle(mine[2].values), triangle(own[2].values)) and
                      (mine[2].values - triangle(mine[2].values) == system - triangle(system)).all())
                mine, own = c.both("posv", lambda: [letter, n, r, A := c.matrix(system), A.leading, B := c.matrix(b),
                                                    B.leading, c.integers(1)])
                check(name + "posv " + letter, mine[7].values[0] == own[7].values[0] and
                      c.near(mine[5].values, own[5].values) and c.near(triangle(mine[3].values), triangle(own[3].values)))
            factor = c.both("potrf", lambda: [letter, n, A := c.matrix(definite), A.leading, c.integers(1)])[1][2].values
            mine, own = c.both("potrs", lambda: [letter, n, r, A := c.matrix(factor), A.leading, B := c.matrix(b), B.leading,
                                                 c.integers(1)])
            check(name + "potrs " + letter, mine[7].values[0] == own[7].values[0] == 0 and
                  c.near(mine[5].values, own[5].values))
        factor = (a / n + 2 * np.eye(n)).astype(c.dtype)
        for letters in itertools.product("UL", "NTC", "NU"):
            for hole in (False, True):
                system = factor.copy()
                if hole:
                    system[3, 3] = 0
                mine, own = c.both("trtrs", lambda: [*letters, n, r, A := c.matrix(system), A.leading, B := c.matrix(b),
                                                     B.leading, c.integers(1)])
                check(name + "trtrs %s %s" % (letters, hole), mine[9].values[0] == own[9].values[0] and
                      c.near(mine[7].values, own[7].values))
            for side, alpha in itertools.product("LR", (1, -2)):
                right = b if side == "L" else b.T
                make = lambda: [side, *letters, *right.shape, np.array(alpha, c.dtype), A := c.matrix(factor), A.leading,
                                B := c.matrix(right), B.leading]
                mine, own = c.both("trsm", make)
                check(name + "trsm %s %s %s" % (side, letters, alpha), c.near(mine[9].values, own[9].values))
        for m, k in ((0, n), (n, 0)):
            mine, own = c.both("getrf", lambda: [m, k, A := c.matrix(a), A.leading, c.integers(n), c.integers(1)])
            check(name + "getrf empty", mine[5].values[0] == own[5].values[0] == 0)
        if not c.library.stops:
            mine, own = c.both("getrf", lambda: [n, n, c.matrix(a), n - 1, c.integers(n), c.integers(1)])
            check(name + "getrf lda", mine[5].values[0] == own[5].values[0] == -4)
            mine, own = c.both("potrf", lambda: ["X", n, c.matrix(a), n, c.integers(1)])
            check(name + "potrf uplo", mine[4].values[0] == own[4].values[0] == -1)
    for c in callers():
        solvers(c)
    """ + TAIL

INVERSES = HEAD + """
    def from_lu(c, name, n, length, hole=False):
        a = numbers(c, n, n) + n * np.eye(n, dtype=c.dtype)
        lu, pivots = c.both("getrf", lambda: [n, n, A := c.matrix(a), A.leading, c.integers(n), c.integers(1)])[1][2:5:2]
        if hole:
            lu.values[n // 2, n // 2] = 0
        def make():
            p = c.integers(n)
            p.values[:] = pivots.values
            return [n, A := c.matrix(lu.values), A.leading, p, c.vector(max(length, 1)), length, c.integers(1)]
        mine, own = c.both("getri", make)
        check(name + "info", mine[6].values[0] == own[6].values[0] and (own[6].values[0] > 0) == hole)
        check(name + "values", c.near(mine[1].values, own[1].values))
        check(name + "pivots", (mine[3].values == own[3].values).all())
        if length == -1:
            check(name + "query", mine[4].values[0] == own[4].values[0])
        elif not hole:
            check(name + "length", mine[4].values[0].real >= 1)
    def in_place(c, name, routine, letters, stored, is_read):
        # The bytes that the routine does not read are NaN, and stay.
        n = len(stored)
        given = np.where(is_read, stored, np.nan).astype(c.dtype)
        mine, own = c.both(routine, lambda: [*letters, n, A := c.matrix(given), A.leading, c.integers(1)])
        at = len(letters) + 1
        check(name + "info", mine[at + 2].values[0] == own[at + 2].values[0])
        x, y = mine[at].values, own[at].values
        check(name + "untouched", np.isnan(x[~is_read]).all() and np.isnan(y[~is_read]).all())
        check(name + "values", c.near(x[is_read], y[is_read]) if not np.isnan(y[is_read]).any() else
              (np.isnan(x) == np.isnan(y)).all())
        return mine[at + 2].values[0]
    def triangles(c, name, n):
        a = numbers(c, n, n)
        rows, columns = np.indices((n, n))
        for triangle in "ULu":
            side = rows <= columns if triangle in "Uu" else rows >= columns
            factor = (a / n + 2 * np.eye(n)).astype(c.dtype)
            if triangle in "UL":
                factor[range(n), range(n)] = factor.diagonal().real  # as Cholesky factors are
            check(name + "potri good", in_place(c, name + "potri " + triangle, "potri", triangle, factor, side) == 0)
            for diagonal in "NU":
                inner = side if diagonal == "N" else side & (rows != columns)
                text = name + "trtri %s%s " % (triangle, diagonal)
                check(text + "good", in_place(c, text, "trtri", triangle + diagonal, factor, inner) == 0)
            hole, bad = factor.copy(), factor.copy()
            hole[n // 2, n // 2] = 0
            bad[0 if triangle in "Uu" else n - 1, n // 2] = np.nan
            for routine, letters in (("potri", triangle), ("trtri", triangle + "N")):
                check(name + "hole", in_place(c, name + routine + " hole ", routine, letters, hole, side) == n // 2 + 1)
                in_place(c, name + routine + " nan ", routine, letters, bad, side)
    for c in callers():
        name = "%s %s %s " % (c.letter, c.kind, c.library.integer)
        for n in (1, 30):
            for length in (64 * n, n, -1):
                from_lu(c, name + "getri %d %d " % (n, length), n, length)
            from_lu(c, name + "getri hole %d " % n, n, n, True)
            triangles(c, name + "%d " % n, n)
    """ + TAIL

INDEFINITE = HEAD + """
    def is_factor(c, triangle, a, factors, pivots):
        # Which pivots are taken is each library's choice: what LAPACK makes of the factors solves A X = I.
        n = len(a)
        if not ((1 <= abs(pivots)) & (abs(pivots) <= n)).all():
            return False
        p = c.integers(n)
        p.values[:] = pivots
        A, X = c.matrix(factors), c.matrix(np.eye(n))
        c.call(c.library.functions(c.letter + "sytrs")[1], [triangle, n, n, A, A.leading, p, X, X.leading, c.integers(1)])
        norm = np.linalg.norm
        return bool(norm(a @ X.values - np.eye(n)) <= 50 * c.eps * norm(a) * norm(X.values))
    def factor(c, name, triangle, given, is_read, length):
        n = len(given)
        mine, own = c.both("sytrf", lambda: [triangle, n, A := c.matrix(given), A.leading, c.integers(n),
                                             c.vector(max(length, 1)), length, c.integers(1)])
        x, y = mine[2].values, own[2].values
        check(name + "info", mine[7].values[0] == own[7].values[0])
        check(name + "untouched", (x[~is_read] == given[~is_read]).all())
        if length == -1:
            check(name + "query", mine[5].values[0] == own[5].values[0] and (x == given).all())
        elif own[7].values[0] != 0:
            check(name + "left", (x == y).all() and (mine[4].values == own[4].values).all())
        else:
            check(name + "values", is_factor(c, triangle, np.where(is_read, given, given.T), x, mine[4].values))
        return own
    def solve(c, name, triangle, factors, pivots, is_read):
        n, b = len(factors), numbers(c, len(factors), 3)
        def pivoted():
            p = c.integers(n)
            p.values[:] = pivots
            return p
        mine, own = c.both("sytrs", lambda: [triangle, n, 3, A := c.matrix(factors), A.leading, pivoted(), B := c.matrix(b),
                                             B.leading, c.integers(1)])
        x, y = mine[6].values, own[6].values
        check(name + "sytrs", mine[8].values[0] == own[8].values[0] == 0 and (mine[3].values == factors).all() and
              ((np.isfinite(x) == np.isfinite(y)).all() if not np.isfinite(y).all() else c.near(x, y)))
        mine, own = c.both("sytri", lambda: [triangle, n, A := c.matrix(factors), A.leading, pivoted(), c.vector(n),
                                             c.integers(1)])
        x, y = mine[2].values, own[2].values
        check(name + "sytri", mine[6].values[0] == own[6].values[0] and c.near(x[is_read], y[is_read]) and
              (x[~is_read] == factors[~is_read]).all())
        return mine[6].values[0]
    def symmetric(c, name, n, triangle):
        rows, columns = np.indices((n, n))
        is_read = rows <= columns if triangle in "Uu" else rows >= columns
        a = numbers(c, n, n)
        a = (a + a.T).astype(c.dtype)
        a[range(0, n, 2), range(0, n, 2)] = 0 if n > 1 else 3
        given = np.where(is_read, a, 5).astype(c.dtype)
        for length in (64 * n, 1, -1):
            own = factor(c, name + "sytrf %d " % length, triangle, given, is_read, length)
            if length > 1:
                factors, pivots = own[2].values, own[4].values
                check(name + "blocks", (pivots < 0).any() or n == 1)
                check(name + "good", solve(c, name, triangle, factors, pivots, is_read) == 0)
        hole = np.eye(n, dtype=c.dtype) * np.where(np.arange(n) == n // 2, 0, 1)
        own = factor(c, name + "hole ", triangle, hole, is_read, 64 * n)
        check(name + "singular", own[7].values[0] == n // 2 + 1)
        check(name + "hole", solve(c, name + "hole ", triangle, hole, np.arange(n) + 1, is_read) == n // 2 + 1)
        bad = given.copy()
        bad[n // 2, n // 2] = np.nan
        mine, own = c.both("sytrf", lambda: [triangle, n, A := c.matrix(bad), A.leading, c.integers(n), c.vector(64 * n),
                                             64 * n, c.integers(1)])
        check(name + "nan", mine[7].values[0] == own[7].values[0] and
              (np.isnan(mine[2].values) == np.isnan(own[2].values)).all())
    for c in callers():
        for n, triangle in itertools.product((1, 30), "ULl"):
            symmetric(c, "%s %s %s %d %s " % (c.letter, c.kind, c.library.integer, n, triangle), n, triangle)
    """ + TAIL

SINGULAR = HEAD + """
    device = "%s"
    """ % DEVICE + """
    import collections
    taken = collections.Counter()
    def product(u, s, vt):
        return (u[:, :len(s)] * s) @ vt[:len(s)]
    def is_orthogonal(c, q):
        return c.near(q.conj().T @ q, np.eye(q.shape[1]))
    def svd(c, name, routine, jobs, m, n, short=False):
        # With the workspace that the original asks for; or with one element.
        a = numbers(c, m, n)
        p = min(m, n)
        extra = ([c.reals(5 * p * max(m, n, 60))] if c.is_complex else []) + ([c.integers(8 * p)] if len(jobs) == 1 else [])
        def make(length):
            u, vt = c.empty(m, m), c.empty(n, n)
            return [*jobs, m, n, A := c.matrix(a), A.leading, c.reals(p), u, u.leading, vt, vt.leading,
                    c.vector(max(length, 1)), length, *extra, c.integers(1)]
        at = len(jobs) + 4
        mine, own = c.both(routine, lambda: make(-1))
        check(name + "query", mine[at + 5].values[0] == own[at + 5].values[0] and mine[-1].values[0] == own[-1].values[0] == 0)
        if short:
            mine, own = c.both(routine, lambda: make(1))
            check(name + "short", mine[-1].values[0] == own[-1].values[0])
            return
        length = int(own[at + 5].values[0].real)
        mine, own = c.both(routine, lambda: make(length))
        if set(jobs) in ({"N"}, {"S"}, {"A"}):
            taken[c.letter + routine] += 1
        check(name + "info", mine[-1].values[0] == own[-1].values[0] == 0)
        check(name + "length", mine[at + 5].values[0].real >= 1)
        check(name + "values", c.near(mine[at].values, own[at].values))
        s, u, vt = mine[at].values, mine[at + 1].values, mine[at + 3].values
        if set(jobs) <= {"S", "A"}:
            u, vt = u if jobs[0] == "A" else u[:, :p], vt if jobs[-1] == "A" else vt[:p]
            check(name + "product", c.near(product(u, s, vt), a) and is_orthogonal(c, u) and is_orthogonal(c, vt.conj().T))
        elif set(jobs) == {"N"}:
            check(name + "untouched", not u.any() and not vt.any())
    def least_squares(c, name, m, n, rcond, rank):
        a, b = numbers(c, m, rank) @ numbers(c, rank, n), numbers(c, m, 3)
        p, q = min(m, n), max(m, n)
        real = [c.reals(20000)] if c.is_complex else []
        def make(length):
            return [m, n, 3, A := c.matrix(a), A.leading, B := c.matrix(b, q), B.leading, c.reals(p),
                    np.array(rcond, c.real), c.integers(1), c.vector(20000), length, *real, c.integers(4000), c.integers(1)]
        mine, own = c.both("gelsd", lambda: make(-1))
        check(name + "query", mine[10].values[0] == own[10].values[0])
        length = int(own[10].values[0].real)
        mine, own = c.both("gelsd", lambda: make(length))
        taken[c.letter + "gelsd"] += 1
        check(name + "rank", mine[9].values[0] == own[9].values[0] == (rank if rcond < 1e-3 else mine[9].values[0]))
        check(name + "info", mine[-1].values[0] == own[-1].values[0] == 0)
        check(name + "values", c.near(mine[7].values, own[7].values))
        check(name + "solution", c.near(mine[5].values[:n], own[5].values[:n], 20000))
        if m > n and rank == n:
            squares = [(abs(x[5].values[n:]) ** 2).sum(0) for x in (mine, own)]
            check(name + "residual", c.near(*squares, 20000))
    def of_full_rank(c, name, letter, m, n, a, is_taken):
        b = numbers(c, max(m, n), 3)
        def make(length=3000):
            return [letter, m, n, 3, A := c.matrix(a), A.leading, B := c.matrix(b), B.leading, c.vector(3000), length,
                    c.integers(1)]
        mine, own = c.both("gels", lambda: make(-1))
        check(name + "query", mine[8].values[0] == own[8].values[0] and (mine[4].values == a).all())
        for length in (3000, n + max(n, 3)):
            mine, own = c.both("gels", lambda: make(length))
            taken[c.letter + "gels"] += is_taken
            check(name + "info", mine[10].values[0] == own[10].values[0])
            check(name + "length", mine[8].values[0].real >= 1 or own[10].values[0] < 0)
            check(name + "factors", c.near(mine[4].values, own[4].values, 20000))
            check(name + "solution", c.near(mine[6].values[:n], own[6].values[:n], 20000))
            squares = [(abs(x[6].values[n:]) ** 2).sum(0) for x in (mine, own)]
            check(name + "residual", c.near(*squares, 20000))
            if not is_taken:
                check(name + "left", (mine[4].values == own[4].values).all() and (mine[6].values == own[6].values).all())
        return own
    def full_rank(c, name, m, n):
        a = numbers(c, m, n)
        of_full_rank(c, name, "n" if n == 20 else "N", m, n, a, m >= n)
        of_full_rank(c, name + "adjoint ", "C" if c.is_complex else "T", m, n, a, False)
        if not c.library.stops:
            of_full_rank(c, name + "letter ", "X", m, n, a, False)
        for what, columns in (("hole", n // 2), ("zeros", slice(None)), ("nan", 0)):
            bad = a.copy()
            bad[:, columns] = 0 if what != "nan" else np.nan
            if m >= n and what != "nan":
                by_zeros = not bad.any() and device == "host"  # which asks a LAPACK: X = 0
                own = of_full_rank(c, name + what + " ", "N", m, n, bad, by_zeros)
                check(name + what + " told", own[10].values[0] == (n // 2 + 1 if what == "hole" and n > 1 else 0))
            elif m >= n:
                mine, own = c.both("gels", lambda: ["N", m, n, 3, A := c.matrix(bad), A.leading, B := c.matrix(bad[:, :1] * [1, 2, 3]),
                                                    B.leading, c.vector(3000), 3000, c.integers(1)])
                check(name + "nan", mine[10].values[0] == own[10].values[0] and
                      (np.isnan(mine[6].values) == np.isnan(own[6].values)).all())
    def orthogonal(c, name, m, n):
        a = numbers(c, m, n)
        p = min(m, n)
        mine, own = c.both("geqrf", lambda: [m, n, A := c.matrix(a), A.leading, c.vector(p), c.vector(999),
                                             999, c.integers(1)])
        check(name + "geqrf", c.near(mine[2].values, own[2].values) and c.near(mine[4].values, own[4].values) and
              mine[7].values[0] == own[7].values[0] == 0)
        raw, tau = own[2].values, own[4].values
        def reflectors():
            t = c.vector(p)
            t.values[:] = tau
            return t
        for k, columns in ((p, p), (p, m), (max(1, p - 2), p), (p, p - 1)):
            if not 0 < columns <= m or columns < k and c.library.stops:
                continue
            full = np.zeros((m, columns), c.dtype)
            full[:, :min(columns, n)] = raw[:, :min(columns, n)]
            mine, own = c.both("ungqr" if c.is_complex else "orgqr",
                               lambda: [m, columns, k, A := c.matrix(full), A.leading, reflectors(), c.vector(999), 999,
                                        c.integers(1)])
            check(name + "orgqr %d %d" % (columns, k), mine[8].values[0] == own[8].values[0] and
                  c.near(mine[3].values, own[3].values))
        for side, trans, columns in itertools.product("LRr", "NCT", (1, 5)):
            if (trans == "C") != c.is_complex and trans != "N" and c.library.stops:
                continue
            b = numbers(c, m, columns) if side == "L" else numbers(c, columns, m)
            k = p if columns == 1 else max(1, p - 2)
            for length in (999, columns, -1):
                mine, own = c.both("unmqr" if c.is_complex else "ormqr",
                                   lambda: [side, trans, *b.shape, k, A := c.matrix(raw), A.leading, reflectors(),
                                            B := c.matrix(b), B.leading, c.vector(999), length, c.integers(1)])
                check(name + "ormqr %s%s %d %d" % (side, trans, columns, length), mine[12].values[0] == own[12].values[0] and
                      c.near(mine[8].values, own[8].values) and (mine[5].values == raw).all())
                taken[c.letter + ("unmqr" if c.is_complex else "ormqr")] += int(length > 0 and own[12].values[0] == 0)
        mine, own = c.both("geqrf", lambda: [m, n, A := c.matrix(a), A.leading, c.vector(p), c.vector(999), -1, c.integers(1)])
        check(name + "query", mine[5].values[0] == own[5].values[0] and (mine[2].values == a).all())
        if not c.library.stops:
            mine, own = c.both("geqrf", lambda: [m, n, A := c.matrix(a), A.leading, c.vector(p), c.vector(999), n - 1,
                                                 c.integers(1)])
            check(name + "short", mine[7].values[0] == own[7].values[0])
    for c in callers():
        name = "%s %s %s " % (c.letter, c.kind, c.library.integer)
        for m, n in ((24, 24), (33, 20), (20, 33), (1, 1), (200, 3)):
            size = "%d %d " % (m, n)
            for job in "NSAO":
                svd(c, name + "gesdd " + job + size, "gesdd", job, m, n)
            if not c.library.stops:
                svd(c, name + "gesdd short " + size, "gesdd", "A", m, n, True)
            for jobs in ("NN", "SS", "AA", "SA", "NA"):
                svd(c, name + "gesvd " + jobs + size, "gesvd", jobs, m, n)
            orthogonal(c, name + "qr " + size, m, n)
            full_rank(c, name + "gels " + size, m, n)
            for rcond, rank in ((-1, min(m, n)), (1e-4, max(1, min(m, n) // 2)), (0.3, min(m, n))):
                least_squares(c, name + "gelsd %s%s %s " % (size, rcond, rank), m, n, rcond, rank)
    print("taken", sorted(taken.items()))
    """ + TAIL

EIGEN = HEAD + """
    def check_vectors(c, name, a, w, z):
        check(name + "vectors", c.near(a @ z, z * w) and c.near(z.conj().T @ z, np.eye(len(a))))
    def symmetric(c, name, job, triangle):
        n = 26
        a = numbers(c, n, n)
        a = (a + a.conj().T).astype(c.dtype)
        stored = (np.triu if triangle == "U" else np.tril)(a)
        prefix = "he" if c.is_complex else "sy"
        spaces = {"ev": [c.vector(999), 999] + ([c.reals(999)] if c.is_complex else []),
                  "evd": [c.vector(9999), 9999] + ([c.reals(9999), 9999] if c.is_complex else []) +
                         [c.integers(999), 999]}
        for driver, space in spaces.items():
            mine, own = c.both(prefix + driver, lambda: [job, triangle, n, A := c.matrix(stored), A.leading, c.reals(n),
                                                         *space, c.integers(1)])
            check(name + driver, mine[-1].values[0] == own[-1].values[0] == 0 and c.near(mine[5].values, own[5].values))
            if job == "V":
                check_vectors(c, name + driver, a, mine[5].values, mine[3].values)
        broken = stored.copy()
        broken[2, 1] = broken[1, 2] = np.nan
        mine, own = c.both(prefix + "ev", lambda: [job, triangle, n, A := c.matrix(broken), A.leading, c.reals(n),
                                                   *spaces["ev"], c.integers(1)])
        check(name + "ev nan", mine[-1].values[0] == own[-1].values[0] > 0)
        for kind in "AIV":
            def make(length=9999, short=999):
                z = c.empty(n, n)
                return [job, kind, triangle, n, A := c.matrix(stored), A.leading, np.array(-3, c.real),
                        np.array(4, c.real), 3, 9, np.array(0, c.real), c.integers(1), c.reals(n), z, z.leading,
                        c.integers(2 * n), c.vector(9999), length] + \\
                       ([c.reals(9999), 9999] if c.is_complex else []) + [c.integers(999), short, c.integers(1)]
            mine, own = c.both(prefix + "evr", make)
            m = own[11].values[0]
            check(name + "evr found " + kind, mine[11].values[0] == m and mine[-1].values[0] == own[-1].values[0] == 0)
            check(name + "evr values " + kind, c.near(mine[12].values[:m], own[12].values[:m]))
            if job == "V":
                z = mine[13].values[:, :m]
                check(name + "evr vectors " + kind, c.near(a @ z, z * mine[12].values[:m]))
                if kind == "A":
                    low, high = mine[15].values.reshape(n, 2).T
                    check(name + "evr support", (low >= 1).all() and (low <= high).all() and (high <= n).all())
            mine, own = c.both(prefix + "evr", lambda: make(-1, -1))
            check(name + "evr query", mine[16].values[0] == own[16].values[0] and mine[-3].values[0] == own[-3].values[0])
    def general(c, name, left, right):
        n = 25
        a = numbers(c, n, n)
        def make():
            v, u = c.empty(n, n), c.empty(n, n)
            w = [c.vector(n)] if c.is_complex else [c.reals(n), c.reals(n)]
            real = [c.reals(2 * n)] if c.is_complex else []
            return [left, right, n, A := c.matrix(a), A.leading, *w, u, u.leading, v, v.leading, c.vector(999), 999, *real,
                    c.integers(1)]
        mine, own = c.both("geev", make)
        at = 5 if c.is_complex else 6
        def together(x):
            return x[5].values if c.is_complex else x[5].values + 1j * x[6].values
        check(name + "info", mine[-1].values[0] == own[-1].values[0] == 0)
        check(name + "values", c.near(np.sort_complex(together(mine)), np.sort_complex(together(own))))
        if right == "V":
            v, w = mine[at + 3].values.astype("D"), together(mine)
            for j in np.flatnonzero(w.imag > 0) if not c.is_complex else ():
                v[:, j], v[:, j + 1] = v[:, j] + 1j * v[:, j + 1], v[:, j] - 1j * v[:, j + 1]
            check(name + "vectors", c.near(a @ v, v * w) and c.near(np.linalg.norm(v, axis=0), np.ones(n)))
    for c in callers():
        name = "%s %s %s " % (c.letter, c.kind, c.library.integer)
        for job, triangle in itertools.product("NV", "UL"):
            symmetric(c, name + job + triangle + " ", job, triangle)
        for left, right in itertools.product("NV", "NV"):
            general(c, name + "geev " + left + right + " ", left, right)
    """ + TAIL

SCIPY = """
    import sys
    import numpy as np, scipy.linalg as sl
    import shim_script
    rng = np.random.default_rng(3)
    def near(x, y, dtype):
        return bool(np.abs(x - y).max() <= 5000 * np.finfo(dtype).eps * max(1, np.abs(y).max()))
    n = int(sys.argv[1])
    def inverse(a, kind):
        try:
            return sl.inv(a, assume_a=kind)
        except TypeError:  # SciPy before 1.17
            return sl.inv(a)
    for dtype in "fdFD":
        def numbers(*shape):
            a = rng.standard_normal(shape)
            return (a + 1j * rng.standard_normal(shape) if dtype in "FD" else a).astype(dtype)
        a, b, tall = numbers(n, n) + 20 * np.eye(n, dtype=dtype), numbers(n, 6), numbers(n + n // 2, n)
        hermitian, definite = a + a.conj().T, a @ a.conj().T + n * np.eye(n, dtype=dtype)
        symmetric = numbers(n, n)
        symmetric = symmetric + symmetric.T
        factors, cholesky = sl.lu_factor(a), sl.cho_factor(definite)
        u, s, vt = sl.svd(tall, full_matrices=False)
        w, v = sl.eigh(hermitian)
        q, r = sl.qr(tall, mode="economic")
        solution, residual, rank, _ = sl.lstsq(tall, numbers(len(tall), 2))
        for name, x, y in (
                ("solve", a @ sl.solve(a, b), b), ("solve pos", definite @ sl.solve(definite, b, assume_a="pos"), b),
                ("inv", a @ sl.inv(a), np.eye(n)), ("inv pos", definite @ inverse(definite, "pos"), np.eye(n)),
                ("inv sym", symmetric @ inverse(symmetric, "sym"), np.eye(n)),
                ("solve sym", symmetric @ sl.solve(symmetric, b, assume_a="sym"), b),
                ("ldl", (ldl := sl.ldl(symmetric, hermitian=False))[0] @ ldl[1] @ ldl[0].T, symmetric),
                ("inv triangle", (t := np.triu(a)) @ inverse(t, "upper triangular"), np.eye(n)),
                ("lu_solve", a.T @ sl.lu_solve(factors, b, trans=1), b),
                ("cho_solve", definite @ sl.cho_solve(cholesky, b), b),
                ("cholesky", (c := sl.cholesky(definite, lower=True)) @ c.conj().T, definite),
                ("solve_triangular", np.triu(a) @ sl.solve_triangular(a, b), b),
                ("svd", (u * s) @ vt, tall), ("svdvals", sl.svdvals(tall), s), ("eigh", hermitian @ v, v * w),
                ("eigvalsh", sl.eigvalsh(hermitian), w), ("qr", q @ r, tall), ("orthogonal", q.conj().T @ q, np.eye(n)),
                ("qr_multiply", sl.qr_multiply(tall, tall.conj().T, "right")[0], tall.conj().T @ q),
                ("pinv", sl.pinv(tall) @ tall, np.eye(n))):
            shim_script.dump("%s %s" % (name, dtype), near(x, y, dtype))
        shim_script.dump("lstsq " + dtype, (int(rank), solution.shape, residual.shape))
        shim_script.dump("triangles " + dtype, bool((np.tril(sl.cholesky(definite), -1) == 0).all()))
        for name, bad, function in (("singular", np.zeros((n, n), dtype), lambda x: sl.solve(x, b)),
                                    ("not definite", -definite, sl.cholesky),
                                    ("nan", np.full((n, n), np.nan, dtype), lambda x: sl.lu_factor(x, check_finite=False)[0])):
            shim_script.attempt("%s %s" % (name, dtype), lambda: np.isnan(function(bad)).any())
    """
HAS_SCIPY = importlib.util.find_spec("scipy") is not None
# From SciPy 1.17 on inv takes `assume_a`, and without it is taken as a whole.
KNOWS_STRUCTURES = HAS_SCIPY and tuple(map(int, importlib.metadata.version("scipy").split(".")[:2])) >= (1, 17)
TYPES = {"r": "sd", "c": "cz", "a": "sdcz"}


def names(text):
    """"a:gesv r:syev": sgesv, ..."""
    return [letter + word[2:] for word in text.split() for letter in TYPES[word[0]]]


class TestLapackSymbols(TestCase):
    def check(self, script, taken, env=ALL_ARENA):
        """The script finds no difference, with the shim and without; these routines ran on the device."""
        result = self.assert_same(script, env=env, device=False, timeout=300)
        self.assertIn("all as the original", result.stdout)
        for name in names(taken):
            self.assertGreater(device_calls(result.report, name), 0, name)
        return result

    def test_solvers(self):
        self.check(SOLVERS, "a:getrf a:getrs a:gesv a:potrf a:potrs a:posv a:trtrs a:trsm")

    def test_inverses(self):
        self.check(INVERSES, "a:getri a:potri a:trtri")

    def test_indefinite(self):
        self.check(INDEFINITE, "a:sytrf a:sytrs a:sytri")

    def test_singular_values_and_least_squares(self):
        wide = "" if DEVICE == "host" else " a:geqrf r:orgqr c:ungqr"  # NumPy has no loops of single precision to borrow
        result = self.check(SINGULAR, "a:gesdd a:gesvd a:gels a:gelsd r:ormqr c:unmqr" + wide)
        for name in ("dgeqrf", "dorgqr", "zgeqrf", "zungqr"):
            self.assertGreater(device_calls(result.report, name), 0, name)
        for name, calls in ast.literal_eval(re.search(r"^taken (.*)$", result.stdout, re.M).group(1)):
            self.assertEqual(device_calls(result.report, name), calls, name)

    def test_eigenvalues(self):
        self.check(EIGEN, "r:syev r:syevd r:syevr c:heev c:heevd c:heevr r:geev")

    def test_passed_on(self):
        """Switched off, the entry points hand everything to the originals."""
        for env in ({"GPUSHIM_MODE": "off"}, {"GPUSHIM_DEVICE": "none"}):
            for script in (SOLVERS, INVERSES, INDEFINITE, SINGULAR, EIGEN):
                with self.subTest(env):
                    result = self.assert_same(script, env=env, device=False, same_stderr=True, timeout=300)
                    self.assertIn("all as the original", result.stdout)

    @unittest.skipUnless(HAS_SCIPY, "SciPy is not installed")
    def test_scipy(self):
        """SciPy's functions reach the device, whether their buffers are NumPy's or malloc's."""
        for env in (ALL_ARENA, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                result = self.assert_same(SCIPY, env=env, args=("60",), device=False, timeout=300)
                taken = names("a:getrf a:getrs a:potrf a:trtrs a:gesdd r:syevr c:heevr a:gelsd r:ormqr c:unmqr a:sytrf")
                if KNOWS_STRUCTURES:
                    taken += names("a:potri a:trtri a:sytri") + ["scipy.linalg.solve", "scipy.linalg.inv"]
                for name in taken:
                    self.assertGreater(device_calls(result.report, name), 0, name)

    @unittest.skipUnless(HAS_SCIPY, "SciPy is not installed")
    def test_scipy_by_price(self):
        """By the cost model small calls stay on the CPU, and are not even counted."""
        result = self.assert_same(SCIPY, env={"GPUSHIM_MODE": "auto"}, args=("60",), device=False, timeout=300)
        for name in names("a:getrf a:potrf a:gesdd"):
            self.assertEqual([row for row in result.report["operations"] if row["name"] == name], [], name)


if __name__ == "__main__":
    main()
