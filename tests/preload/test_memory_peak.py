# SPDX-License-Identifier: Apache-2.0
"""How much device memory a long chain of calls takes: what its arrays need that somebody can still see, not its length.
Measured in arrays, of which memory_peak.py has one."""
import os
import re
import unittest

import shim_runner

PROGRAM = os.path.join(shim_runner.HERE, "memory_peak.py")
MIB = 2
ARRAY = MIB << 20
# What each chain may have taken, in arrays, and a quarter: the errors to look for, rows, and the like.
NEEDED = {"in_place": 1, "needless": 1, "arithmetic": 2, "reductions": 2, "unseen": 2, "casts": 2.5, "choices": 3,
          "waves": 3, "views": 3, "slices": 3, "kept": 3}
SMALL_CHANGE = 0.25
TOLERANCE = {"": 1e-12}


class TestMemoryPeak(shim_runner.TestCase):
    def run_chains(self, **env):
        """The shim's result, and {chain: arrays of device memory taken by then}."""
        env = dict({"GPUSHIM_FUSION": "1", "GPUSHIM_FEED_MS": "0", "GPUSHIM_BACKGROUND": "0"}, **env)
        result = self.assert_same(PROGRAM, env=env, args=(str(MIB), "1000"), rtol=TOLERANCE)
        peaks = {name: float(arrays) for name, arrays in re.findall(r"^peak (\w+) ([\d.]+)$", result.stderr, re.M)}
        self.assertEqual(sorted(peaks), sorted(NEEDED))
        return result, peaks

    def test_only_what_can_be_seen_is_kept(self):
        result, peaks = self.run_chains()
        self.assertEqual({}, {name: peak for name, peak in peaks.items() if peak > NEEDED[name] + SMALL_CHANGE})
        self.assertGreater(shim_runner.counter(result.report, "grouped"), 8000)
        self.assertEqual(shim_runner.counter(result.report, "evictions"), 0)

    def test_whenever_calls_run(self):
        _, peaks = self.run_chains(GPUSHIM_FEED_MS="1")
        self.assertLess(max(peaks.values()), 4, peaks)

    def test_recorded_calls_run_before_anything_is_evicted(self):
        result, _ = self.run_chains(GPUSHIM_MEM_LIMIT=str(6 * ARRAY))
        self.assertEqual(shim_runner.counter(result.report, "evictions"), 0)

    def test_less_memory_than_needed(self):
        result, peaks = self.run_chains(GPUSHIM_MEM_LIMIT=str(5 * ARRAY // 2))
        self.assertLessEqual(max(peaks.values()), 2.5)
        self.assertGreater(shim_runner.counter(result.report, "evictions"), 0)


if __name__ == "__main__":
    unittest.main()
