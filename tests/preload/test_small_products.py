# SPDX-License-Identifier: Apache-2.0
"""Products of a few thousand multiplications are left to NumPy and BLAS after a look at their sizes: the hooks enter none of the
functions that look at anything else. valgrind counts the calls."""
import unittest

import call_counts

SCRIPT = '''
import numpy as np
x, square = np.arange(10.0), np.arange(16.0).reshape(4, 4)
long, rows = np.arange(2000.0), np.arange(4000.0).reshape(2, 2000)
for i in range(%d):
    square @ square; square @ square[0]; np.dot(square, square); x.dot(x); np.inner(x, x); np.vdot(x, x)
    long @ long; long.dot(long); np.inner(long, long); rows @ long; np.dot(rows, long)
'''
CALLS = 400
# Functions that are not inlined, each behind the look at the sizes.
LATER = ("look_at_product", "call_described", "call_by_vector", "call_by_tuple", "gsh_blas_entry_launch", "look_closer",
         "gsh_numpy_method_patch_is_worth", "gsh_dispatch_is_live")


class TestSmallProducts(call_counts.TestCase):
    def test_sizes_first(self):
        counts = self.count_calls(SCRIPT % CALLS)
        self.assertGreaterEqual(counts.get("gsh_numpy_method_patch_fastcall", 0), 2 * CALLS, counts)
        self.assertGreaterEqual(counts.get("gsh_blas_entry_route", 0), 2 * CALLS)
        for name in LATER:
            self.assertLess(counts.get(name, 0), CALLS // 2, name)


if __name__ == "__main__":
    unittest.main()
