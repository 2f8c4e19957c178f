# SPDX-License-Identifier: Apache-2.0
"""`gpushim bench` as installed from the wheel: what it measures and compares, its exit statuses with planted faults, and the workflow
of docs/user/ci.md."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest

from package_venv import ROOT, call, environment, installed, scratch

FINE, SLOWER, NOT_ON_GPU, DIFFERS, FAILED = 0, 3, 4, 5, 6
ON_HOST = ("--device", "host", "--mode", "force")
QUICK = ("--runs", "1", "--warmup", "0", *ON_HOST)
# `shim`: whether the program runs under gpushim.
BEGIN = "import os, sys, time\nimport numpy as np\nshim = 'libgpushim' in os.environ.get('LD_PRELOAD', '')\n"
WORK = "a = np.full((1000, 1000), 0.5)\nb = np.exp(a) @ a\nprint('sum', b.sum(), 'of', b.size)\n"
STAYS = "a = np.full(2000, 0.5).astype(object)\nfor _ in range(50): a = np.add(a, 1)\nprint(a[0])\n"


class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.venv = installed()

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=scratch())

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def program(self, text, name="program.py"):
        return self.write(name, BEGIN + text)

    def bench(self, *words, **env):
        return call([self.venv.gpushim, "bench", *words], env=environment(**env), cwd=self.folder)

    def check(self, expected, words, told=""):
        """The exit status, and a piece of text on stdout; returns stdout."""
        status, out, error = self.bench(*words)
        self.assertEqual(status, expected, out + error)
        self.assertIn(told, out)
        return out


class TestResults(TestCase):
    def test_three_programs(self):
        """Scripts alone are programs of their own; -- parts others; all results are written."""
        for name in "abc":
            self.program(WORK, name + ".py")
        out = self.check(FINE, ["--json", "r.json", "--markdown", "r.md", "--png", "r.png", "--runs", "2", "--warmup", "0", *ON_HOST,
                                "a.py", "b.py", "--", "c.py", "x"])
        self.assertEqual(self.read("r.md"), out)
        with open(self.path("r.png"), "rb") as picture:
            self.assertEqual(picture.read(8), b"\x89PNG\r\n\x1a\n")
        results = json.loads(self.read("r.json"))
        self.assertEqual([each["command"] for each in results["programs"]], ["a.py", "b.py", "c.py x"])
        self.assertEqual((results["status"], results["problems"]), (FINE, []))
        for each in results["programs"]:
            row = each["rows"][each["name"]]
            self.assertEqual([len(row[side]["seconds"]) for side in ("plain", "gpushim")], [2, 2])
            self.assertAlmostEqual(row["speedup"]["ratio"], row["plain"]["median"] / row["gpushim"]["median"])
            self.assertEqual((each["output"], each["report"]["state"]), ("same", "started"))
            self.assertGreater(each["report"]["share"], 0.5)
            self.assertRegex(out, r"\| %s +\| [\d.]+ m?s ± .* same +\|" % re.escape(each["name"]))

    def test_files_and_tolerance(self):
        """Numbers by tolerance, text literally, arrays by element."""
        self.program("x = 1.0 + 1e-7 * shim\nprint('x =', x)\nnp.savez('out.npz', x=np.array([x, np.nan]))\n")
        self.check(FINE, ["--output", "*.npz", *QUICK, "program.py"])
        self.check(DIFFERS, ["--output", "*.npz", "--rtol", "1e-9", *QUICK, "program.py"], "out.npz: x: 1 of 2 elements differ")

    def test_files_that_are_not_written(self):
        """A file that was there before the run is not its output; one that gpushim's run does not write is a difference."""
        self.write("out.txt", "1\n")
        self.program("if not shim: open('plain.txt', 'w').write('1')\n")
        self.check(FAILED, ["--output", "out.txt", *QUICK, "program.py"], "FAIL failed: --output: no program wrote a file out.txt")
        self.check(DIFFERS, ["--output", "p*.txt", *QUICK, "program.py"], "FAIL differs: program.py: plain.txt: not written")

    def test_clock(self):
        self.program("print('took', 0.25 if shim else 0.5, 's')\n")
        self.check(FINE, ["--clock", "work=took (\\S+) s", "--json", "r.json", *QUICK, "program.py"])
        row = json.loads(self.read("r.json"))["programs"][0]["rows"]["program.py: work"]
        self.assertEqual(row["speedup"], {"ratio": 2, "low": None, "high": None})


    def test_output_in_ascii(self):
        self.program(WORK)
        status, out, error = self.bench("--runs", "2", "--warmup", "0", "--markdown", "r.md", *ON_HOST, "program.py", PYTHONIOENCODING="ascii")
        self.assertEqual(status, FINE, error)
        self.assertRegex(out, r"s \+- .*\n(.*\n)*- Seconds of the whole process: median \+- median")
        self.assertIn("±", self.read("r.md"))

    def test_numbers_of_one(self):
        self.program("np.add(np.array(['a'] * 2000, object), 'b')\n")
        out = self.check(NOT_ON_GPU, ["--require-gpu", "90%", *QUICK, "program.py"], "on the CPU for: dtype (1 call)")
        self.assertRegex(out, r"on the CPU: dtype [\d.]+ [mu]?s \(1 call\)")

    def test_device_that_was_not_started(self):
        self.program("print(np.arange(10.0).sum())\n")
        self.check(FINE, ["--runs", "1", "--warmup", "0", "--device", "host", "program.py"], "- Device: not started. CPU: ")


class TestFaults(TestCase):
    def test_slower(self):
        self.program(WORK + "time.sleep(0.6 * shim)\n")
        self.check(SLOWER, ["--min-speedup", "0.9", *QUICK, "program.py"], "FAIL slower: program.py: speed-up 0.")

    def test_different_number(self):
        self.program("print('x =', 1.0 + 0.01 * shim)\n")
        self.check(DIFFERS, [*QUICK, "program.py"], "FAIL differs: program.py: stdout, line 1: 1.01 instead of 1.0")
        self.check(FINE, ["--ignore", "x = .*", *QUICK, "program.py"])

    def test_different_status(self):
        self.program("sys.exit(3 * shim)\n")
        self.check(DIFFERS, [*QUICK, "program.py"], "exit status 3 instead of exit status 0")

    def test_not_on_the_gpu(self):
        self.program(WORK, "on.py")
        self.program(STAYS, "off.py")
        self.check(NOT_ON_GPU, ["--require-gpu", "50%", *QUICK, "on.py", "off.py"], "FAIL not-on-gpu: off.py: ")

    def test_plain_failure(self):
        """The worst status wins; all problems are told."""
        self.program("sys.exit('no data')\n", "fails.py")
        self.program("print(shim)\n", "differs.py")
        out = self.check(FAILED, [*QUICK, "fails.py", "differs.py"], "FAIL failed: fails.py: exit status 1: no data")
        self.assertIn("FAIL differs: differs.py", out)

    def test_baseline(self):
        self.program(WORK)
        self.check(FINE, ["--json", "r.json", *QUICK, "program.py"])
        self.check(FINE, ["--baseline", "r.json", "--noise", "900", *QUICK, "program.py"])
        results = json.loads(self.read("r.json"))
        results["programs"][0]["rows"]["program.py"]["gpushim"]["median"] /= 100
        self.write("r.json", json.dumps(results))
        self.check(SLOWER, ["--baseline", "r.json", *QUICK, "program.py"], "s in the baseline")
        self.program(WORK, "other.py")
        self.check(SLOWER, ["--baseline", "r.json", *QUICK, "other.py"], "other.py: it is not in the baseline")

    def test_timeout(self):
        """What hangs under gpushim alone is a difference."""
        self.program("time.sleep(60 * shim)\n")
        self.check(DIFFERS, ["--timeout", "2", *QUICK, "program.py"], "no end within the time (--timeout) instead of exit status 0")

    def test_interrupted(self):
        """The program ends, too, and what is known is printed."""
        self.program("open('pid', 'w').write(str(os.getpid()))\ntime.sleep(60)\n")
        process = subprocess.Popen([self.venv.gpushim, "bench", *QUICK, "program.py"], env=environment(), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
        while not os.path.exists(self.path("pid")) or not self.read("pid"):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertIn("INTERRUPTED by signal 2", out)
        self.assertFalse(os.path.exists("/proc/" + self.read("pid")))

    def test_bad_words(self):
        for words in ([], ["--runs", "0", "a.py"], ["--nonsense=1", "a.py"], ["--require-gpu", "120", "a.py"]):
            self.assertEqual(self.bench(*words)[0], 2, words)
        self.assertEqual(self.bench("--json", "none/r.json", "a.py")[0], 1)


class TestWorkflow(TestCase):
    def test_commands_of_the_workflow(self):
        """They run as they are, but for what installs packages from elsewhere; the plain program is the slower one."""
        with open(os.path.join(ROOT, "docs/user/ci.md"), encoding="utf-8") as file:
            commands = re.findall(r"^      - run: (.*)$", file.read(), re.M)
        mine = [command for command in commands if not re.match("python3 -m venv |venv/bin/pip install ", command)]
        self.assertEqual((len(commands), len(mine)), (5, 3))
        self.program(WORK + "time.sleep(1.5 * (not shim))\n", "programs/work.py")
        os.symlink(self.venv.folder, self.path("venv"))
        env = dict(environment(), GITHUB_STEP_SUMMARY=self.path("step.md"), GPUSHIM_DEVICE="host", GPUSHIM_MODE="force")
        for command in mine:
            status, out, error = call(["sh", "-ec", command], env=env, cwd=self.folder)
            self.assertEqual(status, 0, command + "\n" + out + error)
        self.assertIn("| work.py ", self.read("step.md"))


if __name__ == "__main__":
    unittest.main()
