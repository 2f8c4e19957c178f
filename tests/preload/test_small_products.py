# SPDX-License-Identifier: Apache-2.0
"""Products of a few thousand multiplications are left to NumPy and BLAS after a look at their sizes: the hooks enter none of the
functions that look at anything else. valgrind counts the calls."""
import re
import shutil
import unittest

import shim_runner

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


def count_calls(profile):
    """{function: how often it was called} of a file of callgrind's."""
    names, counts, callee = {}, {}, None
    for line in profile.splitlines():
        named = re.match(r"c?fn=\((\d+)\)(?: (\S+))?", line)
        if named and named.group(2):
            names[named.group(1)] = re.sub(r"\.\w+\.\d+$", "", named.group(2))
        if line.startswith("cfn="):
            callee = names[named.group(1)]
        elif line.startswith("calls="):
            counts[callee] = counts.get(callee, 0) + int(line[6:].split()[0])
    return counts


@unittest.skipIf(shutil.which("valgrind") is None, "needs valgrind")
@unittest.skipIf(shim_runner.DEVICE == "cuda", "CUDA's libraries are not run under valgrind")
class TestSmallProducts(shim_runner.TestCase):
    def count(self, calls, folder):
        path = "%s/profile.%d" % (folder, calls)
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + path,
                   "--vex-iropt-register-updates=allregs-at-mem-access", shim_runner.sys.executable, "-c", SCRIPT % calls]
        result = shim_runner.run_command(command, env={"GPUSHIM_MODE": "auto", "OPENBLAS_NUM_THREADS": "1"}, report=False)
        self.assertEqual(result.returncode, 0, result)
        with open(path, encoding="utf-8") as stream:
            return count_calls(stream.read())

    def test_sizes_first(self):
        with shim_runner.tempfile.TemporaryDirectory() as folder:
            counts = self.count(CALLS, folder)
        self.assertGreaterEqual(counts.get("gsh_numpy_method_patch_fastcall", 0), 2 * CALLS, counts)
        self.assertGreaterEqual(counts.get("gsh_blas_entry_route", 0), 2 * CALLS)
        for name in LATER:
            self.assertLess(counts.get(name, 0), CALLS // 2, name)


if __name__ == "__main__":
    unittest.main()
