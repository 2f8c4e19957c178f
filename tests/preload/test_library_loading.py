# SPDX-License-Identifier: Apache-2.0
"""While a library of CUDA is opened, calls that need it run on the CPU, and none waits. It is opened once calls have foregone a share of
what that takes: as long as the last opening took, since the machine was booted, or the very first one of an H200. A process that ends
meanwhile waits for one step only. The emulated libraries take as long as EMULATED_FIRST_MS says."""
import json
import os
import sys
import tempfile
import unittest

import library_times
import shim_runner

# Calls a function of a matrix, and reads the result, until that has taken so many seconds, and on until the device has done so where "device" is given. Prints
# the seconds of the longest call on the CPU, of all, and whether the GPU did the last one.
SCRIPT = '''
import sys, time
import numpy as np
import shim_script

seconds, name, size = float(sys.argv[1]), sys.argv[2], 600
function = {"inv": np.linalg.inv, "matmul": lambda a: a @ a, "fft": np.fft.fft}[name]
matrix = np.array([[1.0 / (1 + abs(i - j)) + (size if i == j else 0) for j in range(size)] for i in range(size)])
def count():
    return sum(row["device_calls"] for row in shim_script.report()["operations"] if row["name"] == name)

count()
times, made, begin = [], 0, time.monotonic()
while sum(times) < seconds or ("device" in sys.argv and made == 0 and time.monotonic() < begin + 60):
    before = time.perf_counter()
    float(function(matrix)[0, 0].real)
    times.append(time.perf_counter() - before)
    made = count()
on_cpu = times[:-1] if made else times
print(max(on_cpu or [0]), sum(on_cpu), made > 0)
'''


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated libraries, which can be slow to open")
class TestLibraryLoading(shim_runner.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="library-loading-")
        self.addCleanup(folder.cleanup)
        self.folder, self.script = folder.name, os.path.join(folder.name, "program.py")
        self.trace, self.cache = os.path.join(folder.name, "trace"), os.path.join(folder.name, "cache")
        with open(self.script, "w", encoding="utf-8") as stream:
            stream.write(SCRIPT)

    def run_script(self, seconds, *args, name="inv", **env):
        """(longest call on the CPU, all of them, whether the GPU did the last call)."""
        result = shim_runner.run_command([sys.executable, "-W", "ignore", self.script, seconds, name, *args], env=dict(
            {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1", "GPUSHIM_CACHE_DIR": self.cache, "OPENBLAS_NUM_THREADS": "1",
             "EMULATED_CUDA_TRACE": self.trace}, **env))
        self.assertEqual(result.returncode, 0, repr(result))
        self.calls = []
        if os.path.exists(self.trace):
            with open(self.trace, encoding="utf-8") as stream:
                self.calls = stream.read().split()
            os.remove(self.trace)
        longest, total, made = result.stdout.split()
        return float(longest), float(total), made == "True"

    def expect_opening(self, **seconds):
        library_times.write(self.cache, **seconds)

    def spans(self, path):
        """[(name, whether the main thread did it)] of a trace."""
        with open(path, encoding="utf-8") as stream:
            events = json.load(stream)["traceEvents"]
        tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
        for event in events:
            if event["name"] == "compile a kernel":
                self.assertRegex(event["args"].get("holds", ""), r"^\w", event)  # what it calls itself
        return [(event["name"], "(thread" not in tracks[event["tid"]]) for event in events if event["ph"] == "X"]

    def test_not_opened_for_less_than_it_takes(self):
        """0.6 s of calls cannot have foregone two fifths of the two seconds that the opening takes."""
        self.expect_opening(cusolver=2)
        _, _, is_made = self.run_script("0.6")
        self.assertFalse(is_made)
        self.assertIn("cuInit", self.calls)
        self.assertNotIn("cusolverDnCreate", self.calls)

    def test_no_call_waits(self):
        self.expect_opening(cusolver=0.005)
        timeline = os.path.join(self.folder, "timeline")
        longest, total, is_made = self.run_script("0", "device", EMULATED_FIRST_MS="cusolverDnCreate:3000",
                                                  GPUSHIM_TRACE=timeline)
        self.assertTrue(is_made)
        spans = self.spans(timeline)
        self.assertGreater(len([name for name, is_main in spans if name == "compile a kernel" and not is_main]), 3)
        self.assertEqual([name for name, is_main in spans if is_main and name in
                          ("compile a kernel", "open a library", "wait for a kernel or a library")], [])
        self.assertGreater(total, 2)
        self.assertLess(longest, 2)

    def test_no_product_or_transform_waits(self):
        """Not even one that would wait for what the opening is expected to take: it waits as long as it gains, then the CPU does it."""
        self.expect_opening(cublas=1e-4, cufft=1e-4)
        for name, slow in (("matmul", "cublasCreate_v2:2000"), ("fft", "cufftGetProperty:2000")):
            with self.subTest(name):
                longest, total, is_made = self.run_script("0", "device", name=name, EMULATED_FIRST_MS=slow)
                self.assertTrue(is_made)
                self.assertGreater(total, 1)
                self.assertLess(longest, 1.5)

    def test_opening_time_is_kept(self):
        self.expect_opening(cusolver=0.005)
        self.run_script("0", "device", EMULATED_FIRST_MS="cusolverDnCreate:1500")
        with open(os.path.join(self.cache, "library_times"), encoding="utf-8") as stream:
            self.assertRegex(stream.read(), r"\ncusolver [1-9]\d{9}\nend\n$")
        self.run_script("0.5")
        self.assertNotIn("cusolverDnCreate", self.calls)

    def test_end_meanwhile(self):
        """The process waits for the step that is in progress, and not for the next one."""
        self.expect_opening(cusolver=0.005)
        _, _, is_made = self.run_script("1", EMULATED_FIRST_MS="cublasCreate_v2:4000,cusolverDnCreate:4000")
        self.assertFalse(is_made)
        self.assertIn("cublasCreate_v2", self.calls)
        self.assertNotIn("cusolverDnCreate", self.calls)

    def test_next_process(self):
        """Calls that have foregone half of the price of an opening make the script's next process open it at once."""
        self.expect_opening(cusolver=1.5)
        env = {"GPUSHIM_PROFILE": "1"}
        self.run_script("0.5", **env)
        self.assertNotIn("cusolverDnCreate", self.calls)
        (name,) = os.listdir(os.path.join(self.cache, "profiles"))
        with open(os.path.join(self.cache, "profiles", name), encoding="utf-8") as stream:
            self.assertIn("library lapack\n", stream.read())
        self.run_script("0.5", **env)
        self.assertIn("cusolverDnCreate", self.calls)


if __name__ == "__main__":
    unittest.main()
