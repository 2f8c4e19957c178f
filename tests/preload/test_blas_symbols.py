# SPDX-License-Identifier: Apache-2.0
"""The exported BLAS names, reached by NumPy's own code through whichever spelling its wheel or package uses: matmul
with axes= is not for the hooks, and calls ?gemm."""
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


class TestBlasSymbols(TestCase):
    def test_taken(self):
        result = self.assert_same(SCRIPT, env={"GPUSHIM_ARENA_MIN": "4096"}, device=False)
        for name in ("cblas_sgemm", "cblas_dgemm"):
            self.assertGreater(device_calls(result.report, name), 0, name)

    def test_passed_on(self):
        """Switched off, and with outputs that are not in the arena: the original, found without a word."""
        for env in ({"GPUSHIM_MODE": "off"}, {"GPUSHIM_DEVICE": "none"}, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                result = self.assert_same(SCRIPT, env=env, device=False, same_stderr=True)
                if result.report is not None:
                    self.assertEqual(device_calls(result.report, "cblas_dgemm"), 0)


if __name__ == "__main__":
    main()
