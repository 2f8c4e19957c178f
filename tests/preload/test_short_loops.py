# SPDX-License-Identifier: Apache-2.0
"""Reductions that are left to NumPy and run as thousands of short inner loops: the replacement of the loop is not entered, and is
there for calls that meet them. valgrind counts the calls."""
import unittest

import call_counts
import shim_runner

SUMS = '''
import numpy as np
x = np.ones((8, 3, 3, 32, 32), np.float32)
for i in range(%d):
    np.sum(x, axis=(1, 2, 3))
'''
INNER_LOOPS = 8 * 3 * 3 * 32  # of one sum

# In the callback the loop of float16 or float64 is left out. NumPy has not been asked about the first one's additions yet.
INSIDE = '''
import numpy as np
known, new = np.ones(20000), np.ones(20000, np.float16)
known + known
called = []
def callback(*_):
    with np.errstate(over="warn"):
        called.append(np.array_equal(np.add(new, new), new * 2) and np.array_equal(known + known, known * 2))
np.seterrcall(callback)
with np.errstate(over="call"):
    for dtype in np.float16, np.float64:
        huge = np.full((8, 3, 3, 32, 32), np.finfo(dtype).max, dtype)
        assert np.isinf(np.sum(huge, axis=(1, 2, 3))).all()
assert called == [True, True], called
new + new
known + known
'''


class TestCounts(call_counts.TestCase):
    def test_replacement_is_left_out(self):
        counts = self.count_calls(SUMS % 40, GPUSHIM_START_MS="1000000")
        self.assertGreaterEqual(counts.get("gsh_numpy_loops_leave_out", 0), 40, counts)
        self.assertLess(counts.get("loop_hook", 0), 10 * INNER_LOOPS)
        # What does not depend on addresses is priced once, though the array has five dimensions.
        self.assertLess(counts.get("gsh_launch_extent", 0), 2 * 40)


class TestShortLoops(shim_runner.TestCase):
    def test_calls_inside(self):
        result = shim_runner.run(INSIDE, env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1000000"})
        self.assertEqual(result.returncode, 0, result)
        adds = {row["signature"]: sum(row["reasons"].values()) for row in result.report["operations"] if row["name"] == "add"}
        self.assertEqual(adds, {"ee->e": 3, "dd->d": 4})


if __name__ == "__main__":
    unittest.main()
