# SPDX-License-Identifier: Apache-2.0
"""A GPU that is slower than the one that rates were measured on gets no work that the CPU does faster."""
import unittest

import shim_runner

SCRIPT = """
import time
import numpy as np
a = np.random.default_rng(0).standard_normal((600, 600))
end = time.monotonic() + 5
while time.monotonic() < end:
    product = a @ a
    product[0, 0]  # waits
print(np.allclose(product[0], (a[0][:, None] * a).sum(0)))
"""
AUTO = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"}


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, whose speed can be chosen")
class TestSlowGpu(shim_runner.TestCase):
    def products(self, **env):
        result = self.shim_run(SCRIPT, env=dict(AUTO, **env))
        self.assertEqual(result.stdout, "True\n")
        return shim_runner.device_calls(result.report, "matmul")

    def test_fast(self):
        self.assertGreater(self.products(), 0)
        self.assertGreater(self.products(EMULATED_CLOCK="80000000"), 0)

    def test_slow(self):
        # a product is priced at half a second there, which no CPU takes
        self.assertEqual(self.products(EMULATED_CLOCK="2000"), 0)


if __name__ == "__main__":
    unittest.main()
