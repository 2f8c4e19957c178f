# SPDX-License-Identifier: Apache-2.0
"""Five questions of a user, each answered by the report of a program with one fault: did it run on the device? how much faster? why
not? which line? what shall I change?"""
import collections
import os
import re
import unittest

import shim_runner

START = '''
import numpy as np
x = np.arange(200000.0)
y = np.sqrt(x) + 1.0
'''
# text: behind START; the line that ends in "# here" is the worst one. runs: whether most of NumPy's work ran on the device. reason: for the
# CPU, of the verdict; None: none that matters. code, words: of the line's advice. env: options.
Program = collections.namedtuple("Program", "text runs reason code words env", defaults=({},))
PROGRAMS = {
    "element loop": Program('''
total = 0.0
for i in range(30):
    total += y[i] # here
''', True, None, "elements", "x.tolist()"),
    "object dtype": Program('''
o = np.array(y.tolist(), dtype=object)
for i in range(5):
    o + 1 # here
''', False, "dtype", "reason", "astype(float)"),
    "subclass": Program('''
class Own(np.ndarray): pass
for i in range(12):
    y = y * 1.5
    y.view(Own).sum() # here
''', True, None, "back", "np.asarray"),
    "small batches": Program('''
for i in range(20000):
    np.add(x[i:i + 50], 1.0) # here
''', False, "too-small", "reason", "whole array at once", {"GPUSHIM_MODE": "auto"}),
    "ping-pong with a C library": Program('''
import ctypes
for i in range(12):
    y = y * 1.5
    ctypes.memmove(y.ctypes.data, b"12345678", 8) # here
''', True, None, "others", "outside NumPy"),
    "ping-pong with a memoryview": Program('''
view = memoryview(y)
for i in range(12):
    y *= 1.5
    view.tobytes() # here
''', True, None, "others", "outside NumPy"),
    "bytes in the middle": Program('''
for i in range(4):
    y = y * 1.5
    z = np.frombuffer(y.tobytes()) # here
    y = y + z
''', True, None, "back", "before the first"),
    "Python's sort in the middle": Program('''
for i in range(4):
    y = y * 1.5
    z = sorted(y) # here
    y = y + np.array(z)
''', True, None, "others", "np.sort, not sorted"),
    "results in a loop": Program('''
for i in range(30):
    if float((y * i).sum()) < 0: # here
        break
''', True, None, "results", "every tenth"),
}


def run(program, report="json:%s/%%p.json,lines", **env):
    with shim_runner.tempfile.TemporaryDirectory() as folder:
        env["GPUSHIM_REPORT"] = report % folder if "%s" in report else report
        result = shim_runner.run(program, env=env, report=False)
        reports = list(shim_runner._read_reports(folder).values())
        result.report = reports[0] if reports else None
        return result


def run_undisturbed(program, **env):
    """Of three runs the one whose calls on the CPU took least: another process's turn on a core is longer than all of them."""
    return min((run(program, **env) for _ in range(3)), key=lambda result: result.report["verdict"]["work"]["cpu_s"])


def line_of(program):
    return [number for number, text in enumerate(program.splitlines(), 1) if text.endswith("# here")][0]


class TestQuestions(shim_runner.TestCase):
    def check_verdict(self, verdict, runs):
        """Did it run on the device, and how much faster?"""
        self.assertEqual(verdict["share"] > 0.5, runs, verdict)
        self.assertEqual(verdict["state"], "started" if runs or verdict["work"]["device_s"] > 0 else "not-started")
        self.assertGreater(verdict["wall_s"], 0)
        plain = verdict["parts"]["program_s"] + verdict["parts"]["cpu_s"] + sum(verdict[key] for key in ("device_work_s", "parallel_saved_s", "reused_s"))
        self.assertAlmostEqual(verdict["plain_s"], plain, delta=1e-4)

    def check_why(self, verdict, reason):
        """Why not? What shall I change, as the verdict says it without the lines."""
        work = sum(verdict["work"].values())
        codes = [each["code"] for each in verdict["reasons"] if each["seconds"] > max(0.05 * work, 1e-3)]
        self.assertEqual(codes[:1], [reason] if reason else [], verdict)
        if reason:
            self.assertTrue(verdict["reasons"][0]["text"])
            self.assertTrue(verdict["advice"])

    def test_each_is_answered(self):
        for name, program in PROGRAMS.items():
            text = START + program.text
            with self.subTest(name):
                result = run_undisturbed(text, **program.env)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                verdict, lines = result.report["verdict"], result.report["lines"]
                self.check_verdict(verdict, program.runs)
                self.check_why(verdict, program.reason)
                worst = [entry for entry in lines if entry["advice"]][0]
                self.assertEqual((os.path.basename(worst["file"]), worst["line"]), ("script.py", line_of(text)), lines)
                self.assertEqual(worst["advice"]["code"], program.code, worst)
                self.assertIn(program.words, worst["advice"]["text"])

    def test_the_screen_says_the_same(self):
        for name in ("object dtype", "small batches"):
            program = PROGRAMS[name]
            text = START + program.text
            with self.subTest(name):
                lines = run(text, "lines", **program.env).stderr.splitlines()
                self.assertRegex(lines[0], r"^gpushim: (\d+ % of NumPy's hooked work ran on .*: .* s instead of an estimated .* s, (slower|about as fast)|"
                                           r"the device was not started: .*; NumPy computed on the CPU)$")
                self.assertRegex("\n".join(lines[1:5]), r"(?m)^ on the CPU: \S+ s %s \(.+\)" % program.reason)
                self.assertIn(program.words, [line for line in lines if line.startswith(" to change: ")][0])
                first = lines.index("gpushim: lines, the worst round trips first") + 2
                self.assertRegex(lines[first], r"script\.py:%d .*: %s$" % (line_of(text), program.reason))
                self.assertIn(program.words, lines[first + 1])
                without = run(text, "1", **program.env).stderr
                self.assertIn("; `gpushim run --line-profile` names the lines\n", without)

    def test_forgotten_gpu(self):
        """There is none: nothing ran, why, and what to do."""
        program = START + "for i in range(5): y = np.exp(-y)\n"
        hidden = {"GPUSHIM_DEVICE": "auto", "GPUSHIM_MODE": "auto", "CUDA_VISIBLE_DEVICES": ""}
        result = run(program, **hidden)
        verdict = result.report["verdict"]
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual((verdict["state"], verdict["share"], verdict["why_not"]), ("inactive", 0, "no NVIDIA GPU was found"))
        self.assertAlmostEqual(verdict["plain_s"], verdict["wall_s"], delta=1e-4)
        self.assertEqual((verdict["reasons"], result.report["lines"]), ([], []))
        self.assertIn("gpushim doctor", verdict["advice"])
        screen = run(program, "1", **hidden).stderr
        self.assertRegex(screen, r"^gpushim: not active: no NVIDIA GPU was found; NumPy computed on the CPU\n")
        self.assertRegex(screen, r"(?m)^ to change: `gpushim doctor` ")

    def test_error_in_the_script(self):
        """Status and traceback are Python's; what was done until then is told."""
        program = START + "for i in range(5):\n    y = y * 1.5 # here\ny.reshape(7)\n"
        result = run(program)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"Traceback [\s\S]*script\.py\", line %d[\s\S]*\nValueError: cannot reshape [^\n]*\n$"
                         % (line_of(program) + 1))
        self.check_verdict(result.report["verdict"], True)
        self.check_why(result.report["verdict"], None)
        self.assertEqual(result.report["verdict"]["advice"], "")
        lines = {entry["line"]: entry for entry in result.report["lines"]}
        self.assertEqual((lines[line_of(program)]["device_calls"], lines[line_of(program)]["advice"]), (5, None))
        screen = run(program, "1").stderr
        self.assertTrue(re.search(r"\nValueError: .*\ngpushim: \d+ % of NumPy's hooked work ran on ", screen), screen)

    def test_sort_in_the_middle(self):
        """NumPy's sort stays on the device: nothing is moved between the first line and the last, and there is nothing to change."""
        result = run(START + "for i in range(5):\n    y = np.sort(y * 1.5)[::-1] + 1.0 # here\nprint(y.sum() > 0)\n")
        verdict, lines = result.report["verdict"], result.report["lines"]
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "True\n", ""))
        self.check_verdict(verdict, True)
        self.check_why(verdict, None)
        self.assertEqual((verdict["advice"], [entry for entry in lines if entry["advice"]]), ("", []))
        self.assertEqual([row["device_calls"] for row in result.report["operations"] if row["name"] == "sort"], [5])
        self.assertLess(shim_runner.counter(result.report, "download_bytes"), 10000)  # of an array 1.6 MB

    def test_an_innocent_program_has_no_advice(self):
        report = run(START + "print(y.sum() > 0)").report
        self.assertEqual([entry for entry in report["lines"] if entry["advice"]], [])
        self.assertEqual(report["verdict"]["advice"], "")


if __name__ == "__main__":
    unittest.main()
