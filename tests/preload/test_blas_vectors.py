# SPDX-License-Identifier: Apache-2.0
"""?gemv, ?ger, ?geru and ?gerc: by name beside the library's own ones, in all types, of integers of either width and of steps
in either direction; and through scipy.linalg.blas with and without the shim. All numbers are small and whole: results are exact."""
from blas_names import HEAD, NamesTestCase
from shim_runner import TestCase, main

NAMES = HEAD + """
    def spread(c, length, step, values=None):
        # A vector whose elements are so far apart, with NaN between them.
        vector = c.vector(max(1, length * abs(step)))
        vector.values[:] = np.nan
        vector.values[:length * abs(step):abs(step)] = whole(c, length) if values is None else values
        return vector
    def check(c, routine, make, *what):
        global calls
        state = rng.bit_generator.state
        def again():
            rng.bit_generator.state = state
            return make()
        mine, own = c.both(routine, again)
        calls += 1
        mine, own = ([x.values for x in arguments if hasattr(x, "values")] for arguments in (mine, own))
        if not all(np.array_equal(x, y, equal_nan=True) for x, y in zip(mine, own)):
            failed.append((c.letter, c.kind, c.library.prefix, routine, *what))
    def number(c, value):
        return np.array(value if c.is_complex else np.real(value), c.dtype)
    def gemv(c, trans, m, n, incx, incy, alpha, beta):
        columns, rows = (n, m) if trans in "Nn" else (m, n)
        check(c, "gemv", lambda: [trans, m, n, number(c, alpha), A := c.matrix(whole(c, m, n)), A.leading,
                                  spread(c, columns, incx), incx, number(c, beta),
                                  spread(c, rows, incy, np.nan if beta == 0 else None), incy],
              trans, m, n, incx, incy, alpha, beta)
    def ger(c, name, m, n, incx, incy, alpha):
        check(c, name, lambda: [m, n, number(c, alpha), spread(c, m, incx), incx, spread(c, n, incy), incy,
                                A := c.matrix(whole(c, m, n)), A.leading], m, n, incx, incy, alpha)
    for library, letter, kind in itertools.product(lapack_calls.libraries(), "sdcz", ("numpy", "malloc")):
        c = lapack_calls.Caller(library, letter, kind)
        for trans, incx, incy in itertools.product("NTCt", (1, 3, -2), (1, 2, -1)):
            for alpha, beta in ((1, 0), (-2, 1), (1 - 2j, 2 + 1j), (0, 3)):
                gemv(c, trans, 20, 15, incx, incy, alpha, beta)
        for m, n in ((1, 9), (9, 1), (1, 1), (0, 4), (4, 0)):
            for trans in "NT":
                gemv(c, trans, m, n, 2, -2, 3, 2)
        for name in ("geru", "gerc") if c.is_complex else ("ger",):
            for incx, incy, alpha in itertools.product((1, 3, -2), (1, 2, -1), (1, 2 - 1j, 0)):
                ger(c, name, 20, 15, incx, incy, alpha)
            for m, n in ((1, 9), (9, 1), (1, 1), (0, 4), (4, 0)):
                ger(c, name, m, n, 2, -2, 3)
    print(calls > 0 and (failed[:10] or "all as the original"))
    """

SCIPY = """
    import itertools
    import numpy as np, scipy.linalg.blas
    import shim_script
    rng = np.random.default_rng(5)
    for letter, dtype in zip("sdcz", "fdFD"):
        def whole(*shape):
            a = rng.integers(-9, 9, shape)
            return np.asfortranarray((a + 1j * rng.integers(-9, 9, shape) if letter in "cz" else a).astype(dtype))
        blas = lambda name: getattr(scipy.linalg.blas, letter + name)
        alpha, beta = (2 - 1j, 1 + 3j) if letter in "cz" else (2, 3)
        a, x, y = whole(60, 80), whole(200), whole(200)
        for trans in range(3):
            columns, rows = (60, 80) if trans else (80, 60)
            shim_script.dump("%sgemv %d" % (letter, trans), blas("gemv")(alpha, a, x[:columns], trans=trans) + 0)  # no -0
            shim_script.dump("%sgemv %d steps" % (letter, trans),
                             blas("gemv")(alpha, a, x, beta=beta, y=y, offx=3, incx=2, offy=5, incy=2, trans=trans) + 0)
        for name in ("geru", "gerc") if letter in "cz" else ("ger",):
            shim_script.dump(letter + name, blas(name)(alpha, x[:60], y[:80], a=a) + 0)
            shim_script.dump(letter + name + " steps", blas(name)(alpha, x[:60], y[:80], incx=-1, incy=-1, a=a) + 0)
        # The same matrix again and again.
        square = whole(60, 60)
        for step in range(5):
            x = blas("gemv")(1, square, x[:60])
            x = (x.real % 5 + 1j * (x.imag % 5) if letter in "cz" else x % 5).astype(dtype)
            x[step] = step  # by the host
        shim_script.dump(letter + " power", x + 0)
    """
ROUTINES = "sgemv dgemv cgemv zgemv sger dger cgeru cgerc zgeru zgerc".split()


class TestBlasVectors(NamesTestCase, TestCase):
    names, through_scipy, routines = NAMES, SCIPY, ROUTINES


if __name__ == "__main__":
    main()
