# SPDX-License-Identifier: Apache-2.0
"""Loops: which calls run as one kernel depends on the program, not on the time at which the timer comes round. The kernels
that a loop needs are few, and the same with and without pauses.
"""
import os
import re
import tempfile
import unittest

import shim_runner

HEAD = """
import random, sys, time
import numpy as np
from shim_script import dump, on_device, synchronize
pauses = random.Random(int(sys.argv[1])) if sys.argv[1] != "none" else None
def pause():
    if pauses and pauses.random() < 0.01:
        time.sleep(pauses.random() * 0.05)
r = np.random.default_rng(21)
"""

HEAT = HEAD + """
u = on_device(r.random((200, 200))); synchronize()
for turn in range(1000):
    t = u[2:, 1:-1] + u[:-2, 1:-1]
    pause()
    t = t + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    pause()
    u[1:-1, 1:-1] += 0.1 * t
    pause()
dump("heat", u)
"""

# A tridiagonal solver along the last axis.
COLUMNS = HEAD + """
n, k = 60, 200
a, b, c, d = (on_device(r.random((n, n, k)) + s) for s in (0, 3, 0, 0)); synchronize()
for _ in range(2):
    cp, dp, x = np.zeros_like(c), np.zeros_like(d), np.empty_like(d)
    cp[:, :, 0] = c[:, :, 0] / b[:, :, 0]
    dp[:, :, 0] = d[:, :, 0] / b[:, :, 0]
    for i in range(1, k):
        m = 1.0 / (b[:, :, i] - a[:, :, i] * cp[:, :, i - 1])
        pause()
        cp[:, :, i] = c[:, :, i] * m
        dp[:, :, i] = (d[:, :, i] - a[:, :, i] * dp[:, :, i - 1]) * m
        pause()
    x[:, :, -1] = dp[:, :, -1]
    for i in range(k - 2, -1, -1):
        x[:, :, i] = dp[:, :, i] - cp[:, :, i] * x[:, :, i + 1]
        pause()
    d = d + 0.1 * x
dump("columns", d)
"""

# A recursive filter along the rows of an image.
FILTER = HEAD + """
a = on_device(r.random((1000, 700))); synchronize()
y, z = np.empty_like(a), np.empty_like(a)
y[:, 0] = a[:, 0]
y[:, 1] = 0.3 * a[:, 1] + 0.7 * y[:, 0]
for j in range(2, a.shape[1]):
    y[:, j] = 0.2 * a[:, j] + 0.1 * a[:, j - 1] + 0.9 * y[:, j - 1] - 0.2 * y[:, j - 2]
    pause()
z[:, -1] = 0
for j in range(a.shape[1] - 2, -1, -1):
    z[:, j] = 0.15 * a[:, j + 1] + 0.8 * z[:, j + 1]
    pause()
dump("filter", y + z)
"""

# Each call has other offsets, the last ones also other constants: the kernel is the same.
OFFSETS = HEAD + """
a = on_device(r.random((300, 400))); synchronize()
b = np.empty_like(a)
for k in range(1, 50):
    b[:, k] = (a[:, k] * 0.5 + a[:, k - 1]) * (k + 0.25)
    synchronize()
dump("offsets", b[:, 1:50].copy())
"""


def keys(folder):
    """Of the kernels whose text was written to the folder."""
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            yield stream.readline().strip()


class TestLoops(shim_runner.TestCase):
    def run_loop(self, script, pauses, **env):
        """The result, the keys of the groups' kernels (on the host device there are none), and the groups' operations."""
        with tempfile.TemporaryDirectory(prefix="shim-kernels-") as folder:
            result = self.assert_same(script, args=(pauses,), rtol={"": 1e-12}, env=dict(
                {"GPUSHIM_FUSION": "1", "GPUSHIM_FEED_MS": "10", "GPUSHIM_BACKGROUND": "0",
                 "GPUSHIM_DUMP": folder, "GPUSHIM_LOG": "graph"}, **env))
            groups = re.findall(r"graph:   (?:group|alone): (.*)", result.stderr)
            return result, {key for key in keys(folder) if "group" in key}, set(groups)

    def check(self, script, most_kernels, most_launches):
        result, *ran = self.run_loop(script, "none")
        self.assertLessEqual(len(ran[0]), most_kernels)
        self.assertLess(shim_runner.counter(result.report, "launches"), most_launches)
        for pauses in "1", "2":
            self.assertEqual(self.run_loop(script, pauses)[1:], tuple(ran))

    def test_heat(self):
        self.check(HEAT, 6, 2300)

    def test_columns(self):
        self.check(COLUMNS, 14, 400)

    def test_filter(self):
        self.check(FILTER, 14, 500)

    def test_offsets(self):
        _, kernels, _ = self.run_loop(OFFSETS, "none")
        self.assertLessEqual(len(kernels), 1)

    def test_without_timer(self):
        self.assertEqual(self.run_loop(HEAT, "none", GPUSHIM_FEED_MS="0")[1:], self.run_loop(HEAT, "none")[1:])


if __name__ == "__main__":
    unittest.main()
