# SPDX-License-Identifier: Apache-2.0
"""Calls that stay on the CPU are named by GPUSHIM_ON_FALLBACK, and a share on the device is required by GPUSHIM_REQUIRE."""
import re
import unittest

import shim_runner

START = '''
import warnings
import numpy as np
x = np.arange(20000.0)
o = np.array([1.5] * 20000, dtype=object)
'''
LONG = len(START.splitlines()) + 1
# A statement, and (name of the call, reason) or None: what is named there.
CALLS = [
    ("o + 1", ("add", "a dtype that the device does not support")),
    ("np.add.reduce(o)", ("reduce", "a dtype that the device does not support")),
    ("x.astype(object)", ("astype", "a dtype that the device does not support")),
    ("x[:] = o", ("assign", "a dtype that the device does not support")),
    ("np.ones(20000, dtype=object)", ("copyto", "a dtype that the device does not support")),  # called by NumPy's Python code
    ("x + 1.0", None),
    ("o[:100] + 1", None),
    ("np.add(3, 4)", None),
]


def run(program, **env):
    return shim_runner.run(program, env=env, report=False)


class TestFallback(shim_runner.TestCase):
    def test_warn_names_call_reason_and_line(self):
        for statement, expected in CALLS:
            with self.subTest(statement):
                result = run(START + statement + "\n", GPUSHIM_ON_FALLBACK="warn")
                named = re.findall(r"script\.py:(\d+): RuntimeWarning: gpushim: (.*) ran on the CPU: (.*) \(script\.py:(\d+)\)", result.stderr)
                named = [entry for entry in named if int(entry[0]) >= LONG]
                self.assertEqual(result.returncode, 0)
                if expected is None:
                    self.assertEqual(named, [], result.stderr)
                    continue
                self.assertEqual([(entry[0], entry[1].split()[0], entry[2], entry[3]) for entry in named],
                                 [(str(LONG), expected[0], expected[1], str(LONG))], result.stderr)

    def test_warn_once_a_line(self):
        result = run(START + "for i in range(5):\n    o + 1\n    o - 1\n", GPUSHIM_ON_FALLBACK="warn")
        self.assertEqual(len(re.findall("script.py:%d: RuntimeWarning" % (LONG + 1), result.stderr)), 1)
        self.assertEqual(len(re.findall("script.py:%d: RuntimeWarning" % (LONG + 2), result.stderr)), 1)

    def test_raise_is_an_exception_at_the_call(self):
        program = START + '''
for statement in ("o + 1", "x[:] = o", "np.add.reduce(o)"):
    try:
        exec(compile(statement, "made.py", "exec"))
    except RuntimeError as error:
        print(error)
print((x + 1.0).sum())
o + 1
print("not reached")
'''
        result = run(program, GPUSHIM_ON_FALLBACK="raise")
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 4, result)
        for line in lines[:3]:
            self.assertRegex(line, r"^gpushim: .* ran on the CPU: a dtype that the device does not support \(made.py:1\)$")
        self.assertEqual(result.returncode, 1)
        self.assertIn("RuntimeError: gpushim: add ran on the CPU", result.stderr)

    def test_filters_of_the_program(self):
        program = START + 'warnings.simplefilter("error")\ntry:\n    o + 1\nexcept RuntimeWarning as error:\n    print(error)\n'
        self.assertIn("ran on the CPU", run(program, GPUSHIM_ON_FALLBACK="warn").stdout)

    def test_an_error_of_numpys_own_stays(self):
        for statement in ("np.add(o, x[:3])", "x[:] = o[:19000]"):
            program = START + 'try:\n    %s\nexcept ValueError as error:\n    print("ValueError")\n' % statement
            self.assertEqual(run(program, GPUSHIM_ON_FALLBACK="raise").stdout, "ValueError\n", statement)

    def test_what_the_program_cannot_change_is_not_named(self):
        program = START + "for i in range(3):\n    x + 1.0\n"
        result = shim_runner.run(program, env={"GPUSHIM_ON_FALLBACK": "raise", "GPUSHIM_MODE": "auto", "GPUSHIM_MIN_ELEMENTS": "1000000000"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        reasons = [row["reasons"] for row in result.report["operations"] if row["name"] == "add"]
        self.assertEqual(reasons, [{"too-small": 3}])

    def test_ignored_by_default(self):
        result = run(START + "o + 1\n")
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class TestRequirement(shim_runner.TestCase):
    PROGRAM = START + "for i in range(20):\n    o + 1\nprint((x + 1).sum())\n"

    def test_one_line_where_it_is_missed(self):
        plain = shim_runner.run_plain(self.PROGRAM)
        result = run(self.PROGRAM, GPUSHIM_REQUIRE="99%")
        self.assertEqual((result.returncode, result.stdout), (0, plain.stdout))
        self.assertRegex(result.stderr, r"^gpushim: [\d.e-]+ % of NumPy's hooked work ran on the device, required 99 %; "
                                        r"most on the CPU: add at .*script\.py:" + str(LONG + 1) + r", dtype: .*\n$")

    def test_silent_where_it_is_reached(self):
        """Enough work that a pause of the machine within a call of NumPy's import does not count for more."""
        result = run("import numpy as np\nx = np.arange(4e6)\nprint((x + 1).sum())\n", GPUSHIM_REQUIRE="1%")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_other_threads_count(self):
        """All work is a thread's: on the device, and on the CPU."""
        thread = "import threading\nthread = threading.Thread(target=lambda: %s)\nthread.start()\nthread.join()\n"
        begin = "import numpy as np\n"
        for work, stays in (("np.arange(4e6).sum()", False), ("np.arange(1e5).astype(object)[:20000] + 1", True)):
            with self.subTest(work):
                self.assertEqual("required" in run(begin + thread % work, GPUSHIM_REQUIRE="50%").stderr, stays)

    def test_exit_status_stays(self):
        result = run(self.PROGRAM + "raise SystemExit(7)\n", GPUSHIM_REQUIRE="99%")
        self.assertEqual(result.returncode, 7)
        self.assertIn("required 99 %", result.stderr)

    def test_json(self):
        result = shim_runner.run(self.PROGRAM, env={"GPUSHIM_REQUIRE": "99%"})
        require, verdict = result.report["require"], result.report["verdict"]
        self.assertEqual((require["wanted"], require["met"]), (99, False))
        self.assertAlmostEqual(require["reached"], 100 * verdict["share"], 1)
        self.assertNotIn("require", shim_runner.run(self.PROGRAM).report)
        self.assertTrue(shim_runner.run(START, env={"GPUSHIM_REQUIRE": "0.001%"}).report["require"]["met"])

    def test_without_a_device(self):
        result = run(self.PROGRAM, GPUSHIM_REQUIRE="10%", GPUSHIM_DEVICE="none")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"^gpushim: 0 % of .* required 10 %; no call was watched.*\n$")

    def test_bad_value(self):
        for text in ("many", "0%", "101%", "5%%", "80"):
            result = run("import numpy\n", GPUSHIM_REQUIRE=text)
            self.assertRegex(result.stderr, r"^gpushim: GPUSHIM_REQUIRE=%s: bad value.*\n$" % re.escape(text))


if __name__ == "__main__":
    unittest.main()
