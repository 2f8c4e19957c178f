# SPDX-License-Identifier: Apache-2.0
"""A series of small calls on the device, which takes longer there than on the CPU, comes home; its values are NumPy's. Calls that gain
nothing are not looked at most of the time."""
import tempfile
import unittest

import shim_runner

SCRIPT = """
import ctypes, time
import numpy as np
from shim_script import dump, gpushim, residency
a = np.linspace(0.0, 1.0, 20_000)
if gpushim():
    gpushim().gpushim_prefetch(ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes))
deadline = time.monotonic() + (60 if gpushim() else 0)
places = []
while "host" not in places[1:] and time.monotonic() < deadline:
    for _ in range(100):
        a = np.where(a > 0.5, a - 0.25, a * 2)
        b = a * 1.0
        a = b + 0.0
    places.append(residency(a))
print(*places[:1], *places[-1:])
a = np.linspace(0.0, 1.0, 20_000)
for _ in range(3000):
    a = np.where(a > 0.5, a - 0.25, a * 2)
dump("a", a)
"""
GAINLESS = """
import numpy as np
a = np.ones(17_000, np.int8)
for _ in range(20_000):
    b = np.add(a, 1)
"""
GAINING = """
import numpy as np
a = np.ones(17_000)
for _ in range(3000):
    b = np.exp(a)
"""
AUTO = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_BACKGROUND": "0"}


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, which is slower than it is priced")
class TestSmallCallTrial(shim_runner.TestCase):
    def test_series_comes_home(self):
        shim, plain = self.shim_run(SCRIPT, env=AUTO), shim_runner.run_plain(SCRIPT)
        self.assert_equal_values(shim, plain)
        self.assertEqual(shim.stdout.split(), ["device", "host"])

    def test_rests(self):
        """Most calls that gain nothing are not looked at, those that gain are."""
        for script, call, least, most in (GAINLESS, '"add"', 500, 10_000), (GAINING, '"exp"', 2900, 3000):
            with tempfile.TemporaryDirectory() as folder:
                self.shim_run(script, report=False, env=dict(AUTO, GPUSHIM_DECISIONS=folder + "/log", GPUSHIM_START_MS="1e6"))
                with open(folder + "/log", encoding="utf-8") as log:
                    looked_at = sum(call in line for line in log)
            self.assertTrue(least <= looked_at <= most, (call, looked_at))


if __name__ == "__main__":
    unittest.main()
