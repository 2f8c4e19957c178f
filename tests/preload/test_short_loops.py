# SPDX-License-Identifier: Apache-2.0
"""Reductions that are left to NumPy and run as thousands of short inner loops: the replacement of the loop is not entered, and is
there for calls that meet them. valgrind counts the calls."""
import shutil
import unittest

import shim_runner
import test_small_products

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


class TestShortLoops(shim_runner.TestCase):
    @unittest.skipIf(shutil.which("valgrind") is None, "needs valgrind")
    @unittest.skipIf(shim_runner.DEVICE == "cuda", "CUDA's libraries are not run under valgrind")
    def test_replacement_is_left_out(self):
        with shim_runner.tempfile.TemporaryDirectory() as folder:
            path = folder + "/profile"
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + path,
                       "--vex-iropt-register-updates=allregs-at-mem-access", shim_runner.sys.executable, "-c", SUMS % 40]
            env = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1000000", "OPENBLAS_NUM_THREADS": "1"}
            result = shim_runner.run_command(command, env=env, report=False)
            self.assertEqual(result.returncode, 0, result)
            with open(path, encoding="utf-8") as stream:
                counts = test_small_products.count_calls(stream.read())
        self.assertGreaterEqual(counts.get("gsh_numpy_loops_leave_out", 0), 40, counts)
        self.assertLess(counts.get("loop_hook", 0), 10 * INNER_LOOPS)
        # What does not depend on addresses is priced once, though the array has five dimensions.
        self.assertLess(counts.get("gsh_launch_extent", 0), 2 * 40)

    def test_calls_inside(self):
        result = shim_runner.run(INSIDE, env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1000000"})
        self.assertEqual(result.returncode, 0, result)
        adds = {row["signature"]: sum(row["reasons"].values()) for row in result.report["operations"] if row["name"] == "add"}
        self.assertEqual(adds, {"ee->e": 3, "dd->d": 4})


if __name__ == "__main__":
    unittest.main()
