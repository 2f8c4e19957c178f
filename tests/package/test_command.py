# SPDX-License-Identifier: Apache-2.0
"""The command `gpushim` and the module, as installed from the wheel into a fresh environment."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from package_venv import ROOT, TIMEOUT, call, environment, installed, scratch

NO_GPU = "gpushim: no NVIDIA GPU was found: "
HAS_GPU = any(os.path.exists(sign) for sign in ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia/version"))
# Prints what a program sees of how it was started.
SHOW = """
import json, os, signal, sys
print(json.dumps({"argv": sys.argv, "cwd": os.getcwd(), "preload": os.environ.get("LD_PRELOAD"), "stdin": sys.stdin.read(),
                  "python": sys.executable, "locale": os.environ.get("LC_CTYPE"),
                  "options": {name: value for name, value in os.environ.items() if name.startswith("GPUSHIM_")}}))
"""
ON_HOST = ("--device", "host", "--mode", "force")


class TestCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.venv = installed()
        cls.library = os.path.realpath(call([cls.venv.gpushim, "path"])[1].rstrip("\n"))

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=scratch())
        self.cache = os.path.join(self.folder, "cache")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def gpushim(self, *words, env=None, stdin=""):
        """(exit status, stdout, stderr) of the command, in this test's folder."""
        return call([self.venv.gpushim, *words], env=env or environment(), cwd=self.folder, input=stdin)

    def shown(self, *words, env=None, stdin=""):
        """What the program SHOW saw."""
        status, out, error = self.gpushim(*words, env=env, stdin=stdin)
        self.assertEqual(status, 0, error)
        return json.loads(out)


class TestVerify(TestCase):
    def test_exit_status_and_summary(self):
        script = self.write("script.py", "import sys\nimport numpy as np\nnp.arange(1e5) + 1\nprint('out')\nsys.exit(int(sys.argv[1]))\n")
        for words, status in (("0",), 0), (("5",), 5):
            found, out, error = self.gpushim("verify", "--device", "host", "--force", "--json", "summary.json", script, *words)
            self.assertEqual((found, out), (status, "out\n"), error)
            self.assertRegex(error, r"gpushim verify: \d+ calls of the device compared with NumPy, 0 differ")
            with open(os.path.join(self.folder, "summary.json"), encoding="utf-8") as file:
                self.assertGreater(json.load(file)["checked"], 0)
        for share in "some", "300%", "0%":
            status, _, error = self.gpushim("verify", "--share", share, script, "0")
            self.assertEqual((status, error), (
                2, "gpushim verify: --share: all or a percentage up to 100%, as 1%, is expected, not " + share + "\n"))

    def test_nothing_compared(self):
        """The cause is told, and what helps."""
        script = self.write("script.py", "import numpy as np\nprint((np.arange(3.0) + 1).sum())\n")
        for words, told in ((("--device", "none", script), "not active: GPUSHIM_DEVICE is none; NumPy computed on the CPU; --device host needs no GPU"),
                            (("--mode", "off", script), "not active: GPUSHIM_MODE is off; NumPy computed on the CPU"),
                            (("--device", "host", script), "; NumPy computed on the CPU; --force sends there all that is supported"),
                            (("--device", "host", "true"), "no process of the program loaded NumPy and came to its end")):
            status, _, error = self.gpushim("verify", *words)
            self.assertEqual(status, 3, error)
            self.assertRegex(error, r"\ngpushim verify: nothing was compared: .*%s\n$" % re.escape(told))
        if not HAS_GPU:
            self.assertIn("not active: no NVIDIA GPU was found; NumPy computed on the CPU; --device host needs no GPU", self.gpushim("verify", script)[2])

    def test_why_calls_are_not_compared(self):
        script = self.write("script.py", "import numpy as np\na = np.eye(300) * 3\nprint(np.linalg.inv(a)[0, 0])\n")
        error = self.gpushim("verify", "--device", "host", "--force", "--json", "summary.json", script)[2]
        self.assertRegex(error, r" 0 differ, \d+ not compared \((contract|not covered) \d+(, [a-z ]+ \d+)*\)\n$")
        with open(os.path.join(self.folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual(sum(summary["why"].values()), summary["not_checked"])


class TestRun(TestCase):
    def test_script_with_arguments(self):
        """Words behind the script are its own, whatever they look like; paths stay relative; stdin is the script's."""
        self.write("sub/show.py", SHOW)
        words = ["--report", "--", "-m", "a b", "*", "", "--set"]
        seen = self.shown("run", *ON_HOST, "sub/show.py", *words, stdin="text\n")
        self.assertEqual(seen["argv"], ["sub/show.py", *words])
        self.assertEqual((os.path.realpath(seen["cwd"]), seen["stdin"]), (os.path.realpath(self.folder), "text\n"))
        self.assertEqual(os.path.realpath(seen["preload"]), self.library)
        self.assertEqual(seen["python"], self.venv.python)

    def test_module(self):
        self.write("package/__main__.py", SHOW)
        seen = self.shown("run", *ON_HOST, "-m", "package", "-x", "--mode")
        self.assertEqual(seen["argv"][1:], ["-x", "--mode"])
        self.assertTrue(seen["argv"][0].endswith("package/__main__.py"))

    def test_program(self):
        self.write("show.py", SHOW)
        seen = self.shown("run", *ON_HOST, "--", self.venv.python, "-B", "show.py", "x")
        self.assertEqual(seen["argv"], ["show.py", "x"])
        self.assertEqual(self.gpushim("run", *ON_HOST, "sh", "-c", 'echo "$0 $1"; exit 5', "a", "b c")[:2], (5, "a b c\n"))

    def test_options_are_variables(self):
        self.write("show.py", SHOW)
        seen = self.shown("run", "--report", "--mode=force", "--device", "cpu", "--set", "FUSION=0", "--set=GPUSHIM_FPERR=strict",
                          "--set", "PACK=a=b", "show.py", env=environment(GPUSHIM_MODE="off", GPUSHIM_CACHE_DIR=None))
        self.assertEqual(seen["options"], {"GPUSHIM_REPORT": "1", "GPUSHIM_MODE": "force", "GPUSHIM_DEVICE": "cpu",
                                           "GPUSHIM_FUSION": "0", "GPUSHIM_FPERR": "strict", "GPUSHIM_PACK": "a=b"})

    def test_calls_run_on_the_device(self):
        self.write("script.py", "import numpy as np\nimport sys\nprint((np.arange(1e5) * 2).sum())\nsys.exit(3)\n")
        status, out, error = self.gpushim("run", *ON_HOST, "--report", "script.py")
        self.assertEqual((status, out), (3, "9999900000.0\n"))
        self.assertRegex(error, r"^gpushim: \d+ % of NumPy's hooked work ran on host: .*\n(.*\n)* arange ->d +1 ")

    def test_children_inherit_it(self):
        script = "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, 'show.py']))\n"
        self.write("show.py", SHOW)
        self.write("parent.py", script)
        self.assertEqual(os.path.realpath(self.shown("run", *ON_HOST, "parent.py")["preload"]), self.library)

    def test_other_preloaded_libraries_stay_first(self):
        self.write("show.py", SHOW)
        other = os.path.join(self.folder, "libother.so")
        shutil.copy("/lib/x86_64-linux-gnu/libz.so.1" if os.path.exists("/lib/x86_64-linux-gnu/libz.so.1") else self.library, other)
        seen = self.shown("run", *ON_HOST, "show.py", env=environment(LD_PRELOAD=other))["preload"].split(":")
        self.assertEqual([os.path.realpath(path) for path in seen], [os.path.realpath(other), self.library])
        seen = self.shown("run", *ON_HOST, self.venv.gpushim, "run", "show.py")["preload"]
        self.assertEqual(os.path.realpath(seen), self.library)

    def test_signals(self):
        """A signal ends the program itself, and what Python ignores is not ignored in the program."""
        self.write("script.py", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
        self.assertEqual(self.gpushim("run", *ON_HOST, "script.py")[0], -signal.SIGTERM)
        out = self.gpushim("run", *ON_HOST, "grep", "SigIgn", "/proc/self/status")[1]
        self.assertEqual(int(out.split()[1], 16) & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)), 0)

    def test_process_is_the_programs(self):
        with subprocess.Popen([self.venv.gpushim, "run", *ON_HOST, "sh", "-c", "echo $$"], env=environment(),
                              stdout=subprocess.PIPE) as process:
            self.assertEqual(int(process.communicate(timeout=TIMEOUT)[0]), process.pid)

    def test_environment_is_the_programs(self):
        """Python adds LC_CTYPE to it in the locale C."""
        env = environment(LC_ALL=None, LANG=None, LC_CTYPE=None)
        out = self.gpushim("run", *ON_HOST, "env", env=env)[1]
        seen = dict(line.split("=", 1) for line in out.splitlines())
        self.assertEqual(os.path.realpath(seen.pop("LD_PRELOAD")), self.library)
        self.assertEqual((seen.pop("GPUSHIM_DEVICE"), seen.pop("GPUSHIM_MODE")), ("host", "force"))
        seen.pop("_", None)
        self.assertEqual(seen, {name: value for name, value in env.items() if name != "_"})
        out = self.gpushim("run", *ON_HOST, "env", env=dict(env, LC_CTYPE="C.UTF-8"))[1]
        self.assertIn("LC_CTYPE=C.UTF-8\n", out)

    def test_what_cannot_be_started(self):
        self.write("plain", "")
        self.write("package/__main__.py", "")
        for words, status, text in ((["nosuchprogram"], 127, "No such file or directory"), (["/"], 126, "Permission denied"),
                                    (["./plain"], 126, "Permission denied; if it is Python: gpushim run python ./plain"),
                                    (["plain"], 127, "No such file or directory; if it is Python: gpushim run python plain"),
                                    (["./package"], 126, "Permission denied; if it is Python: gpushim run python ./package")):
            found, out, error = self.gpushim("run", *ON_HOST, *words)
            self.assertEqual((found, out, error), (status, "", "gpushim: %s: %s\n" % (words[0], text)))
            found, out, error = self.gpushim("verify", *ON_HOST, *words)
            self.assertEqual((found, out, error), (status, "", "gpushim: %s: %s\n" % (words[0], text.replace("gpushim run", "gpushim verify"))))
        for words in ([], ["-m"], ["-x"], ["--none", "a.py"], ["--set", "FUSION", "a.py"], ["--mode"]):
            status, out, error = self.gpushim("run", *words)
            self.assertEqual((status, out), (2, ""), error)
            self.assertRegex(error, r"^gpushim run: .*\n$")

    def test_file_that_cannot_be_written(self):
        """It is told before the program runs."""
        for command in ("verify", "advise", "bench"):
            self.assertEqual(self.gpushim(command, "--json", "none/x.json", "sh", "-c", "echo ran"),
                             (1, "", "gpushim: none/x.json: there is no folder none\n"))

    def test_path_that_ld_preload_cannot_hold(self):
        target = os.path.join(self.folder, "a b")
        shutil.copytree(os.path.dirname(self.library), os.path.join(target, "gpushim"))
        status, out, error = call([self.venv.python, "-m", "gpushim", "run", "true"], env=environment(PYTHONPATH=target))
        self.assertEqual((status, out), (1, ""))
        self.assertIn("LD_PRELOAD cannot hold", error)


class TestNotice(TestCase):
    """The line that says that there is no GPU."""

    def test_reasons(self):
        hidden = environment(CUDA_VISIBLE_DEVICES="-1")
        self.assertEqual(self.gpushim("run", "sh", "-c", "exit 4", env=hidden), (
            4, "", NO_GPU + "CUDA_VISIBLE_DEVICES hides it; GPUSHIM_DEVICE=cpu uses all cores\n"))
        if not HAS_GPU:
            self.assertRegex(self.gpushim("run", "true", env=environment(CUDA_VISIBLE_DEVICES=None))[2],
                             "^%s.*driver.*/dev/nvidiactl.*; GPUSHIM_DEVICE=cpu uses all cores\n$" % NO_GPU)

    def test_silence(self):
        for words in ("--device", "cpu"), ("--device", "none"), ("--device", "host"), ("--mode", "off"):
            self.assertEqual(self.gpushim("run", *words, "true", env=environment(CUDA_VISIBLE_DEVICES="")), (0, "", ""))

    def test_the_library_looks_for_the_same_signs(self):
        with open(os.path.join(ROOT, "offload/cuda/cuda_backend.c"), encoding="utf-8") as file:
            signs = re.search(r"signs\[\] = \{(.*?)\};", file.read(), re.S).group(1)
        listed = call([self.venv.python, "-c", "from gpushim.launch import DRIVER_SIGNS as s; print(*s)"], env=environment())[1]
        self.assertEqual(re.findall(r'"([^"]+)"', signs), listed.split())

    def test_closed_stderr(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" run sh -c "echo x; exit 6" 2>&-', self.venv.gpushim], stdout=subprocess.PIPE,
                              env=environment(CUDA_VISIBLE_DEVICES=""), timeout=TIMEOUT)
        self.assertEqual((done.returncode, done.stdout), (6, b"x\n"))


class TestOtherCommands(TestCase):
    def test_path(self):
        status, out, error = self.gpushim("path")
        self.assertEqual((status, error), (0, ""))
        self.assertTrue(os.path.isabs(out) and os.path.isfile(out.rstrip("\n")))
        status, out, _ = call(["sh", "-c", 'LD_PRELOAD=$("$0" path) "$1" -c "import gpushim; print(gpushim.stats() is None)"',
                               self.venv.gpushim, self.venv.python], env=environment())
        self.assertEqual((status, out), (0, "False\n"))
        self.assertEqual(call([self.venv.python, "-m", "gpushim", "path"], env=environment())[1].rstrip("\n"), self.library)

    def test_the_library_can_be_executed(self):
        status, out, error = call([self.library], env=environment())
        self.assertEqual((status, error), (0, ""))
        self.assertEqual(out.splitlines()[0], self.gpushim("--version")[1].rstrip("\n"))

    def test_doctor(self):
        status, out, error = self.gpushim("doctor", "--device", "host")
        self.assertEqual((status, error), (0, ""))
        self.assertRegex(out, r"^ready: device host; \d+ checks passed(, 1 with a note)?\n\nok    library +.*,\s+active\n")
        status, out, _ = self.gpushim("doctor", env=environment(CUDA_VISIBLE_DEVICES="-1"))
        self.assertEqual(status, 1)
        self.assertRegex(out, r"^1 of \d+ checks failed: GPU\n")
        status, out, _ = self.gpushim("doctor", env=environment(PYTHONPATH=None))
        self.assertEqual(status, 1)
        self.assertRegex(out, r"FAIL  NumPy +No module named 'numpy'\n +-> pip install numpy\n")

    def test_reader_that_has_enough(self):
        """As `gpushim doctor | head -1`: not a word."""
        done = subprocess.run(["sh", "-c", '"$0" doctor --device host | true; "$0" --help | true', self.venv.gpushim], env=environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_help_and_usage(self):
        status, out, error = self.gpushim("--help")
        self.assertEqual((status, error), (0, ""))
        self.assertEqual([name for name in ("run", "doctor", "path", "clean") if name not in out], [])
        self.assertEqual(self.gpushim("run", "--help")[0], 0)
        self.assertEqual(self.gpushim()[0:2], (2, ""))
        self.assertEqual(self.gpushim("nothing")[0], 2)

    def test_missing_library(self):
        target = os.path.join(self.folder, "without")
        shutil.copytree(os.path.dirname(self.library), os.path.join(target, "gpushim"), ignore=shutil.ignore_patterns("*.so"))
        for words in (["path"], ["run", "true"], ["doctor"], ["advise", "true"], ["bench", "true"], ["verify", "true"]):
            status, out, error = call([self.venv.python, "-m", "gpushim", *words], env=environment(PYTHONPATH=target))
            self.assertEqual((status, out), (1, ""))
            self.assertIn("gpushim: there is no libgpushim.so in " + target, error)


class TestClean(TestCase):
    def setUp(self):
        super().setUp()
        with open(os.path.join(ROOT, "offload/cuda/compile/cuda_cache_trim.h"), encoding="utf-8") as file:
            self.magic = re.search(r'define GSH_CUDA_CACHE_MAGIC "(\w{8})"', file.read()).group(1)
        self.own = {"0123456789abcdef" * 2: self.magic + "code", "f" * 32 + ".12.3.tmp": self.magic[:3],
                    "profiles/" + "a" * 32: "gpushim profile 1\n", "library_times": "gpushim library times 1\n",
                    ".key": "k" * 32}

    def write_cache(self, names):
        for name, text in names.items():
            self.write("cache/" + name, text)

    def clean(self, **env):
        return self.gpushim("clean", env=environment(**{"GPUSHIM_CACHE_DIR": self.cache, **env}))

    def test_own_files(self):
        self.write_cache(self.own)
        size = sum(len(text) for name, text in self.own.items() if name != ".key")
        self.assertEqual(self.clean(), (0, "removed 2 kernels, 1 profile and 1 file of libraries' times (%d bytes) from %s\n" %
                                        (size, self.cache), ""))
        self.assertFalse(os.path.exists(self.cache))
        self.assertEqual(self.clean(), (0, "nothing to remove in %s\n" % self.cache, ""))

    def test_other_files_stay(self):
        others = {"notes.txt": "text", "e" * 32: "an MD5 sum's name", "A" * 32: self.magic, "profiles/" + "b" * 32: "no profile",
                  "sub/" + "c" * 32: self.magic}
        self.write_cache({**self.own, **others})
        os.symlink(self.write("kernel", self.magic), os.path.join(self.cache, "d" * 32))
        self.assertEqual(self.clean()[0], 0)
        left = {os.path.relpath(os.path.join(where, name), self.cache) for where, _, names in os.walk(self.cache) for name in names}
        self.assertEqual(left, {*others, "d" * 32, ".key"})

    def test_a_folder_that_is_not_the_librarys_stays(self):
        self.write_cache({".key": "k" * 32})
        self.assertEqual(self.clean()[0], 0)
        self.assertEqual(os.listdir(self.cache), [".key"])

    def test_places(self):
        """The library's order of folders."""
        self.assertEqual(self.clean(GPUSHIM_CACHE_DIR="", XDG_CACHE_HOME="/none", HOME="/home/x")[1],
                         "nothing to remove in /none/gpushim\n")
        self.assertEqual(self.clean(GPUSHIM_CACHE_DIR=None, XDG_CACHE_HOME="relative", HOME="/none")[1],
                         "nothing to remove in /none/.cache/gpushim\n")
        self.assertEqual(self.clean(GPUSHIM_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=None)[::2],
                         (1, "gpushim: there is no cache folder: HOME is not set\n"))

    def test_profiles_that_the_library_writes(self):
        script = self.write("script.py", "import numpy as np\na = np.ones(10**6)\nfor _ in range(200): a = np.sin(a)\nprint(a[0])\n")
        env = environment(GPUSHIM_CACHE_DIR=self.cache, GPUSHIM_START_MS="0")
        self.assertEqual(self.gpushim("run", "--device", "host", script, env=env)[0], 0)
        self.assertEqual(len(os.listdir(self.cache + "/profiles")), 1)
        self.assertRegex(self.clean()[1], r"^removed 1 profile \(\d+ bytes\)")


class TestModule(TestCase):
    PROGRAM = """
import gpushim
print(gpushim.active(), gpushim.stats() is None, gpushim.synchronize())
import numpy as np
a = np.arange(1e5) * 2
gpushim.synchronize()
print(gpushim.active(), gpushim.__version__, (gpushim.stats() or {}).get("device", "none").split(":")[0])
"""

    def test_share_is_known_where_times_are_measured(self):
        script = self.write("script.py", """
import numpy as np, gpushim
a = np.exp(np.arange(1e6))
verdict = gpushim.stats()["verdict"]
print(verdict["share"] is None, verdict["wall_s"] is None, verdict["plain_s"] is None, verdict["state"])
""")
        self.assertEqual(self.gpushim("run", *ON_HOST, script)[1], "True True True started\n")
        reported = self.gpushim("run", *ON_HOST, "--set", "REPORT=json:" + os.path.join(self.folder, "r.json"), script)
        self.assertEqual(reported[1], "False False False started\n")

    def test_with_the_library(self):
        script = self.write("script.py", self.PROGRAM)
        self.assertRegex(self.gpushim("run", *ON_HOST, script)[1], r"^False False None\nTrue [0-9.]+ host\n$")
        self.assertRegex(self.gpushim("run", "--device", "none", script)[1], r"^False False None\nFalse [0-9.]+ no device\n$")

    def test_without_the_library(self):
        script = self.write("script.py", self.PROGRAM)
        status, out, error = call([self.venv.python, script], env=environment())
        self.assertEqual((status, error), (0, ""))
        self.assertRegex(out, r"^False True None\nFalse [0-9.]+ none\n$")


if __name__ == "__main__":
    unittest.main()
