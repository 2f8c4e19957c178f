# SPDX-License-Identifier: Apache-2.0
"""packaging/docker: the Dockerfile has what its rules ask for, and what it runs after Python is there works on the wheel. No image is
built here."""
import fnmatch
import json
import os
import re
import shlex
import unittest

from package_venv import ROOT, call, environment, must, scratch, wheel

PLACE = "/opt/gpushim"  # of the environment, in the image
KNOWN = {"ARG", "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


def instructions():
    """[(name, arguments)] in order; continued lines are one."""
    with open(os.path.join(ROOT, "packaging", "docker", "Dockerfile"), encoding="utf-8") as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.M).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def all_of(name):
    return [" ".join(arguments.split()) for found, arguments in instructions() if found == name]


class TestDockerfile(unittest.TestCase):
    def test_instructions(self):
        self.assertEqual({name for name, _ in instructions()}, KNOWN)
        self.assertEqual([name for name, _ in instructions()][:2], ["ARG", "FROM"])

    def test_base_has_a_version(self):
        default, = all_of("ARG")
        self.assertRegex(default, r"^CUDA=1[23]\.\d+\.\d+$")
        self.assertEqual(all_of("FROM"), ["nvidia/cuda:${CUDA}-runtime-ubuntu24.04"])

    def test_layers_are_small(self):
        for command in all_of("RUN"):
            if "apt-get install" in command:
                self.assertRegex(command, r"^apt-get update && .*--no-install-recommends .*rm -rf /var/lib/apt/lists/\*$")
            if "pip install" in command:
                self.assertIn("--no-cache-dir", command)
            self.assertNotRegex(command, r"\bsudo\b|curl|wget")

    def test_does_not_run_as_root(self):
        names = [name for name, _ in instructions()]
        self.assertLess(names.index("USER"), names.index("ENTRYPOINT"))
        self.assertNotIn(all_of("USER")[-1], ("root", "0"))

    def test_commands_need_no_shell(self):
        self.assertEqual(json.loads(all_of("ENTRYPOINT")[0]), ["gpushim", "run"])
        self.assertEqual(json.loads(all_of("CMD")[0]), ["--help"])
        self.assertEqual(json.loads(all_of("HEALTHCHECK")[0].split(" CMD ")[1]), ["gpushim", "doctor"])

    def test_health_check_outlasts_the_doctor(self):
        seconds = int(re.search(r"--timeout=(\d+)s", all_of("HEALTHCHECK")[0]).group(1))
        with open(os.path.join(ROOT, "python", "gpushim", "command_doctor.py"), encoding="utf-8") as file:
            self.assertGreater(seconds, float(re.search(r"^TIMEOUT = ([0-9.]+)", file.read(), re.M).group(1)))


class TestImage(unittest.TestCase):
    """The steps that need no network, with the image's folders below one of this test."""

    @classmethod
    def setUpClass(cls):
        cls.top = os.path.join(scratch(), "image")
        os.makedirs(os.path.join(cls.top, "opt/wheel"))
        source, target = shlex.split(all_of("COPY")[0])
        assert fnmatch.fnmatch("dist/" + os.path.basename(wheel()), source) and target == "/opt/wheel/"
        must(["cp", wheel(), cls.top + target])
        must(["python3", "-m", "venv", cls.top + PLACE])
        step, = [command for command in all_of("RUN") if "--no-index" in command]
        must(["bash", "-euc", step.replace("/opt/", cls.top + "/opt/")])

    def run_inside(self, words, **variables):
        path, = [value.split("=", 1)[1] for value in all_of("ENV")]
        search = path.replace("/opt/", self.top + "/opt/").replace("$PATH", os.environ["PATH"])
        return call(words, env=environment(PATH=search, **variables))

    def test_the_wheel_is_not_kept(self):
        self.assertEqual(os.listdir(self.top + "/opt"), ["gpushim"])

    def test_health_check(self):
        words = json.loads(all_of("HEALTHCHECK")[0].split(" CMD ")[1])
        status, out, _ = self.run_inside(words, GPUSHIM_DEVICE="host")
        self.assertEqual((status, out.split(":")[0]), (0, "ready"), out)
        self.assertEqual(self.run_inside(words, GPUSHIM_DEVICE="none")[0], 1)

    def test_entry_point(self):
        path = os.path.join(scratch(), "contained.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import sys, numpy as np, gpushim\nprint(gpushim.active(), (np.arange(1e6) + 1).sum(), sys.argv[1:])\n")
        words = json.loads(all_of("ENTRYPOINT")[0])
        self.assertEqual(self.run_inside([*words, path, "a"], GPUSHIM_DEVICE="host")[:2], (0, "True 500000500000.0 ['a']\n"))
        self.assertIn("usage: gpushim run", self.run_inside([*words, *json.loads(all_of("CMD")[0])])[1])


if __name__ == "__main__":
    unittest.main()
