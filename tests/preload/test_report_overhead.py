# SPDX-License-Identifier: Apache-2.0
"""What a report and a profile of lines cost while the program runs, in instructions."""
import tempfile
import unittest

import call_counts

# Three arrays of 160 kB an iteration: what a line of a user's program computes.
LOOP = '''
import numpy as np
x = np.linspace(0, 1, 20000)
for k in range(%d):
    y = x * 0.5 + k
    z = np.sqrt(y)
    x = np.minimum(z, 1.0)
'''
FEW, MANY = 100, 1600
MOST = 1.05


class TestReportOverhead(call_counts.TestCase):
    def count_an_iteration(self, **env):
        few, many = (self.count_instructions(LOOP % count, GPUSHIM_DEVICE="cpu", GPUSHIM_HOST_THREADS="1", **env) for count in (FEW, MANY))
        return (many - few) / (MANY - FEW)

    def test_lines(self):
        without = self.count_an_iteration()
        with tempfile.TemporaryDirectory() as folder:
            reported = self.count_an_iteration(GPUSHIM_REPORT="json:%s/report.json,lines" % folder)
        self.assertLess(reported, MOST * without)


if __name__ == "__main__":
    unittest.main()
