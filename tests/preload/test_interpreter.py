# SPDX-License-Identifier: Apache-2.0
"""Groups in an interpreter that was compiled ahead: at once, with the results of a kernel of their own, which is compiled for
those that recur."""
import json
import os
import tempfile
import unittest

import shim_runner
from test_kernel_pack import PackCase

RECURRING = 5  # iterations of the loop in SCRIPT
SCRIPT = f"""
import numpy as np
from shim_script import dump
a = np.linspace(0.1, 3, 40_000).reshape(200, 200)
f = a.astype(np.float32)
i = np.arange(40_000).reshape(200, 200)
for turn in range({RECURRING}):
    b = np.sqrt(a * a + 1) - a / (turn + 2)
    dump("plain%d" % turn, b)
dump("select", np.where(a > 1, np.minimum(a, 2), -a))
dump("cast", (f * 2 + i).astype(np.float32))
dump("strided", a.T * a + np.abs(a[:, :1] - 1))
dump("full", np.floor(a * 7) // 3 + np.fmod(a, f))
dump("sum", (i * 2.0 + 1).sum())
dump("max", (i - 3.0).max())
c = i * 0.5
dump("stored", c)
dump("stored sum", c.sum())
dump("zeros", 1 / (a - a))
dump("int", (a * 100).astype(np.int64) * i)
"""

# Calls that run alone, in mode auto: the device is ready once a sum stays there.
ALONE = """
import time
import numpy as np
from shim_script import dump, residency
x = np.random.RandomState(3).rand(1024, 1024)
for turn in range(1000):
    y = np.sin(x)
    if residency(y) in ("plain", "device"):
        break
    time.sleep(0.01)
for turn in range(3):
    dump("moved%d" % turn, np.sqrt(np.exp(y[1:-1, turn:-1]) * 3))
"""

# The same of reductions and scans, whose input is cast or lies in steps. Their numbers are whole: sums are exact.
JOINS = ALONE.partition("for turn in range(3):")[0] + """
whole = np.floor(y * 100)
small = whole.astype(np.int8)
for turn in range(3):
    dump("mean%d" % turn, small.mean())
    dump("rows%d" % turn, small.sum(axis=0, dtype=float))
    dump("column%d" % turn, whole[:, ::3].sum(axis=1))
    dump("scan%d" % turn, small.cumsum(axis=1, dtype=float))
"""

# A group that ends in a sum whose kernel is not at hand.
GROUPS = JOINS.partition("for turn in range(3):")[0] + """
for turn in range(3):
    dump("masked%d" % turn, (small & 7).sum(dtype=float))
    dump("rows%d" % turn, (small + turn).sum(axis=0, dtype=float))
"""


class TestInterpreter(PackCase):
    kernels = ["interpreter", "sum_d_dd_", "max_d_dd", "scan_sum_float64"]

    def counters(self, **env):
        with tempfile.TemporaryDirectory() as cache:
            result = self.assert_same(SCRIPT, env={"GPUSHIM_PACK": self.pack, "GPUSHIM_CACHE_DIR": cache, **env})
        return [shim_runner.counter(result.report, key) for key in ("groups", "interpreted", "pack_hits")]

    def test_interpreted(self):
        groups, interpreted, hits = self.counters()
        self.assertGreaterEqual(interpreted, 9, groups)
        self.assertGreaterEqual(hits, 3)

    def check_alone(self, script, interpreted):
        with tempfile.TemporaryDirectory() as cache:
            result = self.assert_same(script, device=False, ulp=4, env={"GPUSHIM_MODE": "auto",
                "GPUSHIM_PACK": self.pack, "GPUSHIM_CACHE_DIR": cache, "GPUSHIM_FUSION": "0", "GPUSHIM_START_MS": "0"})
        self.assertGreaterEqual(shim_runner.counter(result.report, "interpreted"), interpreted)
        for row in result.report["operations"]:
            self.assertNotIn("not-compiled", row["reasons"], row)

    def test_alone(self):
        """A call whose kernel is being compiled runs in the interpreter meanwhile, and not on the CPU."""
        self.check_alone(ALONE, 1)

    def test_alone_joins(self):
        """A reduction or scan is one of a copy of its input meanwhile, which the interpreter makes."""
        self.check_alone(JOINS, 4)

    def test_groups_do_not_wait(self):
        """A group that the interpreter declines runs call by call: the program's thread waits for no compilation."""
        with tempfile.TemporaryDirectory() as cache:
            trace = os.path.join(cache, "trace")
            self.assert_same(GROUPS, device="sum", env={"GPUSHIM_MODE": "auto", "GPUSHIM_PACK": self.pack,
                "GPUSHIM_CACHE_DIR": cache, "GPUSHIM_START_MS": "0", "GPUSHIM_TRACE": trace})
            with open(trace, encoding="utf-8") as stream:
                events = json.load(stream)["traceEvents"]
        tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        compiled = [event for event in events if event["name"] in ("compile a kernel", "wait for a kernel or a library")]
        self.assertGreater(len(compiled), 0)
        self.assertEqual([event for event in compiled if "(thread" not in tracks[event["tid"]]], [])

    def test_no_pack(self):
        self.assertEqual(self.counters(GPUSHIM_PACK=os.path.join(self.folder, "none"))[1:], [0, 0])

    def test_not_in_background(self):
        self.assertEqual(self.counters(GPUSHIM_BACKGROUND="0")[1], 0)


if __name__ == "__main__":
    unittest.main()
