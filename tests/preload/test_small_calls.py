# SPDX-License-Identifier: Apache-2.0
"""Calls on few elements are left to NumPy after a look at their operands' sizes, whatever stands beside the arrays; those without a
device that are too short for several threads, before they are priced. valgrind counts the calls."""
import unittest

import call_counts

CALLS = 400
FEW_ELEMENTS = '''
import numpy as np
x, pairs = np.arange(10.0), np.ones((5, 2))
z = x * 1j
for i in range(%d):
    z * 2j; x - (1 + 2j); pairs - [1, 2.5]; np.maximum([1, 0] * 5, x); x + (1, 2) * 5
    np.add(x, x, dtype=np.float64); np.subtract(x, 1, casting="unsafe"); np.add(x, True, dtype=x.dtype)
    if np.__version__ >= "2.3":
        np.add(x, x, out=...); np.add(x, x, dtype=type(x.dtype))
''' % CALLS
NO_SIZE_KNOWN = '''
import numpy as np
x = np.arange(3.0)
for i in range(%d):
    x + [x, x]
''' % CALLS
ONE_ROW = '''
import numpy as np
n = 17000
x, y, rows, whole = np.ones(n), np.ones(n), np.ones((130, 131)), np.ones((3, n))
for i in range(%d):
    x + y; np.subtract(x, 2.0, out=y); rows * rows; np.negative(rows); x > 0; x.any(); (x > 0).all(); np.add.reduce(x)
''' % CALLS
ROWS = '''
import numpy as np
wide = np.ones((130, 262))
rows = wide[:, ::2]
for i in range(%d):
    rows + rows
''' % CALLS
BROADCAST = '''
import numpy as np
points = np.ones((6000, 3))
centre = points[0].copy()
for i in range(%d):
    points - centre
''' % CALLS


class TestSmallCalls(call_counts.TestCase):
    def test_few_elements(self):
        counts = self.count_calls(FEW_ELEMENTS)
        self.assertGreaterEqual(counts.get("elementwise_hook", 0), 8 * CALLS, counts)
        self.assertLess(counts.get("call_described", 0), CALLS // 2)

    def test_no_size_is_known(self):
        self.assertGreaterEqual(self.count_calls(NO_SIZE_KNOWN).get("call_described", 0), CALLS)

    def test_one_row(self):
        counts = self.count_calls(ONE_ROW, GPUSHIM_DEVICE="cpu", GPUSHIM_HOST_THREADS="2")
        self.assertGreaterEqual(counts.get("call_described", 0), 5 * CALLS, counts)
        for name in "gsh_numpy_elementwise_try", "gsh_numpy_parallel_run", "gsh_numpy_reduction_fill", "gsh_coherence_fetch":
            self.assertLess(counts.get(name, 0), CALLS // 2, name)

    def test_rows(self):
        counts = self.count_calls(ROWS, GPUSHIM_DEVICE="cpu", GPUSHIM_HOST_THREADS="2")
        self.assertGreaterEqual(counts.get("gsh_numpy_elementwise_try", 0), CALLS, counts)

    def test_broadcast(self):
        """Too short for several threads; one copies the broadcast operand in less time than NumPy's iterator."""
        counts = self.count_calls(BROADCAST, GPUSHIM_DEVICE="cpu", GPUSHIM_HOST_THREADS="2")
        self.assertGreaterEqual(counts.get("gsh_numpy_parallel_buffered_compute", 0), CALLS, counts)
        self.assertLess(counts.get("gsh_host_threads_try", 0), CALLS // 2)


if __name__ == "__main__":
    unittest.main()
