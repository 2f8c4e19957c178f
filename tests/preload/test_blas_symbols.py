# SPDX-License-Identifier: Apache-2.0
"""The exported BLAS names, reached by NumPy's own code through whichever name mangling its wheel or package uses: matmul
with axes= is not for the hooks, and calls ?gemm."""
import importlib.util
import unittest

from shim_runner import TestCase, device_calls, main

SCRIPT = """
    import numpy as np
    import shim_script
    rng = np.random.default_rng(5)
    def inner(a, b):
        return np.matmul(a, b, axes=[(0, 1), (1, 0), (0, 1)])
    for dtype in "fd":
        a = rng.integers(-9, 9, (70, 90)).astype(dtype)
        b = rng.integers(-9, 9, (80, 90)).astype(dtype)
        shim_script.dump("inner " + dtype, inner(a, b))
        shim_script.dump("transposed " + dtype, inner(a[:50].T, b[:50].T))
        shim_script.dump("small " + dtype, inner(a[:2, :3], b[:4, :3]))
        shim_script.dump("tensordot " + dtype, np.tensordot(a.reshape(7, 10, 90), b, (2, 1)))
    """


FORTRAN = """
    import numpy as np, scipy.linalg
    import shim_script
    rng = np.random.default_rng(5)
    factors = ((1, 0), (1, 1), (-2, 3), (0, 1)), ((1, 0), (1, 1), (-2, 3j), (2 - 1j, 0), (0, 1j))
    for dtype in "fdFD":
        def integers(*shape):
            a = rng.integers(-9, 9, shape)
            return np.asfortranarray((a + 1j * rng.integers(-9, 9, shape) if dtype in "FD" else a).astype(dtype))
        gemm, = scipy.linalg.get_blas_funcs(("gemm",), dtype=dtype)
        for trans_a in range(3):
            for trans_b in range(3):
                a, b, c = integers(*((90, 70) if trans_a else (70, 90))), integers(*((80, 90) if trans_b else (90, 80))), \
                          integers(70, 80)
                for alpha, beta in factors[dtype in "FD"]:
                    shim_script.dump("%s %d%d %s %s" % (dtype, trans_a, trans_b, alpha, beta),
                                     gemm(alpha, a, b, beta=beta, c=c, trans_a=trans_a, trans_b=trans_b) + 0)  # no -0
    """
HAS_SCIPY = importlib.util.find_spec("scipy") is not None


class TestBlasSymbols(TestCase):
    def test_taken(self):
        """In NumPy's memory and in malloc's."""
        for env in ({"GPUSHIM_ARENA_MIN": "4096"}, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                result = self.assert_same(SCRIPT, env=env, device=False)
                for name in ("cblas_sgemm", "cblas_dgemm"):
                    self.assertGreater(device_calls(result.report, name), 0, name)

    def test_passed_on(self):
        """Switched off: the original, found without a word."""
        for env in ({"GPUSHIM_MODE": "off"}, {"GPUSHIM_DEVICE": "none"}):
            with self.subTest(env):
                result = self.assert_same(SCRIPT, env=env, device=False, same_stderr=True)
                if result.report is not None:
                    self.assertEqual(device_calls(result.report, "cblas_dgemm"), 0)

    @unittest.skipUnless(HAS_SCIPY, "SciPy is not installed")
    def test_fortran(self):
        result = self.assert_same(FORTRAN, env={"GPUSHIM_ARENA_MIN": "4096"}, device=False)
        for name, calls in (("sgemm", 27), ("dgemm", 27), ("cgemm", 36), ("zgemm", 36)):
            self.assertEqual(device_calls(result.report, name), calls, name)


if __name__ == "__main__":
    main()
