# SPDX-License-Identifier: Apache-2.0
"""Calls that have foregone part of the start's price open CUDA's driver, and no more than that."""
import json
import unittest

import shim_runner

# Calls until the driver is in the process, or until the device is.
SCRIPT = '''
import ctypes, json, os, sys, time
import numpy as np
from shim_script import gpushim
a = np.ones((500, 500))

def device():
    text = ctypes.create_string_buffer(1 << 20)
    gpushim().gpushim_report_json(text, ctypes.c_size_t(len(text)))
    return json.loads(text.value)["device"]

def driver_is_there():
    with open("/proc/self/maps") as maps:
        return "libcuda.so" in maps.read()

before = device()
for i in range(10000):
    np.sqrt(a)
    time.sleep(0.002)
    if driver_is_there() or device() != before:
        break
time.sleep(0.3)
print(json.dumps({"driver": driver_is_there(), "started": device() != before}), flush=True)
if "quits" in sys.argv:
    os._exit(3)
if "forks" in sys.argv:
    child = os.fork()
    if child == 0:
        total = float(sum(np.sqrt(a).sum() for _ in range(3000)))
        os._exit(0 if total == 750000000.0 and device() == before else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
'''


@unittest.skipUnless(shim_runner.DEVICE == "cuda", "needs CUDA's driver, or the emulated one")
class TestWarmUp(shim_runner.TestCase):
    def run_script(self, *args, ends=0, **env):
        env = dict({"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "200", "GPUSHIM_PROFILE": "0"}, **env)
        result = shim_runner.run(SCRIPT, env=env, args=args)
        self.assertEqual(result.returncode, ends, result)
        return json.loads(result.stdout)

    def test_driver_opens_ahead_of_the_start(self):
        self.assertEqual(self.run_script(), {"driver": True, "started": False})

    def test_end_of_the_process(self):
        self.assertTrue(self.run_script("quits", ends=3)["driver"])

    def test_forked_child_computes_on_the_cpu(self):
        self.assertTrue(self.run_script("forks")["driver"])


if __name__ == "__main__":
    unittest.main()
