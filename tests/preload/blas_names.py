# SPDX-License-Identifier: Apache-2.0
"""What test_blas_forms.py and test_blas_vectors.py share: routines of BLAS by name beside the library's own ones, and through
scipy.linalg.blas with and without the shim."""
import importlib.util
import unittest

from shim_runner import device_calls

HEAD = """
    import itertools, os
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of many small calls
    import numpy as np, numpy.linalg
    import lapack_calls
    try:
        import scipy.linalg
    except ImportError:
        pass
    rng = np.random.default_rng(7)
    failed, calls = [], 0
    def whole(c, *shape):
        a = rng.integers(-5, 5, shape)
        return (a + 1j * rng.integers(-5, 5, shape) if c.is_complex else a).astype(c.dtype)
    """


class NamesTestCase:
    """The mixin of a test case that has two scripts, `names`, which begins with HEAD, and `through_scipy`, and
    `routines`, which both call."""

    def check_calls(self, result):
        for name in self.routines:
            self.assertGreater(device_calls(result.report, name), 0, name)

    def test_names(self):
        """The script finds no difference, with the shim and without."""
        result = self.assert_same(self.names, env={"GPUSHIM_ARENA_MIN": "1"}, device=False, timeout=300)
        self.assertIn("all as the original", result.stdout)
        self.check_calls(result)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "SciPy is not installed")
    def test_scipy(self):
        for env in ({"GPUSHIM_ARENA_MIN": "1"}, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                self.check_calls(self.assert_same(self.through_scipy, env=env, device=False))
