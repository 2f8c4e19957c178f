# SPDX-License-Identifier: Apache-2.0
"""Each operation of io_operations.py with its memory in arrays, in each state that an array can be in: as without gpushim."""
import os
import unittest

import shim_runner

SCRIPT = os.path.join(shim_runner.HERE, "io_operations.py")
SETTINGS = {"GPUSHIM_ARENA_MIN": "1", "GPUSHIM_FEED_MS": "0"}


class TestIoMatrix(shim_runner.TestCase):
    def test_operations(self):
        plain, shimmed = shim_runner.run(SCRIPT, shim=False), shim_runner.run(SCRIPT, env=SETTINGS)
        for result in (plain, shimmed):
            self.assertEqual(result.returncode, 0, "in %s: %r" % (result.stdout.split("\n")[-2:], result))
        failed = {name: record for name, record in plain.values.items() if record[0] == "exception"}
        self.assertEqual(failed, {}, "operations that fail in both runs test nothing")
        self.assertGreater(len(plain.values), 4 * 120)
        differ = {name: (record, shimmed.values.get(name)) for name, record in plain.values.items()
                  if record != shimmed.values.get(name)}
        self.assertEqual(differ, {}, "%d of %d differ: %s" % (len(differ), len(plain.values), ", ".join(differ)))


if __name__ == "__main__":
    unittest.main()
