# SPDX-License-Identifier: Apache-2.0
"""The line profile: to which line numbers belong, and the option. Advice: test_questions.py."""
import unittest

import shim_runner
from test_questions import START, run

ELEMENTS = "total = 0.0\nfor i in range(30):\n    total += y[i] # here\n"
BYTES = "for i in range(4):\n    y = y * 1.5\n    z = np.frombuffer(y.tobytes())\n    y = y + z\n"


def line_of(program, mark="# here"):
    return [number for number, text in enumerate(program.splitlines(), 1) if text.endswith(mark)][0]


def entry_of(report, number):
    """The entry of the script's line."""
    return [entry for entry in report["lines"] if entry["file"].endswith("script.py") and entry["line"] == number][0]


class TestNumbers(shim_runner.TestCase):
    def test_lines_add_up_to_the_report(self):
        report = run(START + ELEMENTS + BYTES).report
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

    def test_a_name_that_is_no_utf8(self):
        program = START + "exec(compile('np.add(x, 1.0)[3]', b'\\xff.py'.decode('utf-8', 'surrogateescape'), 'exec'))\nprint(x[3])\n"
        for env in ({}, {"GPUSHIM_VERIFY": "all"}, {"GPUSHIM_ON_FALLBACK": "warn"}, {"GPUSHIM_REQUIRE": "1%"}):
            result = shim_runner.run(program, env=dict(env, GPUSHIM_REPORT="lines"), report=False)
            self.assertEqual((result.returncode, result.stdout), (0, "3.0\n"), result.stderr)
        self.assertIn("<a file whose name is no UTF-8>", {entry["file"] for entry in run(program).report["lines"]})


class TestOptions(shim_runner.TestCase):
    PROGRAM = START + ELEMENTS

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
