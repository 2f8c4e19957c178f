# SPDX-License-Identifier: Apache-2.0
"""A machine in bad order: no GPU, a broken driver, no disk, odd options. The program gets NumPy's
answers and its own exit status, and gpushim says at most one line.
"""
import os
import re
import subprocess
import tempfile
import unittest

import shim_runner

PROGRAM = '''
import sys
import numpy as np
a = np.arange(300000.0)
b = np.sqrt(a * 2.0 + 1.0)
b[5:5000] = a[:4995] - b[5:5000]
c = (a > b).astype("i4") + np.maximum(a, b).astype("i4")
m = (a[:90000] % 7).reshape(300, 300)
print(b[::30000].tolist(), c[::30000].tolist(), int(c.sum()), (m @ m)[::100, 0].tolist())
a.tofile("/dev/null")
sys.exit(6)
'''

FAKE_ERRORS = {
    "no such device": "100",
    "unknown error": "999",
    "driver too old": "35",
    "out of memory": "2",
}
FAKE_FUNCTION = "int %s(void) { return %s; }\n"
DRIVERS_RESERVE = "the driver of a GPU reserves more than 1 TiB of addresses, which is limited and locked like all others"


def driver_functions():
    path = os.path.join(shim_runner.ROOT, "offload", "cuda", "driver", "driver.def")
    with open(path, encoding="utf-8") as stream:
        return sorted(set(re.findall(r"\b(cu[A-Z]\w+)", stream.read())))


class TestRobustness(shim_runner.TestCase):
    def setUp(self):
        self.plain = shim_runner.run_plain(PROGRAM)
        self.assertEqual(self.plain.returncode, 6)

    def check(self, env, lines, report=False, script=PROGRAM, plain=None):
        """The shim's run gives the plain answer, and `lines` lines on stderr, ours."""
        plain = plain or self.plain
        shimmed = shim_runner.run(script, env=env, report=report)
        self.assertEqual((shimmed.returncode, shimmed.stdout), (plain.returncode, plain.stdout),
                         repr(shimmed))
        said = shimmed.stderr.splitlines()
        if lines is not None:
            self.assertEqual(len(said), lines, shimmed.stderr)
        self.assertEqual([line for line in said if not line.startswith("gpushim: ")], [],
                         shimmed.stderr)
        return shimmed

    # ---- no device ----

    def test_no_cuda(self):
        hidden = {"CUDA_VISIBLE_DEVICES": "-1"}
        self.check(dict(hidden, GPUSHIM_DEVICE="cuda"), 1)
        self.check(dict(hidden, GPUSHIM_DEVICE="cuda", GPUSHIM_MODE="auto"), None)
        self.check(dict(hidden, GPUSHIM_DEVICE="auto"), 0)
        self.check(dict(hidden, GPUSHIM_DEVICE="auto", GPUSHIM_MODE="auto"), 0)

    def test_switched_off(self):
        self.check({"GPUSHIM_DEVICE": "none"}, 0)
        self.check({"GPUSHIM_MODE": "off"}, 0)
        self.check({"GPUSHIM_MODE": "off", "GPUSHIM_DEVICE": "cuda"}, 0)

    def fake_driver(self, folder, source):
        """libcuda.so.1 in a folder that the loader searches first."""
        shim_runner.find_tool("gcc")
        path = os.path.join(folder, "fake.c")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(source)
        subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o",
                        os.path.join(folder, "libcuda.so.1"), path], check=True)
        self.check({"GPUSHIM_DEVICE": "cuda", "LD_LIBRARY_PATH": folder,
                    "CUDA_VISIBLE_DEVICES": None}, 1)

    def test_broken_driver(self):
        functions = driver_functions()
        self.assertIn("cuInit", functions)
        for name, code in FAKE_ERRORS.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                self.fake_driver(folder, "".join(FAKE_FUNCTION % (f, code) for f in functions))

    def test_driver_that_fails_after_init(self):
        functions = driver_functions()
        with tempfile.TemporaryDirectory() as folder:
            self.fake_driver(folder, "".join(
                FAKE_FUNCTION % (f, "0" if f in ("cuInit", "cuDriverGetVersion", "cuDeviceGet") else
                                 "304") for f in functions) .replace(
                "int cuDeviceGetCount(void) { return 304; }",
                "int cuDeviceGetCount(int *n) { *n = 1; return 0; }"))

    def test_driver_without_devices(self):
        functions = driver_functions()
        with tempfile.TemporaryDirectory() as folder:
            self.fake_driver(folder, "".join(
                FAKE_FUNCTION % (f, "0") for f in functions if f != "cuDeviceGetCount") +
                "int cuDeviceGetCount(int *n) { *n = 0; return 0; }")

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "the search goes on and finds the real driver")
    def test_driver_without_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            self.fake_driver(folder, "int nothing;\n")

    def test_driver_that_is_no_library(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "libcuda.so.1"), "w", encoding="utf-8") as stream:
                stream.write("not ELF\n")
            env = {"GPUSHIM_DEVICE": "cuda", "LD_LIBRARY_PATH": folder}
            # The loader goes on to a sound driver where the machine has one.
            expected = None if os.path.exists("/dev/nvidiactl") else 1
            self.check(env, expected)

    def test_compiler_library_absent(self):
        """A driver that is content with everything, and no NVRTC anywhere."""
        if os.path.exists("/usr/local/cuda") or os.path.exists("/dev/nvidiactl"):
            self.skipTest("this machine may have libnvrtc, which would be found")
        with tempfile.TemporaryDirectory() as folder:
            self.fake_driver(folder, "".join(
                FAKE_FUNCTION % (f, "0") for f in driver_functions() if f != "cuDeviceGetCount") +
                "int cuDeviceGetCount(int *n) { *n = 1; return 0; }")

    # ---- no disk ----

    def test_unwritable_cache(self):
        for folder in ("/proc/none/such", "/etc/passwd/x", "/dev/full", "relative/../..//x" * 200):
            with self.subTest(folder):
                self.check({"GPUSHIM_CACHE_DIR": folder}, 0)
        self.check({"GPUSHIM_CACHE_DIR": None, "HOME": None, "XDG_CACHE_HOME": None}, 0)
        self.check({"GPUSHIM_CACHE_DIR": None, "HOME": "/proc/none"}, 0)

    def test_disk_full(self):
        """Nothing can be written to any file: cache, report."""
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        with tempfile.TemporaryDirectory() as folder:
            self.check({"GPUSHIM_CACHE_DIR": folder}, 0, script=limit + PROGRAM)
            report = os.path.join(folder, "report.json")
            self.check({"GPUSHIM_CACHE_DIR": folder, "GPUSHIM_REPORT": "json:" + report}, 1,
                       script=limit + PROGRAM)
        self.check({"GPUSHIM_REPORT": "json:/dev/full"}, 1)
        self.check({"GPUSHIM_REPORT": "json:/proc/none/report"}, 1)

    def test_truncated_cache(self):
        """Whatever lies in the cache folder, the answers stay right; the second run repairs it."""
        with tempfile.TemporaryDirectory() as folder:
            env = {"GPUSHIM_CACHE_DIR": folder}
            self.check(env, 0)
            for where, _, names in os.walk(folder):
                for number, name in enumerate(names):
                    path = os.path.join(where, name)
                    size = os.path.getsize(path)
                    with open(path, "r+b") as stream:
                        if number % 2:
                            stream.truncate(size // 2)
                        else:
                            stream.seek(size // 2)
                            stream.write(b"\xa5" * 64)
            self.check(env, 0)
            self.check(env, 0)

    # ---- odd options and limits ----

    def test_bad_options(self):
        """One line for each bad value; the default stays."""
        bad = {"DEVICE": "gpu", "LOG": "loud", "DOCTOR": "maybe", "ARENA_MIN": "12Q",
               "POOL_LIMIT": "-5", "PIN_LIMIT": "much", "MEM_LIMIT": "1..5G", "MIN_ELEMENTS": "1.5",
               "MIN_REDUCE": "-7", "MIN_FLOPS": "0x", "START_MS": "soon", "FILL": "pour",
               "REPORT": "xml:y", "HELP": "2", "MODE": "fast"}
        for name, value in bad.items():
            if name not in ("DEVICE", "FILL", "HELP", "MEM_LIMIT", "MIN_REDUCE", "REPORT"):
                continue  # one of each type alone; all together below
            with self.subTest(name):
                shimmed = self.check({"GPUSHIM_" + name: value}, 1)
                self.assertIn("GPUSHIM_" + name, shimmed.stderr)
                self.assertIn(value, shimmed.stderr)
        everything = {"GPUSHIM_" + name: value for name, value in bad.items()}
        shimmed = self.check(everything, None)
        for name in set(bad) - {"REPORT"}:  # without a device there is nothing to report
            self.assertEqual(len(re.findall(r"GPUSHIM_%s\b" % name, shimmed.stderr)), 1, name)

    def test_unknown_option(self):
        shimmed = self.check({"GPUSHIM_NO_SUCH_THING": "1"}, 1)
        self.assertIn("GPUSHIM_NO_SUCH_THING", shimmed.stderr)

    def test_valid_options(self):
        """Every way to fill pages, tiny and large limits: the same answers, not a word."""
        for env in ({"GPUSHIM_FILL": "swap"}, {"GPUSHIM_FILL": "procmem"},
                    {"GPUSHIM_ARENA_MIN": "4096"}, {"GPUSHIM_ARENA_MIN": "1T"},
                    {"GPUSHIM_POOL_LIMIT": "1"}, {"GPUSHIM_PIN_LIMIT": "1"},
                    {"GPUSHIM_MIN_ELEMENTS": "100000"}, {"GPUSHIM_MIN_REDUCE": "10"},
                    {"GPUSHIM_MODE": "auto"}, {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"}):
            with self.subTest(env):
                self.check(env, 0)

    def test_little_device_memory(self):
        """Values are evicted, or the call stays on the CPU: the same answers."""
        script = PROGRAM.replace("sys.exit(6)", '''
arrays = [a + float(n) for n in range(40)]
total = sum(int(x[-1]) for x in arrays)
arrays = [x * 2.0 for x in arrays]
print(total, [float(x[7]) for x in arrays], float(arrays[3].sum()))
sys.exit(6)''')
        plain = shim_runner.run_plain(script)
        for limit in ("1", "1M", "5M", "20M"):
            with self.subTest(limit):
                self.check({"GPUSHIM_MEM_LIMIT": limit}, None, script=script, plain=plain)

    def test_address_space_limit(self):
        """No room for the arena: dormant, or a smaller one."""
        for limit in (1, 3, 16):
            with self.subTest("%d GiB" % limit):
                script = ("import resource; resource.setrlimit(resource.RLIMIT_AS, (%d << 30,) * 2)"
                          "\n" % limit) + PROGRAM
                self.check({"OPENBLAS_NUM_THREADS": "1"}, None, script=script)

    def test_address_space_beside_the_arena(self):
        """Under a limit of the address space, what is reserved for the arena must not be missing elsewhere."""
        for limit in (6, 24, 100):
            script = """
import mmap, resource
resource.setrlimit(resource.RLIMIT_AS, (%d << 30,) * 2)
import numpy as np
for make in (lambda size: np.empty(size, "i1"), lambda size: mmap.mmap(-1, size)):
    try:
        print(len(make(%d << 30)))
    except (MemoryError, OSError) as error:
        print(type(error))
""" % (limit, limit * 2 // 3)
            env = {"OPENBLAS_NUM_THREADS": "1"}
            with self.subTest("%d GiB" % limit):
                plain = shim_runner.run(script, shim=False, env=env)
                self.assertEqual(plain.returncode, 0, repr(plain))
                self.check(env, None, script=script, plain=plain)

    def limit_behind_numpy(self, name):
        """What was reserved for the arena is given up; arrays made before and after are as they should be."""
        script = """
import resource, threading
import numpy as np
a = np.arange(300000.0)
before = [a + float(n) for n in range(20)] + [np.ones(5 << 18)]
del before[3:6]
resource.setrlimit(resource.RLIMIT_%s, (3 << 30, resource.getrlimit(resource.RLIMIT_%s)[1]))
block = bytearray(500 << 20)
thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
after = [a * 2.0 for n in range(50)] + [np.zeros(n << 10) for n in range(1, 3000, 500)]
after[7].resize(700000, refcheck=False)
try:
    print(np.empty(4 << 30, "i1").size)
except MemoryError as error:
    print(error)
after[3] += 1.0
print([x[100] for x in before + after], float(sum(x.sum() for x in before + after)))
del before, after
print((np.arange(1e6) * 3.0)[9])
""" % (name, name)
        env = {"OPENBLAS_NUM_THREADS": "1"}
        plain = shim_runner.run(script, shim=False, env=env)
        self.assertEqual(plain.returncode, 0, repr(plain))
        self.check(env, 0, script=script, plain=plain)

    @unittest.skipIf(shim_runner.DEVICE == "cuda", DRIVERS_RESERVE)
    def test_address_space_limit_behind_numpy(self):
        self.limit_behind_numpy("AS")

    def test_data_limit_behind_numpy(self):
        self.limit_behind_numpy("DATA")

    @unittest.skipIf(shim_runner.DEVICE == "cuda", DRIVERS_RESERVE)
    def test_all_memory_locked(self):
        """What is locked is the program's memory, not the range reserved for the arena."""
        locking = """
import ctypes
print(ctypes.CDLL(None).mlockall({} | 4))  # 4: what is not there yet when it is touched
"""
        rest = """
b = np.arange(300000.0) * 2.0
with open("/proc/self/status") as stream:
    print([int(line.split()[1]) < 4 << 20 for line in stream if line.startswith("VmLck")])
print(a[5] + 1.0, b[7], np.ones(3 << 20)[-1], (a - b).sum())
"""
        made = "import numpy as np\na = np.arange(300000.0)\n"
        for script in (made + locking.format(1) + rest, made + locking.format(3) + rest,
                       locking.format(2) + made + rest):
            with self.subTest(script):
                plain = shim_runner.run(script, shim=False)
                self.assertEqual(plain.returncode, 0, repr(plain))
                self.check({}, 0, script=script, plain=plain)

    def test_more_arrays_than_mappings(self):
        """Every second of many small arrays differs from its neighbours in where it is: the process keeps mappings for
        others."""
        for name, lines in {
            "read": """
arrays = [a + float(n) for n in range(80000)]
print(sum(x[3] for x in arrays[::2]))
""",
            "read while others are freed": """
arrays = [a + float(n) for n in range(80000)]
print(arrays[5][3], sum(x[3] for x in arrays[::4]))
del arrays[1::4]
print(sum(x[3] for x in arrays[1::3]), np.zeros(16).any())
""",
            "uploaded": """
arrays = [np.array([float(n)] * 16) for n in range(80000)]
print(sum(float((x * 2.0)[3]) for x in arrays[::2]))
""",
            "written": """
arrays = [np.array([float(n)] * 16) for n in range(80000)]
for x in arrays[::2]:
    np.add(a, 5.0, out=x)
print(sum(x[3] for x in arrays))
""",
        }.items():
            script = ("import numpy as np\na = np.arange(16.0)" + lines + """
limit = int(open("/proc/sys/vm/max_map_count").read())
print(sum(1 for _ in open("/proc/self/maps")) < 40000 / 65530 * limit)
""")
            with self.subTest(name):
                plain = shim_runner.run(script, shim=False)
                self.assertEqual(plain.returncode, 0, repr(plain))
                self.check({"GPUSHIM_ARENA_MIN": "1"}, 0, script=script, plain=plain)

    def test_more_than_the_system_gives(self):
        """The arena's range is larger than the machine: it must not seem to be memory."""
        script = """
import re
import numpy as np
with open("/proc/meminfo") as stream:
    size = 2048 * sum(map(int, re.findall(r"(?:MemTotal|SwapTotal): *(\\d+)", stream.read())))
for make in (np.empty, np.zeros):
    try:
        print(make(size, "i1").size)
    except MemoryError as error:
        print(error)
"""
        self.check({}, 0, script=script, plain=shim_runner.run(script, shim=False))

    def test_python_modes(self):
        for args in (["-X", "dev"], ["-I"], ["-O"], ["-u"], ["-v"]):
            with self.subTest(args):
                plain = shim_runner.run(PROGRAM, shim=False, python_args=args)
                shimmed = shim_runner.run(PROGRAM, python_args=args)
                self.assertEqual((shimmed.returncode, shimmed.stdout),
                                 (plain.returncode, plain.stdout), repr(shimmed))
        self.check({"PYTHONMALLOC": "debug"}, 0)
        self.check({"MALLOC_PERTURB_": "165"}, 0)

    def test_closed_streams(self):
        for redirection in ("2>&-", ">/dev/null 2>&-", "<&- 2>/dev/full"):
            command = ["/bin/sh", "-c", 'exec "$0" "$1" %s' % redirection,
                       shim_runner.sys.executable]
            with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
                script.write(PROGRAM)
                script.flush()
                plain = shim_runner.run_command(command + [script.name], shim=False)
                shimmed = shim_runner.run_command(command + [script.name], report=False,
                                                  env={"GPUSHIM_REPORT": "1"})
            self.assertEqual((shimmed.returncode, shimmed.stdout),
                             (plain.returncode, plain.stdout))

    def test_late_and_odd_imports(self):
        imports = '''
import threading, os, sys
{}
import numpy as np
a = np.arange(90000.0) + 1.0
print(a[-1], (a * a)[5])
'''
        for name, before in {
            "in a thread": "t = threading.Thread(target=lambda: __import__('numpy')); t.start(); t.join()",
            "after a fork": "pid = os.fork()\nif pid: sys.exit(os.waitpid(pid, 0)[1] >> 8)",
            "in a child and here": "pid = os.fork()\nif pid == 0:\n    import numpy\n"
                                   "    os._exit(int((numpy.ones(9000) + 1).sum() != 18000))\n"
                                   "assert os.waitpid(pid, 0)[1] == 0",
            "after ctypes": "import ctypes, ctypes.util; ctypes.CDLL('libm.so.6')",
        }.items():
            with self.subTest(name):
                script = imports.format(before)
                plain = shim_runner.run(script, shim=False)
                self.assertEqual(plain.returncode, 0, repr(plain))
                self.check({}, 0, script=script, plain=plain)


if __name__ == "__main__":
    unittest.main()
