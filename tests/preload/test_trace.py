# SPDX-License-Identifier: Apache-2.0
"""GPUSHIM_TRACE: the file that Perfetto reads, its tracks, what it does when it is full, and the processes that write one;
GPUSHIM_REPORT=dir:DIR, which writes one report a process."""
import collections
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import shim_runner

PROGRAM = """
import numpy as np
a = np.random.Generator(np.random.SFC64(0)).random(400000)  # made on the CPU
b = a * 2 + 1                               # a group
print(round(float(np.sqrt(b).sum()), 6))              # a result comes back
print(b.tolist()[3])                        # a page fault, on the service thread
o = np.add(a[:20000].astype(object), 1)     # stays on the CPU: dtype
b[5] = 1
"""
CAUSES = """
import ctypes
import os
import numpy as np
a = np.random.Generator(np.random.SFC64(0)).random(400000)
b = a * 2                               # one call, which is no group
print(b[7])                             # an element
c = np.sqrt(b) + a
print(float(c.astype("f4").sum()) > 0)  # a result of four bytes
d = c * 2
d.tolist()                              # read on the CPU
e = c[:300000] - 3
e.view("S8").sort()                     # written on the CPU
f = a * 3
print(memoryview(f)[3])                 # a page fault of a read
g = a * 5
ctypes.memset(g.ctypes.data, 0, 8)      # a page fault of a write
h = a * 7
if os.fork() == 0:
    os._exit(0)
os.wait()
del b, c, d, e, f, g, h
"""
TRACKS = {"NumPy calls", "flushes and groups", "device", "host to device", "device to host", "page faults",
          "waits for the device", "device start"}  # of device host
WORK = "import numpy as np\nx = np.ones(300000) + np.arange(300000)\n"


class Trace:
    """A file: `events` of each track by its name without the thread, `threads` with it, `memory`."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            self.json = json.load(stream)
        names = {event["tid"]: event["args"]["name"] for event in self.json["traceEvents"] if event["name"] == "thread_name"}
        self.events, self.threads, self.memory = collections.defaultdict(list), collections.defaultdict(list), []
        for event in self.json["traceEvents"]:
            if event["ph"] == "X":
                self.threads[names[event["tid"]]].append(event)
                self.events[names[event["tid"]].partition(" (")[0]].append(event)
            elif event["ph"] == "C":
                self.memory.append(event["args"]["bytes"])
        self.other = self.json["otherData"]
        self.pid = self.json["traceEvents"][0]["pid"]

    def count(self):
        return sum(map(len, self.events.values())) + len(self.memory)


def crossings(events):
    """Events of a track that begin in another one and end after it."""
    digit, ends, bad = 1.5e-3, [], []  # of the file: 1 ns
    for event in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        end = event["ts"] + event["dur"]
        while ends and ends[-1] <= event["ts"] + digit:
            ends.pop()
        if ends and end > ends[-1] + digit:
            bad.append(event)
        ends.append(end)
    return bad


def holds(outer, inner):
    digit = 1.5e-3
    return outer["ts"] <= inner["ts"] + digit and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + digit


class InFolder(shim_runner.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="shim-trace-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_in(self, script, status=0, **env):
        result = shim_runner.run(script, env=env, report=False)
        self.assertEqual(result.returncode, status, result)
        return result

    def traces(self):
        return [Trace(path) for path in sorted(glob.glob(os.path.join(self.folder, "*.json")))]


class TestTrace(InFolder):
    def trace(self, script=PROGRAM, **env):
        self.result = self.run_in(script, GPUSHIM_TRACE=os.path.join(self.folder, "t.json"), **env)
        return Trace(os.path.join(self.folder, "t.json"))

    def test_tracks(self):
        trace = self.trace(GPUSHIM_FUSION="1")
        wanted = TRACKS | {"compiling and loading"} if shim_runner.DEVICE == "cuda" else TRACKS
        self.assertEqual(set(trace.events), wanted)
        self.assertEqual(trace.other["dropped"], 0)
        self.assertGreaterEqual(max(trace.memory), 3200000)
        self.assertEqual((self.result.stdout, self.result.stderr), (shim_runner.run_plain(PROGRAM).stdout, ""))

    def test_events_nest(self):
        for name, events in self.trace().threads.items():
            self.assertEqual(crossings(events), [], name)
            self.assertTrue(all(event["dur"] >= 0 and event["ts"] > 0 for event in events), name)

    def test_facts(self):
        events = self.trace(GPUSHIM_FUSION="1").events
        calls = {event["name"].split()[0]: event["args"] for event in events["NumPy calls"]}
        self.assertEqual(calls["add"], {"ran on": "CPU", "reason": "dtype"})
        self.assertEqual(calls["multiply"], {"ran on": "device"})
        groups = [event["args"] for event in events["flushes and groups"] if event["name"] == "group"]
        self.assertIn({"holds": "multiply, add, sqrt, sum", "calls": 4}, groups)
        self.assertIn("multiply, add, sqrt, sum", [event["args"].get("holds") for event in events["device"]])
        self.assertIn({"bytes": 3200000, "why": "operand of multiply"}, [event["args"] for event in events["host to device"]])
        self.assertIn("page fault of a read", [event["args"]["why"] for event in events["device to host"]])
        self.assertIn("the host looks at a result", [event["args"].get("why") for event in events["flushes and groups"]])

    def test_causes(self):
        trace = self.trace(CAUSES, GPUSHIM_FUSION="1")
        events = trace.events
        upload, = (event for event in events["host to device"] if event["args"]["bytes"] == 3200000)
        self.assertGreater(upload["dur"], 10)
        self.assertTrue(any(holds(event, upload) for event in events["NumPy calls"] if event["name"] == "multiply dd->d"))
        downloads = [event for event in events["device to host"] if event["ts"] > upload["ts"]]
        moved = collections.defaultdict(list)
        for event in downloads:
            moved[event["args"]["why"]].append(event["args"]["bytes"])
        self.assertLessEqual({"element or result", "read on the CPU", "written on the CPU", "page fault of a read", "page fault of a write",
                              "fork"}, set(moved))
        self.assertLessEqual({4, 8}, set(moved["element or result"]))
        self.assertIn(3200000, moved["read on the CPU"])
        self.assertIn(2400000, moved["written on the CPU"])
        for kind in "read", "write":
            served = [event for event in downloads if event["args"]["why"] == "page fault of a " + kind]
            faults = [event for event in events["page faults"] if event["name"] == kind + " fault"]
            self.assertTrue(all(any(holds(fault, event) for fault in faults) for event in served), kind)
        flushes = [event["args"] for event in events["flushes and groups"] if event["name"] == "flush"]
        self.assertTrue(all(flush["calls"] > 0 for flush in flushes), flushes)
        self.assertLessEqual({"the host looks at a result", "the process forks"}, {flush["why"] for flush in flushes})
        self.assertTrue([event for event in events["device"] if event["name"] == "multiply dd->d"])
        self.assertFalse([event for event in events["device"] if event["name"] == "multiply dd->d" and "holds" in event["args"]])
        self.assertGreaterEqual(max(trace.memory), 12800000)
        self.assertLess(trace.memory[-1], max(trace.memory) / 4)
        self.assertNotIn(0, [after - before for before, after in zip(trace.memory, trace.memory[1:])])

    def test_eviction(self):
        trace = self.trace("import numpy as np\nx = np.arange(400000.0)\nkept = [x * k for k in range(6)]\nprint(sum(y[5] for y in kept))\n"
                           "z = np.sin(np.arange(2000000.0))", GPUSHIM_FUSION="1", GPUSHIM_MEM_LIMIT="10000000")
        self.assertEqual([event["args"] for event in trace.events["NumPy calls"] if event["name"].startswith("sin")],
                         [{"ran on": "CPU", "reason": "memory"}])  # once: the device refused it
        self.assertIn("the device's memory is short", [event["args"]["why"] for event in trace.events["device to host"]])

    def test_start(self):
        events = self.trace(WORK).events
        start, = events["device start"]
        self.assertEqual((start["name"], start["args"]), ("start the device", {"why": shim_runner.DEVICE}))
        self.assertIn("wait for the start of the device", [event["name"] for event in events["waits for the device"]])

    def test_calls_that_stay_on_the_cpu(self):
        """They are there once, with their reason."""
        trace = self.trace("""
import numpy as np
x = np.arange(300000.0)
for _ in range(5):
    np.exp(x)
class Own(np.ndarray):
    pass
np.tanh(x.view(Own))
try:
    from scipy.linalg.blas import dgemm
    y = x[:90000].reshape(300, 300)
    dgemm(1.0, y, y)
    print("products")
except ImportError:
    pass
""", GPUSHIM_MODE="auto", GPUSHIM_START_MS="1000000")
        calls = collections.Counter((event["name"].split()[0], event["args"]["ran on"]) for event in trace.events["NumPy calls"])
        self.assertEqual((calls["exp", "CPU"], calls["tanh", "CPU"]), (5, 1))
        self.assertEqual(calls["dgemm", "CPU"], self.result.stdout.count("products"))
        self.assertFalse([name for name, where in calls if where == "device" and name in ("exp", "tanh", "dgemm")])
        self.assertIn("not-started", {event["args"].get("reason") for event in trace.events["NumPy calls"]})

    def test_device_runs_what_was_submitted_before(self):
        events = self.trace(GPUSHIM_FUSION="1").events
        group, device = (next(event for event in events[track] if event["args"].get("holds", "").startswith("multiply"))
                         for track in ("flushes and groups", "device"))
        looked = max(event["ts"] + event["dur"] for event in events["device to host"])
        self.assertGreaterEqual(device["ts"], group["ts"])
        self.assertLess(device["ts"] + device["dur"], looked + 1000)  # a GPU's clock is read some microseconds late

    def test_dropped_are_counted(self):
        whole, part = self.trace(), self.trace(GPUSHIM_TRACE_EVENTS="10")
        self.assertEqual(part.count(), 10)
        self.assertAlmostEqual(part.count() + part.other["dropped"] + part.other["short_calls"],
                               whole.count() + whole.other["short_calls"], delta=12)  # faults and waits depend on time

    def test_small_calls_do_not_fill_it(self):
        trace = self.trace("import numpy as np\nx = np.ones(3)\nfor _ in range(20000): y = x + x\n", GPUSHIM_MODE="auto")
        self.assertLess(len(trace.events["NumPy calls"]) + trace.other["short_calls"], 2000)

    def test_relative_name_belongs_to_the_first_folder(self):
        result = shim_runner.run_command([sys.executable, "-c", "import os\n" + WORK + "os.chdir('/')"], cwd=self.folder, report=False,
                                         env={"GPUSHIM_TRACE": "r.json"})
        self.assertEqual((result.returncode, len(self.traces())), (0, 1), result)

    def test_a_name_that_cannot_be_written(self):
        result = self.run_in(WORK, GPUSHIM_TRACE="/nowhere/at/all")
        self.assertEqual(result.stderr, "gpushim: cannot write the trace to /nowhere/at/all: No such file or directory\n")

    def test_a_full_disk(self):
        result = self.run_in(WORK + "print(x[5])", GPUSHIM_TRACE="/dev/full")
        self.assertEqual((result.stdout, result.stderr),
                         ("6.0\n", "gpushim: cannot write the trace to /dev/full: No space left on device\n"))
        result = self.run_in(WORK + "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, GPUSHIM_TRACE="/dev/full")
        self.assertEqual(result.stderr, "gpushim: a report or a trace cannot be written\n")

    def test_the_process_id_stands_in_the_name_alone(self):
        folder = os.path.join(self.folder, "100%pure")
        os.mkdir(folder)
        result = shim_runner.run_command([sys.executable, "-c", WORK], cwd=folder, report=False,
                                         env={"GPUSHIM_TRACE": "t.%p.json", "GPUSHIM_REPORT": "json:r.%p.json"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([re.sub(r"\d+", "N", name) for name in sorted(os.listdir(folder))], ["r.N.json", "t.N.json"])

    def test_without_numpy_there_is_none(self):
        self.run_in("print(1)", GPUSHIM_TRACE=os.path.join(self.folder, "t.json"))
        self.assertEqual(self.traces(), [])


class TestProcesses(InFolder):
    """Which processes leave a trace, and which a report."""

    def leave(self, script, status=0, **env):
        """The reports, and the traces."""
        reports = os.path.join(self.folder, "reports")
        self.run_in(script, status, GPUSHIM_TRACE=os.path.join(self.folder, "%p.json"), GPUSHIM_REPORT="dir:" + reports, **env)
        found = []
        for path in sorted(glob.glob(os.path.join(reports, "*.json"))):
            with open(path, encoding="utf-8") as stream:
                found.append(json.load(stream))
            self.assertTrue(path.endswith("-%d-%d.json" % (found[-1]["pid"], found[-1]["process"]["start_ms"])), path)
        return found, self.traces()

    def test_signals(self):
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number=number):
                self.setUp()
                reports, traces = self.leave(
                    WORK + "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\nos.kill(os.getpid(), %d)\n" % number,
                    -number)
                self.assertEqual((len(reports), len(traces)), (1, 1))
                self.assertTrue(reports[0]["operations"] and traces[0].events["NumPy calls"])

    def test_abrupt_exit(self):
        reports, traces = self.leave(WORK + "import os\nos._exit(3)\n", 3)
        self.assertEqual((len(reports), len(traces)), (1, 1))

    def test_abrupt_exit_leaves_other_reports_out(self):
        result = self.run_in(WORK + "import os\nos._exit(3)\n", 3, GPUSHIM_TRACE=os.path.join(self.folder, "t.json"), GPUSHIM_REPORT="1")
        self.assertEqual((len(self.traces()), result.stderr), (1, ""))

    def test_exec(self):
        after = WORK + "np.minimum(x, 3)\n"
        reports, traces = self.leave(WORK + "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', %r])\n" % after)
        self.assertEqual((len(reports), len(traces)), (1, 1))  # those of the program that came last
        self.assertIn("minimum", {event["name"].split()[0] for event in traces[0].events["NumPy calls"]})

    def test_a_signal_that_another_thread_takes_while_the_files_are_written(self):
        trace = os.path.join(self.folder, "t.json")
        script = WORK + ("import signal, threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n"
                         "y = x[:20000]\nfor _ in range(20000): np.sort(y[:200])\n")
        process = subprocess.Popen([sys.executable, "-c", script], env=shim_runner.environment(True, {"GPUSHIM_TRACE": trace}))
        while process.poll() is None:
            if os.path.exists(trace):
                process.send_signal(signal.SIGTERM)
                break
            time.sleep(2e-4)
        process.wait()
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertGreater(Trace(trace).count(), 10000)

    def test_forked_children_count_their_own(self):
        reports, traces = self.leave("import os\n" + WORK + """
for k in range(2):
    child = os.fork()
    if child == 0:
        for _ in range(5 + k):
            np.sort(x)
        os._exit(0)
    os.waitpid(child, 0)
child = os.fork()
if child == 0:
    os._exit(0)                             # used no NumPy
os.waitpid(child, 0)
""")
        self.assertEqual((len(reports), len(traces)), (3, 3))
        parents = {report["process"]["parent"] for report in reports}
        parent = next(report["pid"] for report in reports if report["pid"] in parents)
        children = [report for report in reports if report["process"]["parent"] == parent]
        self.assertEqual(sorted(sum(row["host_calls"] for row in child["operations"]) for child in children), [5, 6])
        self.assertEqual([sum(row["device_calls"] for row in child["operations"]) for child in children], [0, 0])
        self.assertEqual([child["process"]["forked"] for child in children], [True, True])
        self.assertEqual([child["counters"]["launches"] for child in children], [0, 0])
        for child in children:
            self.assertLess(child["verdict"]["wall_s"], 1.5 * child["wall_ns"] * 1e-9 + 0.01)
        calls = {trace.pid: len(trace.events["NumPy calls"]) for trace in traces}
        self.assertEqual(sorted(calls[child["pid"]] for child in children), [5, 6])

    def test_workers(self):
        for method in "fork", "spawn":
            with self.subTest(method=method):
                self.setUp()
                reports, _traces = self.leave("""
import multiprocessing
import numpy as np
def work(k):
    return float(np.sort(np.arange(100000.0) + k).sum())
if __name__ == "__main__":
    with multiprocessing.get_context("%s").Pool(2) as pool:
        print(pool.map(work, range(4), chunksize=2))
    np.sort(np.arange(100000.0)).sum()
""" % method)
                self.assertIn(len(reports), (2, 3))  # one worker may have done all

    def test_one_file_without_the_process_id(self):
        self.run_in("import os\n" + WORK + "print(x[5])\nif os.fork() == 0:\n    np.sort(x)\n    os._exit(0)\nos.wait()\n",
                    GPUSHIM_TRACE=os.path.join(self.folder, "t.json"))
        trace, = self.traces()
        self.assertGreater(len(trace.events["device"]), 0)

    def test_a_folder_that_cannot_be_made(self):
        result = self.run_in(WORK, GPUSHIM_REPORT="dir:/nowhere/at/all")
        self.assertIn("gpushim: cannot write the report to /nowhere/at/all/", result.stderr)
        self.assertIn("dir:DIR", self.run_in(WORK, GPUSHIM_REPORT="dir:").stderr)

    def test_lines_in_a_folder(self):
        reports = os.path.join(self.folder, "reports")
        self.run_in(PROGRAM, GPUSHIM_REPORT="dir:" + reports + ",lines")
        path, = glob.glob(os.path.join(reports, "*.json"))
        with open(path, encoding="utf-8") as stream:
            self.assertTrue(json.load(stream)["lines"])


class TestReading(InFolder):
    """`gpushim report` on what the library writes."""

    def report(self, *words):
        done = subprocess.run([sys.executable, "-m", "gpushim", "report", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, env=dict(os.environ, PYTHONPATH=os.path.join(shim_runner.ROOT, "python")))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def test_text_is_the_librarys(self):
        path = os.path.join(self.folder, "r.json")
        self.run_in(PROGRAM, GPUSHIM_REPORT="json:" + path)
        ours, theirs = self.report(path), self.run_in(PROGRAM, GPUSHIM_REPORT="1").stderr
        shapes = [[re.sub(r"[\d.]+|\bslower\b|\babout as fast\b|\b(?:ns|us|ms)\b", "", line).split() for line in text.splitlines()] for text in (ours, theirs)]
        self.assertEqual(shapes[0][0][:12], shapes[1][0][:12])
        self.assertEqual(shapes[0][2], shapes[1][2])
        with open(path, encoding="utf-8") as stream:
            known = {(" ".join((row["name"], row["signature"]))).strip() for row in json.load(stream)["operations"]}
        for text, shape in zip((ours, theirs), shapes):  # of two runs, whose times differ
            shown = {" ".join(words[:2]) for words in shape[4:] if words[1:2] and "->" in words[1]}
            self.assertLessEqual(shown, known)
            table = text[text.index("\n operation"):text.index("\n moved:")].splitlines()[2:]
            rows = sum(re.search(r" \d+ +(-|[\d.]+ \w+) +\d+ ", line) is not None for line in table)
            more = re.search(r"^ \((\d+) more", table[-1])
            self.assertEqual(rows + int(more.group(1) if more else 0), len(known), text)
        self.assertEqual(*([words for words in shape if words[:1] == ["moved:"]] for shape in shapes))

    def test_page(self):
        folder, trace, page = (os.path.join(self.folder, name) for name in ("reports", "t.json", "p.html"))
        self.run_in(PROGRAM, GPUSHIM_REPORT="dir:%s,lines" % folder, GPUSHIM_TRACE=trace)
        self.report(folder, "-o", page, "--trace", trace)
        with open(page, encoding="utf-8") as stream:
            text = stream.read()
        data = json.loads(re.search(r'id="timeline-data">(.*?)</script>', text).group(1))
        self.assertLessEqual({"NumPy calls", "device", "device memory"}, {track["name"] for track in data["tracks"]})
        self.assertIn("operand of multiply", text)
        self.assertIn("script.py:", text)


if __name__ == "__main__":
    unittest.main()
