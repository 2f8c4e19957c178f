# SPDX-License-Identifier: Apache-2.0
"""?syrk, ?herk, ?syr2k, ?her2k, ?symm, ?hemm and ?trmm: by name beside the library's own ones, in all types and of integers of
either width; and through scipy.linalg.blas with and without the shim. All numbers are small and whole: results are exact."""
from blas_names import HEAD, NamesTestCase
from shim_runner import TestCase, main

NAMES = HEAD + """
    def holed(c, order, triangle, diagonal="N"):
        # NaN where nobody may look.
        a = whole(c, order, order)
        a[np.tril_indices(order, -1) if triangle == "U" else np.triu_indices(order, 1)] = np.nan
        if diagonal == "U":
            np.fill_diagonal(a, np.nan)
        return a
    def check(c, routine, make, *what):
        global calls
        mine, own = c.both(routine, make)
        calls += 1
        mine, own = ([x.values for x in arguments if isinstance(x, lapack_calls.Matrix)] for arguments in (mine, own))
        if not all(np.array_equal(x, y, equal_nan=True) for x, y in zip(mine, own)):
            failed.append((c.letter, c.kind, c.library.prefix, routine, *what))
    def factors(c, *pairs):
        return [(np.array(x, c.dtype), np.array(y, c.dtype)) for x, y in pairs if c.is_complex or not isinstance(x, complex)]
    def updates(c):
        n, k = 20, 15
        for hermitian, triangle, turned in itertools.product({False, c.is_complex}, "UL", (False, True)):
            trans = "N" if not turned else "C" if hermitian else "T"
            a, b, new = whole(c, *((k, n) if turned else (n, k))), whole(c, *((k, n) if turned else (n, k))), whole(c, n, n)
            for alpha, beta in factors(c, (1, 0), (-2, 1), (1, 2), (1 - 2j, 2 + 1j), (0, 3)):
                update, two = ("herk", "her2k") if hermitian else ("syrk", "syr2k")
                if hermitian:
                    beta = beta.real.astype(c.real)
                old = lambda: c.matrix(np.full((n, n), np.nan) if beta == 0 else new)
                check(c, update, lambda: [triangle, trans, n, k, alpha.real.astype(c.real) if hermitian else alpha,
                                          A := c.matrix(a), A.leading, beta, C := old(), C.leading], triangle, trans, alpha, beta)
                check(c, two, lambda: [triangle, trans, n, k, alpha, A := c.matrix(a), A.leading, B := c.matrix(b), B.leading,
                                       beta, C := old(), C.leading], triangle, trans, alpha, beta)
        for triangle, n, k in (("u", 1, 5), ("l", 5, 1), ("U", 0, 3), ("L", 3, 0)):
            a = whole(c, n, k)
            check(c, "syrk", lambda: [triangle, "n", n, k, np.array(2, c.dtype), A := c.matrix(a), A.leading,
                                      np.array(1, c.dtype), C := c.matrix(np.ones((n, n))), C.leading], triangle, n, k)
    def products(c):
        m, n = 18, 13
        for side, triangle in itertools.product("LR", "UL"):
            order = m if side == "L" else n
            b, new = whole(c, m, n), whole(c, m, n)
            for routine in ("symm", "hemm") if c.is_complex else ("symm",):
                a = holed(c, order, triangle)
                for alpha, beta in factors(c, (1, 0), (-2, 1), (1 - 2j, 2 + 1j), (0, 2)):
                    check(c, routine, lambda: [side, triangle, m, n, alpha, A := c.matrix(a), A.leading, B := c.matrix(b),
                                               B.leading, beta, C := c.matrix(new if beta != 0 else new * np.nan), C.leading],
                          side, triangle, alpha, beta)
            for trans, diagonal in itertools.product("NTC", "NU"):
                a = holed(c, order, triangle, diagonal)
                for alpha, _ in factors(c, (1, 0), (-3, 0), (1 - 2j, 0), (0, 0)):
                    check(c, "trmm", lambda: [side, triangle, trans, diagonal, m, n, alpha, A := c.matrix(a), A.leading,
                                              B := c.matrix(b), B.leading], side, triangle, trans, diagonal, alpha)
    for library, letter, kind in itertools.product(lapack_calls.libraries(), "sdcz", ("numpy", "malloc")):
        caller = lapack_calls.Caller(library, letter, kind)
        updates(caller)
        products(caller)
    print(calls > 0 and (failed[:10] or "all as the original"))
    """

SCIPY = """
    import itertools
    import numpy as np, scipy.linalg.blas
    import shim_script
    rng = np.random.default_rng(5)
    dtypes, numbers = dict(zip("sdcz", "fdFD")), itertools.count()
    for letter, dtype in dtypes.items():
        def whole(*shape):
            a = rng.integers(-9, 9, shape)
            return (a + 1j * rng.integers(-9, 9, shape) if letter in "cz" else a).astype(dtype)
        def dump(name, *arguments, **options):
            result = getattr(scipy.linalg.blas, letter + name)(*arguments, **options)
            shim_script.dump("%s%s %d" % (letter, name, next(numbers)), result + 0)  # no -0
        alpha, beta = (2 - 1j, 1 + 3j) if letter in "cz" else (2, 3)
        a, b = whole(60, 80), whole(60, 80)
        square, big, wide = whole(60, 60), whole(80, 80), whole(200, 200)
        for lower, trans in itertools.product((0, 1), (0, 1)):
            order = 80 if trans else 60
            c = np.asfortranarray(big if trans else square)
            dump("syrk", alpha, a, lower=lower, trans=trans)
            dump("syrk", alpha, wide[20:80, 10:90], beta=beta, c=c, lower=lower, trans=trans)
            dump("syr2k", alpha, a, b, beta=beta, c=c, lower=lower, trans=trans)
            if letter in "cz":
                dump("herk", 2, a, beta=3, c=c, lower=lower, trans=2 * trans)
                dump("her2k", alpha, a, b, lower=lower, trans=2 * trans)
        for lower, side in itertools.product((0, 1), (0, 1)):
            factor = big if side else square
            for name in ("symm", "hemm") if letter in "cz" else ("symm",):
                dump(name, alpha, factor, a, beta=beta, c=np.asfortranarray(b), lower=lower, side=side)
            for trans, diag in itertools.product((0, 1, 2), (0, 1)):
                dump("trmm", alpha, factor, a, side=side, lower=lower, trans_a=trans, diag=diag)
    """
REAL, COMPLEX = "syrk syr2k symm trmm", "herk her2k hemm"
ROUTINES = [letter + name for letter in "sdcz" for name in (REAL + " " + COMPLEX if letter in "cz" else REAL).split()]


class TestBlasForms(NamesTestCase, TestCase):
    names, through_scipy, routines = NAMES, SCIPY, ROUTINES


if __name__ == "__main__":
    main()
