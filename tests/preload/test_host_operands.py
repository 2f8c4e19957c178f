# SPDX-License-Identifier: Apache-2.0
"""A function that is composed of others, with operands on the host: its calls on the CPU are measured, and later ones send the
operands to the device where the whole pays for that. Calls that the composition declines stay on the CPU."""
import unittest

import shim_runner

PREPARE = """
import time
import numpy as np
from shim_script import dump, gpushim, residency
values = np.random.default_rng(5).integers(0, 8, 500_000).astype(float).tolist()  # their sums are exact
def is_sent():
    x = np.array(values)  # it has never been on the device
    results.append(np.correlate(x, np.ones(31)))
    assert np.array_equal(results[-1], results[0])
    return residency(x) not in ("host", "plain")
deadline = time.monotonic() + (60 if gpushim() else 0)
results, sent = [], []
"""
SENT = PREPARE + """
while not any(sent) and time.monotonic() < deadline:
    sent.append(is_sent())
is_sent()
dump("sums", results[-1])
print(*sent[:1], *sent[-1:])
"""
DECLINED = PREPARE + """
values[0] = np.inf
while not any(sent) and time.monotonic() < deadline:
    sent.append(is_sent())
print(sum(is_sent() for _ in range(16)))
dump("sums", results[-1])
"""
TABLE = """
import ctypes
import numpy as np
from shim_script import dump, gpushim, residency
table = np.arange(256.0) * 2
index = np.random.default_rng(5).integers(0, 256, 500_000)
if gpushim():
    gpushim().gpushim_prefetch(ctypes.c_void_p(index.ctypes.data), ctypes.c_size_t(index.nbytes))
found = table.take(index)
print(residency(found))
dump("found", found)
"""
AUTO = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"}


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, which is priced as an H200")
class TestHostOperands(shim_runner.TestCase):
    def run_both(self, script):
        """What the script prints with gpushim."""
        shim, plain = self.shim_run(script, env=AUTO), shim_runner.run_plain(script)
        self.assert_equal_values(shim, plain)
        return shim.stdout.split()

    def test_the_whole_pays(self):
        self.assertEqual(self.run_both(SENT), ["False", "True"])

    def test_declined(self):
        """After each refusal twice as many calls are left to the CPU."""
        self.assertIn(int(self.run_both(DECLINED)[0]), (3, 4))

    def test_table_on_the_host(self):
        """It is smaller than its index, which is on the device."""
        self.assertEqual(self.run_both(TABLE), ["device"])


if __name__ == "__main__":
    unittest.main()
