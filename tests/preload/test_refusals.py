# SPDX-License-Identifier: Apache-2.0
"""A program whose matrices are mostly none for the routine does not have each of them looked at twice."""
import unittest

import shim_runner

# The device is started and cholesky loaded by what it can do; then the same calls on what it cannot.
SCRIPT = """
import time
import numpy as np
def works(a):
    try:
        return np.linalg.cholesky(a)[0, 0] > 0
    except np.linalg.LinAlgError:
        return False
good = np.random.default_rng(0).standard_normal((600, 600))
good = good @ good.T + np.eye(600)
end = time.monotonic() + 2
while time.monotonic() < end:
    works(good)
bad = -good
print(sum(works(bad) for _ in range(200)), works(good), works(bad))
"""
AUTO = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "OPENBLAS_NUM_THREADS": "1"}


class TestRefusals(shim_runner.TestCase):
    def test_most_of_a_series_are_left_to_the_cpu(self):
        result = self.shim_run(SCRIPT, env=AUTO)
        self.assertEqual(result.stdout, "0 True False\n")
        row, = [row for row in result.report["operations"] if row["name"] == "cholesky"]
        self.assertGreater(row["device_calls"], 0)
        self.assertIn(row["reasons"].get("numerical", 0), range(1, 9))  # after each, one call, two, four, ... are left
        self.assertGreater(row["reasons"].get("refused-lately", 0), 150)


if __name__ == "__main__":
    unittest.main()
