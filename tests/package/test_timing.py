# SPDX-License-Identifier: Apache-2.0
"""Clocks: what a timer of the program measures, with the tools that people time with. On the device `host`, which computes what was
recorded only when it has to: a clock that does not wait sees next to nothing."""
import importlib.util
import json
import os
import re
import unittest

from package_venv import call, environment
from test_command import ON_HOST, TestCase

# As loops that nothing overlaps with: 2 ** 0.5 on 1.6 million numbers takes milliseconds, recording it microseconds.
WORK = '''
import time, timeit
import numpy as np
import gpushim
a = np.arange(1600000.0) + 1.0
gpushim.synchronize()
def work():
    return np.abs(np.cbrt(np.cbrt(np.cbrt(a))))
def seconds(timer):
    """Of recording, and of the whole."""
    gpushim.synchronize()
    begin = timer()
    result = work()
    returned = timer()
    gpushim.synchronize()
    return returned - begin, timer() - begin
'''
NO_FPERR = ("--set", "FPERR=off", "--set", "FEED_MS=0")  # nothing but the clock makes the device work
PLAIN = WORK + "print(*seconds(time.perf_counter))\n"


def has(module):
    return unittest.skipUnless(importlib.util.find_spec(module), "%s is not installed" % module)


class TestClocks(TestCase):
    def measured(self, script, *options, words=()):
        self.write("work.py", script)
        status, out, error = self.gpushim("run", *ON_HOST, *NO_FPERR, *options, *(words or ["work.py"]))
        self.assertEqual((status, error), (0, ""))
        return out

    def seconds(self, script, *options):
        return tuple(map(float, self.measured(script, *options).split()))

    def test_clock_measures_the_recording(self):
        recording, whole = self.seconds(PLAIN)
        self.assertLess(recording, whole / 4)

    def test_sync(self):
        returned, whole = self.seconds(PLAIN, "--set", "SYNC=1")
        self.assertGreater(returned, whole * 0.8)

    def test_synchronized_timer(self):
        returned, whole = self.seconds(WORK + "print(*seconds(gpushim.synchronized_timer))\n")
        self.assertGreater(returned, whole * 0.8)
        self.assertEqual(self.measured(WORK + """
class Benchmark:
    timer = gpushim.synchronized(time.process_time)
print(Benchmark().timer() > 0, gpushim.synchronized(gpushim.synchronized_timer) is gpushim.synchronized_timer)
"""), "True True\n")

    def test_timeit(self):
        """`timeit` drops the results: they count all the same."""
        text = WORK + """
from gpushim import timing
once = lambda: timeit.timeit(work, number=5)
plain = once()
undo = timing.patch_timeit()
synchronized = once(), min(timeit.repeat(work, number=5)), timeit.Timer(work).timeit(5)
undo()
print(plain, *synchronized, once())
assert timeit.default_timer is time.perf_counter
"""
        plain, *synchronized, undone = self.seconds(text)
        self.assertLess(max(plain, undone), min(synchronized) / 4)

    def test_dropped_results_are_computed(self):
        """Temporaries of an expression stay temporaries: four calls are one kernel, which stores one array beside `a`."""
        counters = {}
        for keep in (0, 1):
            out = self.measured(WORK + """
gpushim.loaded.library().gpushim_keep_results(%d)
before = gpushim.stats()["counters"]
for i in range(4): work(); gpushim.synchronize()
after = gpushim.stats()["counters"]
print(*(after[key] - before[key] for key in ("needless", "groups", "grouped")), after["device_peak_bytes"] // a.nbytes <= 3)
""" % keep)
            counters[keep] = out
        self.assertEqual(counters, {0: "16 0 0 True\n", 1: "0 4 16 True\n"})

    def test_command_line_of_timeit(self):
        words = ["-n", "5", "-r", "1", "-u", "sec", "-s", "import numpy as np; a = np.arange(1600000.0)", "np.cbrt(np.cbrt(a))"]
        plain, synchronized = (float(re.search("([0-9.e-]+) sec", self.measured("", words=["-m", module, *words])).group(1))
                               for module in ("timeit", "gpushim.timing"))
        self.assertLess(plain, synchronized / 4)


@has("pytest")
class TestPytest(TestCase):
    def pytest(self, *words, under=True):
        command = ["run", *ON_HOST, *NO_FPERR, "--set", "REPORT=json:/dev/null"] if under else ["run", "--mode", "off"]
        status, out, error = self.gpushim(*command, "-m", "pytest", "-p", "no:cacheprovider", *words)
        return status, out + error

    def test_header_and_summary(self):
        self.write("test_it.py", "import numpy as np\ndef test_sum():\n    assert (np.arange(1e6) * 2).sum() > 0\n")
        status, out = self.pytest()
        self.assertEqual(status, 0, out)
        self.assertIn("\ngpushim: loaded; it becomes active when NumPy is imported\n", out)
        self.assertRegex(out, r"\ngpushim: \d+ % of NumPy's hooked work ran on the device: calls there [1-9]\d* \(")
        counted = self.gpushim("run", *ON_HOST, *NO_FPERR, "-m", "pytest", "-p", "no:cacheprovider")[1]
        self.assertRegex(counted, r"\ngpushim: calls on the device [1-9]\d*, on the CPU \d+; moved to the device ")
        self.write("conftest.py", "import numpy\n")
        self.assertIn("\ngpushim: active\n", self.pytest()[1])
        off = self.pytest(under=False)[1]
        self.assertIn("\ngpushim: loaded, not active (gpushim doctor says why)\n", off)
        self.assertIn("\ngpushim: not active; no call of NumPy that gpushim counts\n", off)
        plain = call([self.venv.python, "-m", "pytest", "-p", "no:cacheprovider"], env=environment(), cwd=self.folder)[1]
        self.assertIn("\ngpushim: not loaded (gpushim run -m pytest)\n", plain)
        self.assertNotIn("% of NumPy", plain)

    def test_durations_contain_the_work(self):
        """The last statement of a test leaves work behind, which is the test's own."""
        self.write("test_it.py", WORK + "def test_it():\n    global kept\n    kept = [work() for i in range(20)]\n")
        seconds = {}
        for name, words in (("with", ()), ("without", ("-p", "no:gpushim"))):
            status, out = self.pytest("--durations=1", "--durations-min=0", "-vv", *words)
            self.assertEqual(status, 0, out)
            seconds[name] = float(re.search(r"([0-9.]+)s call ", out).group(1))
        self.assertLess(seconds["without"], seconds["with"] / 4)

    @has("pytest_benchmark")
    def test_benchmark(self):
        self.write("test_it.py", """
import time
import numpy as np
import pytest
a = np.arange(1600000.0) + 1.0
def work():
    return np.abs(np.cbrt(np.cbrt(np.cbrt(a))))
def test_work(benchmark):
    benchmark.pedantic(work, rounds=3, iterations=4)
@pytest.mark.benchmark(timer=time.monotonic, group="marked")
def test_marked(benchmark):
    benchmark.pedantic(work, rounds=3, iterations=4)
    assert benchmark.group == "marked" and "monotonic" in repr(benchmark._timer.__wrapped__)
""")
        # pytest-benchmark's own timer, then the synchronised one.
        columns = ("--benchmark-columns=min", "--benchmark-json=out.json", "-q")
        fastest = []
        for words in (("-p", "no:gpushim", "-k", "work"), ()):
            status, out = self.pytest(*columns, *words)
            self.assertEqual(status, 0, out)
            with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
                fastest.append([row["stats"]["min"] for row in json.load(file)["benchmarks"]])
        self.assertLess(fastest[0][0], min(fastest[1]) / 4)


if __name__ == "__main__":
    unittest.main()
