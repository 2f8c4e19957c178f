# SPDX-License-Identifier: Apache-2.0
"""Calls that read and write views of one array. Where the views share no element for different indices, the device writes in place."""
import unittest

import shim_runner

SCRIPT = '''
import numpy as np
from shim_script import dump
N = 120
def make():
    return np.arange(N * N, dtype=np.float64).reshape(N, N) % 97 + np.sqrt(np.arange(N))
def symmetric(a):
    for i in range(N):
        a[i:, i] = a[i, i:]
def rows_of_columns(a):
    for i in range(N):
        a[i, i:] = 0.5 * a[i:, i]
        a[i:, i] = a[i, i:]
def every_second(a):
    a[::2] = a[1::2]
    a[:, 1::2] *= a[:, ::2]
def planes(a):
    b = a.reshape(N, N // 4, 4)
    np.add(b[:, :, 0], b[:, :, 3], out=b[:, :, 1])
    b[:, :, 2] -= b[:, :, 1]
    np.multiply(b[:, :, 2], b[:, :, 3], out=b[:, :, 2])
def shifted(a):
    a[1:] = a[:-1]
    a[:, :-1] += a[:, 1:]
    a.ravel()[3:] -= a.ravel()[:-3]
def reversed_views(a):
    a[:] = a[::-1]
    a[5] = a[5, ::-1]
    a[:, 7] = a[::-1, 7]
def crossing(a):
    a[2::5, 0] = a[:24, 0]
    a[3] = a[:, 3]
    np.sqrt(a[4], out=a[:, 4])
    np.add(a[:, 6], a[6], out=a[6])
def between(a):
    b = a + 1
    a[9:, 9] = a[9, 9:]
    c = a[9] * 2
    a[9, 9:] = b[9:, 9]
    a[9:, 9] = a[9, 9:] + c[9:]
    a += c
    dump("c", c)
def singles(a):
    f = a.astype(np.float32)
    f.view(np.int32)[::2, 0] = f.view(np.int32)[1::2, 0] + 1
    np.copyto(f[::2], f[1::2], casting="unsafe")
    h = f.view(np.uint8)
    h[:, ::4] = h[:, 1::4]
    dump("f", f)
for work in (symmetric, rows_of_columns, every_second, planes, shifted, reversed_views, crossing, between, singles):
    a = make()
    work(a)
    dump(work.__name__, a)
'''


class TestOverlappingViews(shim_runner.TestCase):
    def test_results(self):
        for fusion in ("1", "0"):
            with self.subTest(fusion=fusion):
                self.assert_same(SCRIPT, env={"GPUSHIM_FUSION": fusion, "GPUSHIM_ARENA_MIN": "1"})

    def test_symmetric_fill_copies_no_block(self):
        result = self.shim_run(SCRIPT.split("for work in")[0] + "symmetric(make())\n", env={"GPUSHIM_ARENA_MIN": "1"})
        self.assertEqual(result.returncode, 0, repr(result))
        self.assertEqual(shim_runner.counter(result.report, "device_copy_bytes"), 0)


if __name__ == "__main__":
    unittest.main()
