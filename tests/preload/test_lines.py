# SPDX-License-Identifier: Apache-2.0
"""The line profile: for programs with one fault each, the worst line, its numbers and its advice."""
import os
import unittest

import shim_runner

START = '''
import numpy as np
x = np.arange(200000.0)
y = np.sqrt(x) + 1.0
'''
# Programs: (text behind START, the code of the advice, words of it). The line with the comment "# here" is the worst one.
FAULTS = {
    "element loop": ('''
total = 0.0
for i in range(30):
    total += y[i] # here
''', "elements", "x.tolist()"),
    "object dtype": ('''
o = y.tolist()
o = np.array(o, dtype=object)
o + 1 # here
''', "reason", "astype(float)"),
    "results in a loop": ('''
for i in range(30):
    if float((y * i).sum()) < 0: # here
        break
''', "results", "every tenth"),
    "ping-pong with a C library": ('''
import ctypes
for i in range(12):
    y = y * 1.5
    ctypes.memmove(y.ctypes.data, b"12345678", 8) # here
''', "others", "outside NumPy"),
    "ping-pong with a memoryview": ('''
view = memoryview(y)
for i in range(12):
    y *= 1.5
    view.tobytes() # here
''', "others", "outside NumPy"),
    "sort in the middle": ('''
for i in range(4):
    y = y * 1.5
    z = np.sort(y) # here
    y = y + z
''', "back", "before the first"),
}


def run(program, report="json:%s/%%p.json,lines", **env):
    with shim_runner.tempfile.TemporaryDirectory() as folder:
        env["GPUSHIM_REPORT"] = report % folder if "%s" in report else report
        result = shim_runner.run(program, env=env, report=False)
        reports = list(shim_runner._read_reports(folder).values())
        result.report = reports[0] if reports else None
        return result


def line_of(program, mark="# here"):
    return [number for number, text in enumerate(program.splitlines(), 1) if text.endswith(mark)][0]


def entry_of(report, number):
    """The entry of the script's line."""
    return [entry for entry in report["lines"] if entry["file"].endswith("script.py") and entry["line"] == number][0]


class TestFaults(shim_runner.TestCase):
    def test_the_worst_line_and_its_advice(self):
        for name, (text, code, words) in FAULTS.items():
            program = START + text
            with self.subTest(name):
                result = run(program)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                worst = [entry for entry in result.report["lines"] if entry["advice"]][0]
                self.assertEqual((os.path.basename(worst["file"]), worst["line"]), ("script.py", line_of(program)), result.report["lines"])
                self.assertEqual(worst["advice"]["code"], code, worst)
                self.assertIn(words, worst["advice"]["text"])

    def test_small_calls(self):
        program = START + "for i in range(20000):\n    np.add(x[i:i + 50], 1.0) # here\n"
        worst = run(program, GPUSHIM_MODE="auto").report["lines"][0]
        self.assertEqual(worst["line"], line_of(program))
        self.assertEqual((worst["advice"]["code"], list(worst["reasons"])), ("reason", ["too-small"]))
        self.assertAlmostEqual(worst["host_calls"], 20000, delta=512)  # small calls are sampled

    def test_a_subclass(self):
        program = START + "class Own(np.ndarray): pass\ns = y.view(Own)\ns.sum() # here\n"
        entry = run(program).report["lines"][0]
        self.assertEqual((entry["line"], entry["advice"]["code"]), (line_of(program), "back"))
        self.assertIn("np.asarray", entry["advice"]["text"])


class TestNumbers(shim_runner.TestCase):
    def test_an_innocent_program_has_no_advice(self):
        self.assertEqual([entry for entry in run(START + "print(y.sum() > 0)").report["lines"] if entry["advice"]], [])

    def test_lines_add_up_to_the_report(self):
        report = run(START + FAULTS["element loop"][0] + FAULTS["sort in the middle"][0]).report
        for key in ("upload_bytes", "download_bytes", "uploads", "downloads", "faults_read", "faults_write"):
            self.assertEqual(sum(entry[key] for entry in report["lines"]), report["counters"][key], key)
        for key in ("device_calls", "device_ns", "host_calls", "host_ns"):
            self.assertEqual(sum(entry[key] for entry in report["lines"]),
                             sum(row[key] for row in report["operations"]), key)

    def test_device_time_belongs_to_the_line_that_recorded_the_call(self):
        program = START + "y[0]\nc = y.cumsum() # here\npass\nprint(c[5])\n"
        entry = entry_of(run(program).report, line_of(program))
        self.assertEqual([call["name"] for call in entry["calls"]], ["cumsum"])
        self.assertGreater(entry["device_ns"], 0)

    def test_a_function_of_numpy_counts_for_its_caller(self):
        program = START + "np.median(y) # here\n"
        entry = entry_of(run(program).report, line_of(program))
        self.assertGreater(entry["device_calls"] + entry["host_calls"] + entry["downloads"], 0)
        lines = run(program).report["lines"]
        self.assertEqual([entry for entry in lines if "numpy" in entry["file"]], [])
        self.assertEqual([entry for entry in lines if entry["line"] == line_of(program, "import numpy as np")], [])

    def test_each_line_of_a_function_and_of_other_threads(self):
        program = START + '''
import threading
def touch(view):
    return view[:8].tobytes() # here
thread = threading.Thread(target=touch, args=(memoryview(y),))
thread.start()
thread.join()
'''
        entry = entry_of(run(program).report, line_of(program))
        self.assertEqual((entry["faults_read"], entry["downloads"]), (1, 1))

    def test_code_that_is_freed_leaves_no_wrong_line(self):
        """Code objects of equal size are made and freed, so that addresses come again."""
        program = START + '''
for i in range(300):
    code = compile("\\n" * i + "np.add(x, 1.0)", "made", "exec")
    exec(code)
    del code
'''
        lines = [entry for entry in run(program).report["lines"] if entry["file"] == "made"]
        self.assertEqual(sorted((entry["line"], entry["device_calls"]) for entry in lines), [(i + 1, 1) for i in range(300)])

    def test_a_name_that_is_not_ascii(self):
        program = START + "exec(compile('np.add(x, 1.0)[3]', 'd\\xe9j\\xe0.py', 'exec'))\n"
        self.assertIn("d\xe9j\xe0.py", {entry["file"] for entry in run(program).report["lines"]})


class TestOptions(shim_runner.TestCase):
    PROGRAM = START + FAULTS["element loop"][0]

    def test_words(self):
        plain = shim_runner.run_plain(self.PROGRAM)
        for report, has_lines in (("lines", True), ("1,lines", True), ("lines,1", True), ("1", False), ("0", False)):
            result = run(self.PROGRAM, report=report)
            self.assertEqual((result.returncode, result.stdout), (0, plain.stdout))
            self.assertEqual("the worst round trips first" in result.stderr, has_lines, report)
        result = run(self.PROGRAM, report="lines,lines,2")
        self.assertIn("bad value", result.stderr)

    def test_json_without_lines_has_no_such_key(self):
        self.assertNotIn("lines", run(self.PROGRAM, report="json:%s/%%p.json").report)

    def test_text_names_line_and_advice(self):
        result = run(self.PROGRAM, report="lines")
        lines = result.stderr.split("the worst round trips first\n")[1].splitlines()
        self.assertIn("script.py:%d " % line_of(self.PROGRAM), lines[1])
        self.assertIn("`x[i]` in a loop reads 8 bytes", lines[2])

    def test_a_signal_that_ends_the_program(self):
        result = run(self.PROGRAM + "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n", report="lines")
        self.assertEqual(result.returncode, -15)
        self.assertIn("script.py:%d " % line_of(self.PROGRAM), result.stderr)


if __name__ == "__main__":
    unittest.main()
