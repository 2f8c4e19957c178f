# SPDX-License-Identifier: Apache-2.0
"""A CPU that is slower than the rates say gives its calls up to the device once it has been seen to be slow."""
import unittest

import shim_runner

SCRIPT = """
import time
import numpy as np
a = np.random.default_rng(0).standard_normal((400, 400))
a += a.T
end = time.monotonic() + 5
while time.monotonic() < end:
    values, vectors = np.linalg.eigh(a)
print(np.allclose(a @ vectors, vectors * values))
"""
# Priced at 2.5 ms on sixteen cores and at 4.1 ms on an H200; one thread of BLAS takes 20 ms and more.
AUTO = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "OPENBLAS_NUM_THREADS": "1"}


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, which is priced as an H200")
class TestSlowCpu(shim_runner.TestCase):
    def test_eigh(self):
        result = self.shim_run(SCRIPT, env=AUTO)
        self.assertEqual(result.stdout, "True\n")
        self.assertGreater(shim_runner.device_calls(result.report, "eigh"), 0)


if __name__ == "__main__":
    unittest.main()
