# SPDX-License-Identifier: Apache-2.0
"""Memory of arrays without a device (GPUSHIM_DEVICE=cpu): used again by the next arrays, given back when it stays unused, and at most
a tenth more than NumPy alone takes."""
import unittest

import shim_runner

CPU = {"GPUSHIM_DEVICE": "cpu", "GPUSHIM_MODE": "auto", "GPUSHIM_HOST_THREADS": "2"}

FAULTS = """
import resource
import numpy as np
a = np.ones(6 << 20)
for turn in range(23):
    if turn == 3:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    b = a * 2 + 1
    assert b[0] == b[-1] == 3
print("faults", resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

# Scratch memory of a library, at each call; more than glibc keeps by itself.
SCRATCH = """
import ctypes, resource
import numpy as np
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
a = np.ones(3 << 20)
del a
for turn in range(23):
    if turn == 3:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    scratch = [libc.malloc(8 << 20) for part in range(3)]
    for part in scratch:
        libc.memset(part, 1, 8 << 20)
        libc.free(part)
print("faults", resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""

# Arrays of many sizes, a few of each alive at a time, so that the memory of one phase does not fit the next.
PHASES = """
import resource
import numpy as np
for turn in range(3):
    for size in range(1, 40, 3):
        arrays = [np.full((size << 17) + k, float(k)) for k in range(max(1, 40 // size))]
        arrays = [array * 2 for array in arrays]
        assert all((array == 2 * k).all() for k, array in enumerate(arrays))
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

# Arrays that leave most of their last huge page unused.
SLIGHTLY_MORE = """
import resource
import numpy as np
arrays = [np.ones((2 << 17) + 1000 * k) for k in range(1, 61)] + [np.ones((4 << 17) + 1000) for _ in range(20)]
assert all(array[-1] == 1 for array in arrays)
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

# Two arrays of so many elements, one after the other.
TWO = """
import numpy as np
for turn in range(2):
    a = np.full(%d, 1.0)
    del a
"""

IDLE = """
import time
import numpy as np
def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096 >> 20
before = resident()
a = np.ones(16 << 20)
while_alive = resident()
del a
end = time.monotonic() + 20
while resident() > before + 20 and time.monotonic() < end:
    time.sleep(0.1)
print("grew", while_alive - before > 100, "and is given back", resident() <= before + 20)
"""

FORK = """
import os, threading
import numpy as np
def work():
    while not is_over:
        a = np.ones(300_000)
        b = a + np.zeros(300_000)
        assert (b == 1).all()
is_over = False
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
kept = np.arange(1_000_000.)
statuses = []
for _ in range(30):
    child = os.fork()
    if child == 0:
        kept += 1
        arrays = [np.full(200_000 + k, float(k)) for k in range(20)]
        right = kept[-1] == 1_000_000 and all((array == k).all() for k, array in enumerate(arrays))
        del arrays, kept
        os._exit(0 if right and (np.ones(500_000) * 3).sum() == 1_500_000 else 1)
    statuses.append(os.waitpid(child, 0)[1])
is_over = True
for thread in threads:
    thread.join()
print(statuses, kept[-1])
"""


class TestCpuMemory(shim_runner.TestCase):
    def number(self, script, shim=True, **env):
        result = shim_runner.run(script, shim=shim, env=dict(CPU, **env))
        self.assertEqual(result.returncode, 0, repr(result))
        return int(result.stdout.split()[-1])

    def test_estimate(self):
        """What the system would have taken for new pages is in the verdict's estimate, of arrays that malloc would map."""
        large, small = (self.shim_run(TWO % elements, env=CPU).report["verdict"] for elements in (5 << 20, 3 << 20))
        self.assertEqual(small["reused_s"], 0)
        self.assertTrue(1e-4 < large["reused_s"] < 1, large)
        self.assertGreater(large["plain_s"], large["reused_s"] + large["parts"]["program_s"])

    def test_unused_parts_of_huge_pages(self):
        self.assertLess(self.number(SLIGHTLY_MORE), 1.1 * self.number(SLIGHTLY_MORE, shim=False))

    def test_is_used_again(self):
        """Two temporary arrays of 48 MiB a turn; the kernel gives at most 2 MiB at a fault."""
        self.assertGreater(self.number(FAULTS, GPUSHIM_ARENA_MIN="1000000000"), 20 * 24)
        self.assertLess(self.number(FAULTS), 100)

    def test_scratch_memory_of_libraries_is_used_again(self):
        """As plain, where a freed array of 24 MiB has raised the C library's threshold of mmap."""
        self.assertLess(self.number(SCRATCH, shim=False), 100)
        self.assertLess(self.number(SCRATCH), 100)

    def test_peak(self):
        self.assertLess(self.number(PHASES), self.number(PHASES, shim=False) * 1.1 + 12_000)  # KiB; the library itself

    def test_is_given_back(self):
        result = shim_runner.run(IDLE, env=CPU)
        self.assertEqual(result.stdout, "grew True and is given back True\n", repr(result))

    def test_fork_beside_threads(self):
        result = shim_runner.run(FORK, env=CPU)
        self.assertEqual(result.stdout, "%s 999999.0\n" % ([0] * 30), repr(result))

    def test_limited_address_space(self):
        """There is no room for the arena: NumPy's own allocator stays."""
        limited = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n" + FAULTS
        self.assertGreater(self.number(limited), 20)


if __name__ == "__main__":
    unittest.main()
