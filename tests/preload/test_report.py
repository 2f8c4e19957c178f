# SPDX-License-Identifier: Apache-2.0
"""What gpushim says: nothing unless asked; the report, the doctor, the help; and when it is written."""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import shim_runner

PROGRAM = '''
import numpy as np
a = np.arange(200000.0)          # arange on the device
for _ in range(7):
    b = a + 1.0                  # seven adds
c = b * b * b                    # two multiplies
d = np.add(a.astype(object)[:300], 1)   # stays on the CPU: dtype
print(c[:3].tolist(), c.sum() > 0, d[:3].tolist())
'''
REPORT_MD = os.path.join(shim_runner.ROOT, "docs", "user", "report.md")


def table(path, column):
    """The values of a column of the rows of a .def file."""
    with open(os.path.join(shim_runner.ROOT, path), encoding="utf-8") as stream:
        rows = re.findall(r"^X\((.*)\)\s*(?:/\*.*)?$", stream.read(), re.M)
    return [row.split(",")[column].strip().strip('"') for row in rows]


def cmake_version():
    with open(os.path.join(shim_runner.ROOT, "CMakeLists.txt"), encoding="utf-8") as stream:
        return re.search(r"^project\(gpushim VERSION (\S+)", stream.read(), re.M).group(1)


def one_run(script=PROGRAM, report=None, **env):
    env["GPUSHIM_REPORT"] = report
    return shim_runner.run(script, env=env, report=False)


class TestReport(shim_runner.TestCase):
    def setUp(self):
        self.plain = shim_runner.run_plain(PROGRAM)

    def test_silent_by_default(self):
        for report in (None, "", "0"):
            shimmed = one_run(report=report)
            self.assertEqual((shimmed.returncode, shimmed.stdout, shimmed.stderr),
                             (0, self.plain.stdout, self.plain.stderr))

    def test_text(self):
        shimmed = one_run(report="1")
        self.assertEqual((shimmed.returncode, shimmed.stdout), (0, self.plain.stdout))
        lines = shimmed.stderr.splitlines()
        self.assertTrue(lines[0].startswith("gpushim: "), shimmed.stderr)
        for word in ("operation", "device calls", "CPU calls", "moved:", "device start"):
            self.assertIn(word, shimmed.stderr)
        add = [line.split() for line in lines if re.match(r" add +dd->d|  ?add dd", line)]
        self.assertTrue(add and "7" in add[0], "the row of add dd->d counts 7\n" + shimmed.stderr)
        self.assertTrue(any("dtype" in line for line in lines), "a reason\n" + shimmed.stderr)
        self.assertTrue(lines[-1].endswith("; version " + cmake_version()), shimmed.stderr)

    def test_verdict(self):
        """Parts that add up; each second is in the part where it was spent."""
        script = """
import time
time.sleep(0.5)
import numpy as np
a = np.full((1000, 1000), 0.5)
objects = np.arange(300000).astype(object)
for _ in range(4):
    b = np.exp(a) @ a          # on the device
    float(b.sum())
for _ in range(10):
    np.add(objects, 1)         # on the CPU: dtype
"""
        before = time.monotonic()
        verdict = shim_runner.run(script).report["verdict"]
        elapsed = time.monotonic() - before
        parts = verdict["parts"]
        self.assertEqual(verdict["state"], "started")
        self.assertAlmostEqual(sum(parts.values()), verdict["wall_s"], delta=1e-4)
        self.assertLess(verdict["wall_s"], elapsed)
        self.assertGreater(parts["program_s"], 0.5)
        self.assertTrue(0.01 < parts["cpu_s"] < elapsed - 0.5, verdict)
        least = 0.01 if shim_runner.DEVICE == "host" else 0  # a GPU takes less, and has the kernels loaded in another part
        self.assertTrue(least < parts["device_s"] < elapsed - 0.5, verdict)
        self.assertGreater(verdict["device_work_s"], 0.005)
        self.assertAlmostEqual(verdict["share"], verdict["device_work_s"] / (verdict["device_work_s"] + parts["cpu_s"]), delta=0.03)  # a pause may be in one of them
        self.assertAlmostEqual(verdict["plain_s"], parts["program_s"] + parts["cpu_s"] + verdict["device_work_s"], delta=0.01)

    def test_calls_on_the_cpu_are_in_its_part(self):
        """Also small calls, of which few are timed, and those that are not described: of arrays of a subclass."""
        programs = ("x = np.arange(64.0)\nfor i in range(100000):\n    np.add(x, 1.0)\n",
                    "class Own(np.ndarray): pass\nx = np.arange(1e6).view(Own)\nfor i in range(10):\n    np.sin(x)\n")
        for program in programs:
            with self.subTest(program):
                results = (self.shim_run("import numpy as np\n" + program, env={"GPUSHIM_DEVICE": "cpu", "GPUSHIM_MODE": "auto"}) for _ in range(3))
                report = min((result.report for result in results), key=lambda report: report["verdict"]["work"]["cpu_s"])
                cpu, rows = report["verdict"]["parts"]["cpu_s"], sum(row["host_ns"] for row in report["operations"]) * 1e-9
                self.assertGreater(rows, 0.01)
                self.assertTrue(0.7 * rows < cpu < 1.3 * rows, (cpu, rows))

    def test_states(self):
        """Why nothing ran on the device."""
        for words, env in (("not active: GPUSHIM_MODE is off", {"GPUSHIM_MODE": "off"}),
                           ("not active: GPUSHIM_DEVICE is none", {"GPUSHIM_DEVICE": "none"}),
                           ("NumPy ran on the CPU's cores (cpu: ", {"GPUSHIM_DEVICE": "cpu", "GPUSHIM_MODE": "auto"}),
                           ("the device was not started: predicted gain ", {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1000000"}),
                           ("the device was not started: no NVIDIA GPU was found; NumPy",
                            {"GPUSHIM_MODE": "auto", "GPUSHIM_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": "", "GPUSHIM_START_MS": "1000000"})):
            with self.subTest(words):
                lines = one_run(report="1", **env).stderr.splitlines()
                self.assertTrue(lines[0].startswith("gpushim: " + words), lines[0])
                self.assertRegex(lines[1], r"^ time: \S+ s = \S+ s Python and what is not hooked")

    def test_cpu_alone_is_a_reason_of_its_own(self):
        result = self.shim_run("import numpy as np\nb = np.sqrt(np.ones(3_000_000))\n", env={"GPUSHIM_DEVICE": "cpu", "GPUSHIM_MODE": "auto"})
        reasons = {code for row in result.report["operations"] for code in row["reasons"]}
        self.assertIn("cpu-only", reasons, repr(result))
        self.assertNotIn("no-device", reasons)

    def test_json(self):
        shimmed = shim_runner.run(PROGRAM)
        report = shimmed.report
        self.assertEqual((shimmed.stdout, shimmed.stderr), (self.plain.stdout, self.plain.stderr))
        self.assertEqual(report["version"], 1)
        self.assertEqual(report["gpushim_version"], cmake_version())
        self.assertEqual(sorted(report["counters"]), sorted(table("config/stats.def", 1)))
        rows = {(row["name"], row["signature"]): row for row in report["operations"]}
        self.assertEqual(rows["add", "dd->d"]["device_calls"], 7)
        self.assertEqual(rows["multiply", "dd->d"]["device_calls"], 2)
        codes = set(table("policy/reasons.def", 1))
        for row in report["operations"]:
            self.assertLessEqual(set(row["reasons"]), codes)
            self.assertEqual(sum(row["reasons"].values()), row["host_calls"], row)
        self.assertGreater(sum(row["reasons"].get("dtype", 0) for row in report["operations"]), 0)
        counters = report["counters"]
        self.assertGreater(counters["start_ns"], 0)
        # Only what the script read came back; the arrays were made on the device.
        self.assertGreater(counters["download_bytes"], 0)

    def test_calls_of_imports_and_prints_are_gathered(self):
        """What NumPy calls while it is imported, and while it prints an array, has one row each; the program's own calls stay."""
        script = """
import numpy as np
import numpy.testing, numpy.ma
a = np.arange(50.0)
text = repr(a) + str(a / 3) + np.array2string(np.array([np.nan, 1e300]))
b = np.isfinite(a)
"""
        report = shim_runner.run(script, env={"GPUSHIM_MODE": "auto"}).report
        calls = collections.Counter()
        for row in report["operations"]:
            calls[row["name"]] += row["host_calls"]
        self.assertGreater(calls.pop("(print)"), 5)
        self.assertGreater(calls.pop("(import)"), 1)
        self.assertEqual(shim_runner.device_calls(report, "(print)"), 0)
        self.assertEqual(calls.get("isfinite"), 1, calls)
        self.assertLessEqual(set(calls), {"arange", "divide", "isfinite", "from array", "array"}, calls)

    def test_many_small_calls_are_sampled(self):
        """Each of the first ones is counted; a sample stands for those before it, so the last ones may be missing."""
        script = "import numpy as np\nx = np.ones(10)\nfor i in range(%d):\n    x + 1.0\n"
        for calls, least in ((5000, 5000), (60000, 59000)):
            report = shim_runner.run(script % calls, env={"GPUSHIM_MODE": "auto"}).report
            counted = sum(row["host_calls"] for row in report["operations"] if row["name"] == "add")
            self.assertGreaterEqual(counted, least)
            self.assertLessEqual(counted, calls - (calls > 10000))

    def test_groups_are_named_by_what_they_hold(self):
        script = """
import numpy as np
a = np.arange(100000.0)
for _ in range(3):
    b = np.exp(a * 1e-6 * 2 + 1)
    b[3]
c = a * 2 * 3 * 4
c[3]
(np.sqrt(a) + 1).sum() > 0
"""
        rows = shim_runner.run(script, env={"GPUSHIM_FUSION": "1"}).report["operations"]
        groups = [row["name"] for row in rows if row["name"].startswith("group")]
        self.assertEqual(len([name for name in groups if name.endswith("multiply x2, add, exp")]), len(groups) - 1, groups)
        self.assertEqual([name for name in groups if "->" in name], ["group: sqrt, add -> sum"])
        self.assertEqual([row["device_calls"] for row in rows if row["name"] in groups], [0] * len(groups))
        self.assertGreater(min(row["device_ns"] for row in rows if row["name"] in groups), 0)
        self.assertGreater(sum(row["device_ns"] for row in rows if row["name"] == "multiply"), 0)  # of one operation alone: its own row

    def test_launches(self):
        """Each call of its own is a launch."""
        report = shim_runner.run(PROGRAM, env={"GPUSHIM_FUSION": "0"}).report
        self.assertGreaterEqual(shim_runner.counter(report, "launches"), 10)  # arange, seven adds, two multiplies

    def test_keys_are_documented(self):
        with open(REPORT_MD, encoding="utf-8") as stream:
            text = stream.read()
        report = shim_runner.run(PROGRAM).report
        keys = list(report) + list(report["operations"][0]) + list(report["counters"])
        self.assertEqual([key for key in keys if "`%s`" % key not in text], [])

    def test_bytes_are_counted(self):
        """One upload of an array, and one download of a result, each counted once."""
        script = '''
import numpy as np
from shim_script import report, dump, synchronize
a = np.random.Generator(np.random.SFC64(1)).random(1 << 20)  # made by the host
before = report()["counters"]
for _ in range(5):
    b = a + 1.0
synchronize()
middle = report()["counters"]
b.tobytes(); b.tobytes()
after = report()["counters"]
up = middle["upload_bytes"] - before["upload_bytes"], after["upload_bytes"] - middle["upload_bytes"]
down = middle["download_bytes"] - before["download_bytes"], after["download_bytes"] - middle["download_bytes"]
print(up, down)
'''
        shimmed = self.shim_run(script)
        self.assertEqual(shimmed.stdout, "(8388608, 0) (0, 8388608)\n", shimmed.report)

    def test_report_function(self):
        script = '''
import ctypes, json
import numpy as np
a = np.arange(3000.0) + 1.0
library = ctypes.CDLL(None)
library.gpushim_report_json.restype = ctypes.c_size_t
library.gpushim_report_json.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
buffer = ctypes.create_string_buffer(b"x" * (1 << 20))
needed = library.gpushim_report_json(buffer, len(buffer))
print(needed == len(buffer.value), sorted(json.loads(buffer.value))[:2])
small = ctypes.create_string_buffer(b"x" * 40)
needed = library.gpushim_report_json(small, 11)
print(needed > 100, len(small.value), small.raw[11:20], small.value[:1])
print(library.gpushim_report_json(None, 0) > 100)
'''
        shimmed = self.shim_run(script)
        self.assertEqual(shimmed.stdout, "True ['counters', 'device']\n"
                                         "True 10 b'xxxxxxxxx' b'{'\nTrue\n")

    def test_version_function(self):
        script = '''
import ctypes
library = ctypes.CDLL(None)
library.gpushim_version.restype = ctypes.c_char_p
print(library.gpushim_version().decode())
'''
        for numpy in ("", "import numpy\n"):
            shimmed = one_run(numpy + script)
            self.assertEqual((shimmed.stdout, shimmed.stderr), (cmake_version() + "\n", ""))

    def test_library_as_a_program(self):
        """Executed itself, also under itself, it prints its version and how to use it."""
        for preloaded in False, True:
            done = shim_runner.run_command([shim_runner.LIBRARY], shim=preloaded)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^gpushim %s\n.*LD_PRELOAD.*\n$" % re.escape(cmake_version()))

    def test_active_function(self):
        """Before NumPy, with it, in a forked child, and in the parent after that; without a device."""
        script = '''
import ctypes, os
library = ctypes.CDLL(None)
print(library.gpushim_active())
import numpy
print(library.gpushim_active(), flush=True)
child = os.fork()
if child == 0:
    print(library.gpushim_active(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(library.gpushim_active())
'''
        for env, expected in (({}, "0 1 0 1"), ({"GPUSHIM_MODE": "auto"}, "0 1 0 1"), ({"GPUSHIM_MODE": "off"}, "0 0 0 0"),
                              ({"GPUSHIM_DEVICE": "cpu"}, "0 0 0 0"), ({"GPUSHIM_DEVICE": "none"}, "0 0 0 0")):
            with self.subTest(env):
                self.assertEqual(one_run(script, **env).stdout.split(), expected.split())

    def test_ways_to_end(self):
        """The report is written however Python ends, and the exit status is the program's."""
        for ending, status in (("", 0), ("import sys; sys.exit(3)", 3), ("raise ValueError", 1),
                               ("import atexit; atexit.register(lambda: print((a + 1)[0]))", 0),
                               ("import os; os.chdir('/')", 0), ("exit('text')", 1),
                               ("import threading; threading.Thread(target=lambda: [a + 1 for _ in "
                                "range(10 ** 9)], daemon=True).start()", 0)):
            with self.subTest(ending):
                script = "import numpy as np\na = np.arange(9000.0) + 1.0\n" + ending
                shimmed = shim_runner.run(script)
                self.assertEqual(shimmed.returncode, status, repr(shimmed))
                self.assert_on_device(shimmed)

    def test_relative_file(self):
        with tempfile.TemporaryDirectory() as folder:
            script = "import numpy as np, os; os.chdir('/'); np.arange(9000.0) + 1.0"
            done = shim_runner.run_command([shim_runner.sys.executable, "-c", script], cwd=folder,
                                           report=False, env={"GPUSHIM_REPORT": "json:out.json"})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(os.path.join(folder, "out.json"), encoding="utf-8") as stream:
                self.assertGreater(shim_runner.device_calls(json.load(stream)), 0)

    def report_to(self, path, stdout=subprocess.DEVNULL, script=PROGRAM, status=0, **env):
        """Runs the program with its report in the file; the standard error."""
        done = subprocess.run([sys.executable, "-c", script], timeout=120, stdout=stdout, stderr=subprocess.PIPE,
                              env=shim_runner.environment(True, dict(env, GPUSHIM_REPORT="json:" + path)))
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr.decode()

    def test_descriptors(self):
        """What the program wrote to its standard output stays there, whatever name the report's file has."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", out):
                with self.subTest(name), open(out, "wb") as stream:
                    self.assertEqual(self.report_to(name, stream), "")
                    with open(out, encoding="utf-8") as stream:
                        text = stream.read()
                    self.assertTrue(text.startswith(self.plain.stdout), text[:200])
                    self.assertGreater(shim_runner.device_calls(json.loads(text[len(self.plain.stdout):])), 0)

    def test_what_is_no_file(self):
        """Neither a FIFO without a reader nor a full one stops the process; a link is not followed, another's file not
        emptied."""
        with tempfile.TemporaryDirectory() as folder:
            fifo, link, target = (os.path.join(folder, name) for name in ("fifo", "link", "target"))
            os.mkfifo(fifo)
            with open(target, "w", encoding="utf-8") as stream:
                stream.write("precious")
            os.symlink(target, link)
            cases = [(fifo, "No such device"), (link, "symbolic link"), (folder, "directory"), ("/dev/null", "")]
            if os.geteuid() == 0:
                foreign = os.path.join(folder, "foreign")
                shutil.copy(target, foreign)
                os.chown(foreign, 1234, 1234)
                cases.append((foreign, "not permitted"))
            for path, line in cases:
                with self.subTest(path):
                    said = self.report_to(path)
                    self.assertIn(line, said)
                    self.assertEqual(said.count("\n"), 1 if line else 0, said)
            for path in cases[1][0], cases[-1][0]:
                if os.path.isfile(path):
                    with open(path, encoding="utf-8") as stream:
                        self.assertEqual(stream.read(), "precious")
            reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            os.write(writer, bytes(1 << 16))        # as much as it takes
            self.assertIn("timed out", self.report_to(fifo))
            os.close(writer)
            os.close(reader)

    def test_signals(self):
        """A process that SIGTERM or SIGINT ends leaves its report, and ends by that signal."""
        start = "import numpy as np, os, signal, sys, time\na = np.arange(9000.0) + 1.0\n"
        ends = (("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)", signal.SIGTERM, ""),
                ("os.kill(os.getpid(), signal.SIGINT); time.sleep(60)", signal.SIGINT, "KeyboardInterrupt"),
                ("signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGINT); time.sleep(60)",
                 signal.SIGINT, ""),
                ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(3)); "
                 "signal.signal(signal.SIGTERM, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)",
                 signal.SIGTERM, ""))
        for ending, number, said in ends:
            with self.subTest(ending):
                shimmed = shim_runner.run(start + ending)
                self.assertEqual(shimmed.returncode, -number, repr(shimmed))
                self.assertIn(said, shimmed.stderr)
                self.assert_on_device(shimmed)
        with self.subTest("text"):
            shimmed = one_run(start + ends[0][0], report="1")
            self.assertEqual(shimmed.returncode, -signal.SIGTERM)
            self.assertIn("device calls", shimmed.stderr)

    def test_handlers_of_the_program(self):
        """Its handler runs, an ignored signal is ignored, and a forked child dies by the signal without a report."""
        shimmed = shim_runner.run("""
import ctypes, os, signal, sys, warnings
import numpy as np
warnings.filterwarnings('ignore', 'This process', DeprecationWarning)  # a fork beside threads, from 3.12 on
a = np.arange(9000.0) + 1.0
class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("rest", ctypes.c_char * 256)]
def handler():
    action = Action()
    assert ctypes.CDLL(None).sigaction(signal.SIGTERM, None, ctypes.byref(action)) == 0
    return action.handler or 0
print(handler(), signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
signal.signal(signal.SIGTERM, lambda *_: print("handled"))
os.kill(os.getpid(), signal.SIGTERM)
print(handler() not in (0, 1))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGTERM)
print(handler())
signal.signal(signal.SIGTERM, signal.SIG_DFL)
print(handler(), flush=True)
child = os.fork()
if child == 0:
    assert handler() == 0
    signal.pause()
os.kill(child, signal.SIGTERM)
print(os.waitpid(child, 0)[1])
""")
        self.assertEqual((shimmed.returncode, shimmed.stdout, shimmed.stderr),
                         (0, "0 True\nhandled\nTrue\n1\n0\n15\n", ""))
        self.assert_on_device(shimmed)

    def test_doctor(self):
        import numpy
        shimmed = one_run(GPUSHIM_DOCTOR="1", GPUSHIM_ARENA_MIN="128K")
        self.assertEqual((shimmed.returncode, shimmed.stdout), (0, self.plain.stdout))
        for word in (numpy.__version__, shim_runner.DEVICE, "BLAS", "hook ufunc", "live", "ARENA_MIN"):
            self.assertIn(word, shimmed.stderr)
        self.assertNotIn("not live", shimmed.stderr)
        self.assertIn("\nversion: %s\n" % cmake_version(), shimmed.stderr)

    def test_doctor_says_why_nothing_runs(self):
        for env, words in (({"GPUSHIM_DEVICE": "none"}, ["dormant: GPUSHIM_DEVICE is none", "device: none"]),
                           ({"GPUSHIM_MODE": "off"}, ["dormant: GPUSHIM_MODE is off", "numpy: not looked at"]),
                           ({"GPUSHIM_DEVICE": "auto", "CUDA_VISIBLE_DEVICES": ""},
                            ["dormant: no NVIDIA GPU was found", "kernel driver ", "libcuda "])):
            shimmed = one_run(GPUSHIM_DOCTOR="1", **env)
            self.assertEqual((shimmed.returncode, shimmed.stdout), (0, self.plain.stdout))
            for word in words:
                self.assertIn(word, shimmed.stderr)

    def test_help(self):
        shimmed = one_run(GPUSHIM_HELP="1")
        self.assertEqual((shimmed.returncode, shimmed.stdout), (0, self.plain.stdout))
        for name in table("config/options.def", 0):
            self.assertIn("GPUSHIM_" + name, shimmed.stderr)


if __name__ == "__main__":
    unittest.main()
