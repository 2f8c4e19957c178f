# SPDX-License-Identifier: Apache-2.0
"""Memory that arrays no longer use goes back to the system; a core dump has what the program uses, and no more."""
import glob
import os
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import shim_runner

MIB = 1 << 20

PHASE = """
import os, time
import numpy as np
def rss():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
def phase(count, size):
    parts = [np.full(size, 1.0 + i) for i in range(count)]
    doubled = [p * 2 for p in parts]
    return sum(float(d.sum()) for d in doubled)
phase(2, 100_000)   # from here on the device is started, and has its kernels: their memory is no array's
before = rss()
print(phase(4, 4_000_000), phase(100, 100_000))   # large blocks, and those below 2 MiB
"""

WAIT = """
end = time.monotonic() + 20
while rss() > before + (32 << 20) and time.monotonic() < end:
    time.sleep(0.05)
assert rss() <= before + (32 << 20), (rss() - before) >> 20
"""

FORK = """
pid = os.fork()
if pid == 0:
    os._exit(rss() > before + (32 << 20))
assert os.waitpid(pid, 0)[1] == 0
"""

CRASH = """
import ctypes
import numpy as np
gone = np.full(4_000_000, 3.0)
a = np.full(200_000, 1234.5)          # 1.5 MiB
b = a * 2
a.tolist(), b.tolist()                # both are fetched: a device's memory is in no dump
del gone
ctypes.string_at(0)
"""


def folder_of_cores():
    """True where a core lies in the folder of the process that left it."""
    with open("/proc/sys/kernel/core_pattern") as file:
        pattern = file.read().strip()
    return not pattern.startswith("|") and "/" not in pattern and bool(pattern)


# What a driver has for itself in a process; what arrays could reserve is a terabyte.
DRIVERS = 2048 * MIB if shim_runner.DEVICE == "cuda" and not shim_runner.is_emulated() else 0


# The device is not started, on a slow machine neither: what it takes is no array's.
ON_CPU = {"GPUSHIM_MODE": "auto", "GPUSHIM_BACKGROUND": "1", "GPUSHIM_START_MS": "600000"}


class TestMemoryGivenBack(shim_runner.TestCase):
    def test_idle(self):
        for mode, env in (("auto", ON_CPU), ("force", {"GPUSHIM_MODE": "force", "GPUSHIM_BACKGROUND": "0"})):
            with self.subTest(mode=mode):
                self.assert_same(PHASE + WAIT, env=env, device=mode == "force")

    def test_fork(self):
        """The child of a process with freed memory does not inherit it."""
        self.assert_same(PHASE + FORK, env=ON_CPU, device=False)

    def test_core_dump(self):
        if not folder_of_cores():
            self.skipTest("core dumps go elsewhere on this machine (kernel.core_pattern)")
        sizes = {}
        for shim in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                process = subprocess.run(
                    [sys.executable, "-c", CRASH], cwd=folder, timeout=120, stderr=subprocess.DEVNULL,
                    env=shim_runner.environment(shim, {"GPUSHIM_MODE": "force"}),
                    preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
                self.assertEqual(process.returncode, -signal.SIGSEGV)
                cores = glob.glob(folder + "/*")
                if not cores:
                    self.skipTest("this machine leaves no core dump")
                sizes[shim] = os.path.getsize(cores[0])
                with open(cores[0], "rb") as file:
                    core = file.read() if sizes[shim] < 4096 * MIB else b""
                for number in (1234.5, 2469.0):
                    self.assertTrue(struct.pack("d", number) * 1000 in core,   # assertIn would print the core
                                    "no %g in a core of %d bytes, gpushim: %s" % (number, sizes[shim], shim))
        self.assertLess(sizes[True], sizes[False] + 256 * MIB + DRIVERS)


if __name__ == "__main__":
    unittest.main()
