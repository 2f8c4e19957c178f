# SPDX-License-Identifier: Apache-2.0
"""`gpushim advise` from the tree: forecast and advice for seeded programs, and the report of a run for a GPU that is not there
(GPUSHIM_ADVISE). Times are compared as ranges and as shares."""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import shim_runner

PACKAGE = os.path.join(shim_runner.ROOT, "python", "gpushim")
GOOD = '''
import numpy as np
a = np.linspace(0.0, 1.0, 1_000_000)
b = a
for step in range(60):
    b = np.sin(b) * np.exp(-a) + np.cos(b * a)
print(b.sum())
'''
SHORT = GOOD.replace("range(60)", "range(2)")
ELEMENTS = '''
import numpy as np
b = np.sqrt(np.arange(400_000.0)) + 1.0
total = 0.0
for i in range(400_000):
    total += b[i]
print(total)
'''
OBJECTS = '''
import numpy as np
names = np.arange(50_000).astype(object)
for step in range(40):
    names = names * 2 + 1
print(names[7])
'''
LATE = '''
import sys, time; sys.setswitchinterval(30); import numpy as np
names = np.arange(50_000).astype(object)
for step in range(40):
    np.multiply(names, 2, names)
time.sleep(0.01); print(names[7])
'''
PERMUTED = '''
import numpy as np; rng = np.random.Generator(np.random.SFC64(1))
a = np.cos(np.arange(1_000_000.0))
for step in range(5):
    a = np.sqrt(a * a + 1.5) + np.exp(-a)
    a = rng.permutation(a)
    a = a - a.mean()
print(a.sum())
'''
BATCHES = '''
import numpy as np
batches = [np.full(50, float(i)) for i in range(1000)]
total = 0.0
for repeat in range(10):
    for batch in batches:
        total += np.exp(-batch).sum()
print(total)
'''


@unittest.skipUnless(shim_runner.DEVICE == "host", "the emulated device stands for the GPU")
class TestCase(shim_runner.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        package = os.path.join(cls.folder, "gpushim")
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        os.symlink(shim_runner.LIBRARY, os.path.join(package, "libgpushim.so"))

    def advise(self, text, *options, words=()):
        """(CompletedProcess, the JSON or None) of the command on a script."""
        script, answer = os.path.join(self.folder, "script.py"), os.path.join(self.folder, "answer.json")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        if os.path.exists(answer):
            os.remove(answer)
        done = subprocess.run([sys.executable, "-m", "gpushim", "advise", "--json", answer, *options, script, *words],
                              env=dict(shim_runner.environment(shim=False), PYTHONPATH=self.folder), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, cwd=self.folder, timeout=shim_runner.TIMEOUT)
        if not os.path.exists(answer):
            return done, None
        with open(answer, encoding="utf-8") as file:
            return done, json.load(file)

    def forecast(self, text, *options):
        """The JSON, of a program that prints what it prints plainly."""
        done, answer = self.advise(text, *options)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, shim_runner.run_plain(text).stdout)
        self.assertTrue(done.stderr.startswith(answer["verdict"] + "\n"), done.stderr)
        for row in answer["lines"][:1]:
            self.assertIn("  %s:%d  " % (os.path.relpath(row["file"], self.folder), row["line"]), done.stderr)
        return answer

    def assert_top(self, answer, line, code):
        """The dearest line, by its place in the script and its reason."""
        self.assertTrue(answer["lines"], answer)
        top = answer["lines"][0]
        self.assertEqual((os.path.basename(top["file"]), top["line"], top["code"]), ("script.py", line, code), answer["lines"])


class TestPrograms(TestCase):
    def test_good(self):
        answer = self.forecast(GOOD)
        result = answer["forecast"]
        self.assertGreater(result["moved"] / result["numpy"], 0.9)
        self.assertLess(result["steady"], 0.5 * result["wall"])
        self.assertLess(result["first"], 0.95 * result["wall"])
        self.assertLessEqual(result["next"], result["first"])
        self.assertRegex(answer["verdict"], r"^on an NVIDIA H100 SXM this run would take about .* times as fast; \d+ % of the time")
        # 7 operations of 8 MB a step, fused: the arrays are read and written once a group, at 2.9 TB/s
        self.assertGreater(result["parts"]["kernels"], 5e-6)
        self.assertLess(result["parts"]["kernels"], 60 * 7 * 20e-6)
        self.assertAlmostEqual(sum(result["parts"][part] for part in ("kernels", "calls", "transfers", "numpy", "python")),
                               result["steady"], delta=1e-9)

    def test_element_loop(self):
        answer = self.forecast(ELEMENTS)
        self.assert_top(answer, 6, "element")
        self.assertIn("would take as long as here", answer["verdict"])

    def test_objects(self):
        answer = self.forecast(OBJECTS)
        self.assert_top(answer, 5, "dtype")
        self.assertLess(answer["forecast"]["moved"], 0.2 * answer["forecast"]["numpy"])

    def test_late_sample(self):
        """The sampler gets the GIL only when the last line gives it up: the calls before have lines and times of their own."""
        answer = self.forecast(LATE)
        self.assert_top(answer, 5, "dtype")

    def test_permutation_in_the_middle(self):
        answer = self.forecast(PERMUTED)
        self.assert_top(answer, 6, "unknown-function")
        self.assertIn("permutation", answer["lines"][0]["what"])
        self.assertGreaterEqual(answer["forecast"]["download_bytes"], 5 * 8_000_000)

    def test_small_batches(self):
        answer = self.forecast(BATCHES)
        self.assert_top(answer, 7, "too-small")
        self.assertEqual(answer["forecast"]["device_calls"], 0)
        calls = re.search(r"\((\d+) calls\)", answer["lines"][0]["what"]).group(1)
        self.assertAlmostEqual(int(calls), 20000, delta=1024)  # small calls are sampled

    def test_slower_gpu(self):
        """The same work takes an L4 about 11 times as long as an H100, by their memories."""
        fast, slow = (self.forecast(SHORT, "--gpu", gpu)["forecast"]["parts"]["kernels"] for gpu in ("h100", "l4"))
        self.assertGreater(slow, 3 * fast)


class TestCommand(TestCase):
    def test_status_and_arguments(self):
        done, answer = self.advise("import sys, numpy\nprint(sys.argv[1:])\nsys.exit(7)\n", words=("--gpu", "x"))
        self.assertEqual((done.returncode, done.stdout, answer), (7, "['--gpu', 'x']\n", None))
        self.assertEqual(done.stderr, "gpushim: the program ended with status 7: there is no forecast\n")

    def test_threads_and_forks(self):
        """A child that ends as Python does, and threads that come and go, disturb neither run."""
        done, answer = self.advise('''
import os, sys, threading
import numpy as np
if os.fork() == 0:
    np.sqrt(np.arange(100_000.0))
    sys.exit(0)
assert os.wait()[1] == 0
def work():
    for step in range(20):
        b = np.sqrt(np.arange(200_000.0)) + step
        assert b[4] == 2 + step
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
''')
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done)
        self.assertGreater(answer["forecast"]["numpy"], 0)

    def test_without_numpy(self):
        done, answer = self.advise("print(1)\n")
        self.assertEqual((done.returncode, done.stdout, answer), (0, "1\n", None))
        self.assertEqual(done.stderr, "gpushim: the program does not load NumPy, or ends by os._exit: there is no forecast\n")

    def test_program_that_cannot_be_started(self):
        for name, status, why in (("./none", 127, "No such file or directory"), (self.folder, 126, "Permission denied")):
            done = subprocess.run([sys.executable, "-m", "gpushim", "advise", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=dict(shim_runner.environment(shim=False), PYTHONPATH=self.folder), text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (status, "gpushim: %s: %s\n" % (name, why)))

    def test_wrong_usage(self):
        for words in (("--gpu", "voodoo"), ("--nothing",)):
            done, _ = self.advise("print(1)\n", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)

    def test_names_of_gpus(self):
        """Those of the command are those of the library."""
        with open(os.path.join(shim_runner.ROOT, "offload", "cuda", "cuda_named.c"), encoding="utf-8") as file:
            names = re.findall(r'^    \{"([^"]+)", "NVIDIA', file.read(), re.M)
        sys.path.insert(0, self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        spec = importlib.util.find_spec("gpushim.command_advise")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.assertEqual(list(module.GPUS), names)


class TestOption(TestCase):
    def test_lines_of_jumps(self):
        """CPython 3.11's jumps back to the beginning of a loop have no line: samples there belong to the line before."""
        loop = "import numpy as np\ny = np.ones(300000)\ntotal = 0.0\nfor i in range(0, 300000, 2):\n    if y[i] > 0.1:\n        total += y[i]\n"
        report = self.shim_run(loop, env={"GPUSHIM_ADVISE": "measure", "GPUSHIM_MODE": "auto", "GPUSHIM_ARENA_MIN": "1000000000000"}).report
        lines = {entry["line"] for entry in report["advice_lines"] if entry["kind"] == "sample"}
        self.assertTrue(lines & {4, 5, 6}, lines)
        self.assertLessEqual(max(lines), len(loop.splitlines()))

    def test_bad_name(self):
        result = self.shim_run(SHORT, env={"GPUSHIM_ADVISE": "voodoo", "GPUSHIM_MODE": "auto"})
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"\Agpushim: GPUSHIM_ADVISE=voodoo: no such GPU; known are h200, .*\n\Z")
        self.assertEqual(result.stdout, shim_runner.run_plain(SHORT).stdout)

    def test_other_device(self):
        for device in "cuda", "cpu", "auto":
            result = self.shim_run(SHORT, env={"GPUSHIM_ADVISE": "l4", "GPUSHIM_DEVICE": device})
            self.assertIn("GPUSHIM_ADVISE=l4: GPUSHIM_DEVICE must be host\n", result.stderr)

    def test_report(self):
        """Each transfer and each call is in a line."""
        result = self.shim_run('''
import numpy as np
def look(x):
    return memoryview(x)[5]
a = np.arange(100_000.0)
b = a * 2 + 1
look(b)
''', env={"GPUSHIM_ADVISE": "h200", "GPUSHIM_MODE": "force"})
        lines, counters = result.report["advice_lines"], result.report["counters"]
        for kinds, number, size in ((("upload",), "uploads", "upload_bytes"), (("download", "small"), "downloads", "download_bytes")):
            found = [line for line in lines if line["kind"] in kinds]
            self.assertEqual(sum(line["calls"] for line in found), counters[number], found)
            self.assertEqual(sum(line["bytes"] for line in found), counters[size], found)
        self.assertEqual([line["line"] for line in lines if line["kind"] == "download" and line["line"] != 0], [4])
        self.assertEqual({line["line"] for line in lines if line["name"] in ("multiply", "add")}, {6})
        self.assertEqual(result.report["forecast"]["gpu"], "NVIDIA H200")
        self.assertGreater(result.report["forecast"]["downloads_ns"], 0)

    def test_seconds(self):
        """A kernel that writes 32 MB, and one that reads and writes as much, at 0.87 * 3.35 TB/s, and two launches. The calls' time
        on the CPU is the model's, which knows some 15 GB/s."""
        result = self.shim_run('''
import numpy as np
a = np.arange(4_000_000.0)
b = a * 2 + 1
print(b[5])
''', env={"GPUSHIM_ADVISE": "h100", "GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_FEED_MS": "0"})
        forecast = result.report["forecast"]
        kernels = 96e6 / (0.87 * 3.35e12) + 4e-6 * forecast["launches"]
        self.assertLess(abs(forecast["kernels_ns"] * 1e-9 / kernels - 1), 0.5, forecast)
        host = sum(line["ns"] for line in result.report["advice_lines"] if line["kind"] == "device" and line["name"] in ("multiply", "add"))
        self.assertTrue(2 * 64e6 / 30e9 < host * 1e-9 < 2 * 64e6 / 10e9, host)

    def test_without(self):
        self.assertFalse({"advice_lines", "forecast"} & set(self.shim_run(SHORT).report))


if __name__ == "__main__":
    unittest.main()
