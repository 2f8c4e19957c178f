# SPDX-License-Identifier: Apache-2.0
"""The CuPy paper's Table 1 program, unchanged: right answers bit for bit, and on the device."""
import unittest

import shim_runner

PROGRAM = '''
import hashlib, sys
import numpy as xp
from shim_script import dump, residency, report

def program(size):
    return xp.arange(size).reshape(1000, -1).T * 2

moved = report()["counters"]["upload_bytes"] if report() else 0  # NumPy's own checks at import
mode, sizes = sys.argv[1], [int(s) for s in sys.argv[2].split(",")]
for size in sizes:
    for repeat in range(2):
        result = program(size)
        if residency(result) != "plain":
            assert mode == "auto" or residency(result) == "device", residency(result)
        if mode == "force" and repeat == 1 and report():
            assert report()["counters"]["upload_bytes"] == moved
    if size <= 10 ** 5:
        dump(str(size), result)
    dump("layout %d" % size, [result.shape, result.strides, str(result.dtype), result.flags.f_contiguous])
    dump("digest %d" % size, hashlib.sha256(xp.ascontiguousarray(result.T)).hexdigest())
    dump("sum %d" % size, int(result.sum()))
    assert result[-1, -1] == 2 * (size - 1) and result[0, 0] == 0
'''


class TestTable1(shim_runner.TestCase):
    def test_force(self):
        result = self.assert_same(PROGRAM, args=["force", "1000,3000,10000,77000,100000,1000000,10000000"],
                                  device="multiply", same_stderr=True)
        self.assert_on_device(result, "arange")

    def test_auto(self):
        self.assert_same(PROGRAM, args=["auto", "10000,100000,1000000"], device=False,
                         env={"GPUSHIM_MODE": "auto"}, same_stderr=True)


if __name__ == "__main__":
    unittest.main()
