# SPDX-License-Identifier: Apache-2.0
"""While the device starts beside the program, each OpenBLAS, NumPy's and SciPy's, uses one thread fewer; afterwards as many as before, or as
the program has set meanwhile. A library in front of libc's gives the process four cores, whatever the machine has."""
import os
import subprocess
import tempfile
import unittest

import shim_runner

FOUR_CORES = '''
#define _GNU_SOURCE
#include <sched.h>
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    CPU_ZERO_S(size, set);
    for (int cpu = 0; cpu < 4; cpu++)
        CPU_SET_S(cpu, size, set);
    return 0;
}
'''
# Prints the numbers that TestBlasThreads.numbers names.
SCRIPT = '''
import ctypes, os, sys, time
import numpy as np
from shim_script import report

def blas():
    with open("/proc/self/maps") as maps:
        paths = sorted({line.split()[-1] for line in maps if "openblas" in line.split()[-1]})
    if "scipy" in sys.argv:
        paths = [path for path in paths if "/scipy.libs/" in path]
    for path in paths:
        library = ctypes.CDLL(path)
        for prefix, suffix in (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", "")):
            names = [prefix + "openblas_" + name + suffix for name in ("get_parallel", "get_num_threads", "set_num_threads")]
            if all(hasattr(library, name) for name in names):
                return [getattr(library, name) for name in names]

if "scipy" in sys.argv:
    try:
        import scipy.linalg
    except ImportError:
        pass
functions = blas()
if functions is None or functions[0]() != 1:
    print("no OpenBLAS with threads of its own")
    sys.exit()
_, get, set_number = functions

def wait_until(is_done):
    end = time.monotonic() + 20
    while not is_done() and time.monotonic() < end:
        time.sleep(0.01)

set_number(4)  # OpenBLAS itself counts another way
numbers = [get()]
a = np.full((500, 500), 0.01)  # no gain that would open the driver before the first product
end = time.monotonic() + 5
while get() == 4 and time.monotonic() < end:
    b = a @ a if "products" in sys.argv else np.fft.fft(a)
numbers.append(get())
if "sets" in sys.argv:
    set_number(2)
if "forks" in sys.argv:
    child = os.fork()
    if child == 0:
        os._exit(get())
    numbers.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    numbers.append(get())
if "fails" in sys.argv:
    wait_until(lambda: get() == 4)
else:
    wait_until(lambda: report()["device"] != "no device")
    time.sleep(0.2)
numbers.append(get())
print(*numbers)
'''


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, whose start can be slow")
class TestBlasThreads(shim_runner.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="four-cores-")
        cls.addClassCleanup(folder.cleanup)
        source, cls.front = os.path.join(folder.name, "front.c"), os.path.join(folder.name, "front.so")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write(FOUR_CORES)
        subprocess.run([shim_runner.find_tool("cc"), "-shared", "-fPIC", "-o", cls.front, source], check=True)

    def numbers(self, *words, **env):
        """OpenBLAS's numbers of threads: before the start, meanwhile, after a fork in the child and the parent, at last."""
        result = shim_runner.run(SCRIPT, python_args=("-W", "ignore"), args=words, env=dict(
            {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "10", "EMULATED_INIT_MS": "1000",
             "LD_PRELOAD": self.front + ":" + shim_runner.LIBRARY}, **env))
        self.assertEqual(result.returncode, 0, repr(result))
        if result.stdout.startswith("no OpenBLAS"):
            self.skipTest(result.stdout.strip())
        return [int(word) for word in result.stdout.split()]

    def test_start(self):
        self.assertEqual(self.numbers(), [4, 3, 4])

    def test_scipy_has_its_own(self):
        self.assertEqual(self.numbers("scipy"), [4, 3, 4])

    def test_start_that_fails(self):
        self.assertEqual(self.numbers("fails", EMULATED_CUDA_FAULT="error:cuDeviceGet*:1"), [4, 3, 4])

    def niceness(self, *words):
        """That of the thread that opens the driver, above this process's."""
        with tempfile.TemporaryDirectory(prefix="niceness-") as folder:
            answer = os.path.join(folder, "answer")
            self.numbers(*words, EMULATED_INIT_FILE=answer)
            with open(answer, encoding="utf-8") as stream:
                return int(stream.read().split()[1]) - os.nice(0)

    def test_products_go_before_the_driver(self):
        self.assertEqual(self.niceness("products"), min(10, 19 - os.nice(0)))
        self.assertEqual(self.niceness(), 0)

    def test_program_sets_another(self):
        self.assertEqual(self.numbers("sets"), [4, 3, 2])

    def test_fork_meanwhile(self):
        self.assertEqual(self.numbers("forks"), [4, 3, 4, 4, 4])


if __name__ == "__main__":
    unittest.main()
