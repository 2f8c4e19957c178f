# SPDX-License-Identifier: Apache-2.0
"""How often a script calls functions of the library, and how many instructions it takes, counted by valgrind: what a call costs, without
a clock."""
import re
import shutil
import tempfile
import unittest

import shim_runner


def read_profile(profile):
    """{function: how often it was called} of a file of callgrind's."""
    names, counts, callee = {}, {}, None
    for line in profile.splitlines():
        named = re.match(r"c?fn=\((\d+)\)(?: (\S+))?", line)
        if named and named.group(2):
            names[named.group(1)] = re.sub(r"\.\w+\.\d+$", "", named.group(2))
        if line.startswith("cfn="):
            callee = names[named.group(1)]
        elif line.startswith("calls="):
            counts[callee] = counts.get(callee, 0) + int(line[6:].split()[0])
    return counts


@unittest.skipIf(shutil.which("valgrind") is None, "needs valgrind")
@unittest.skipIf(shim_runner.DEVICE == "cuda", "CUDA's libraries are not run under valgrind")
class TestCase(shim_runner.TestCase):
    def profile(self, script, **env):
        """callgrind's file of a run in mode auto."""
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/profile"
            command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + path,
                       "--vex-iropt-register-updates=allregs-at-mem-access", shim_runner.sys.executable, "-c", script]
            result = shim_runner.run_command(command, env={"GPUSHIM_MODE": "auto", "OPENBLAS_NUM_THREADS": "1", **env}, report=False)
            self.assertEqual(result.returncode, 0, result)
            with open(path, encoding="utf-8") as stream:
                return stream.read()

    def count_calls(self, script, **env):
        """{function: calls}. A function that is inlined is not among them."""
        return read_profile(self.profile(script, **env))

    def count_instructions(self, script, **env):
        return int(re.search(r"^(?:summary|totals): (\d+)", self.profile(script, **env), re.M).group(1))
