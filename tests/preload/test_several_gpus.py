# SPDX-License-Identifier: Apache-2.0
"""GPUSHIM_GPU: which of several GPUs the process uses. On emulated CUDA libraries with several GPUs that differ by name."""
import os
import subprocess
import sys
import unittest

import shim_runner

SCRIPT = '''
import ctypes
import numpy as np
assert (np.arange(1000000.0) + 1.0).sum() == 500000500000.0
driver = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p(1)
driver.cuCtxGetCurrent(ctypes.byref(context))
print(context.value is not None)
'''
NO_RANK = {"OMPI_COMM_WORLD_LOCAL_RANK": None, "MPI_LOCALRANKID": None, "MV2_COMM_WORLD_LOCAL_RANK": None, "PALS_LOCAL_RANKID": None,
           "SLURM_LOCALID": None, "LOCAL_RANK": None}


@unittest.skipUnless(shim_runner.is_emulated(), "needs emulated CUDA libraries")
class TestSeveralGpus(shim_runner.TestCase):
    def run_with(self, **env):
        """The GPU's name in the report; stderr; whether the thread was left with a context."""
        result = self.shim_run(SCRIPT, env={**NO_RANK, "EMULATED_GPUS": "3", **env})
        device = result.report["device"]
        return device.split(",")[0].replace("GPU emulated GPU", "").strip() if device else None, result.stderr, result.stdout.strip()

    def test_number(self):
        """A context that is not the first GPU's is not left behind for other libraries to take it for theirs."""
        for gpu, name, context in (("", "", "True"), ("0", "", "True"), ("1", "1", "False"), ("2", "2", "False")):
            self.assertEqual(self.run_with(GPUSHIM_GPU=gpu), (name, "", context), gpu)

    def test_no_such_gpu(self):
        for gpu, why in (("3", "no such GPU: this process has 3, from 0 on"), ("-1", "a number from 0, or auto, is expected"),
                         ("1x", "a number from 0, or auto, is expected"), ("one", "a number from 0, or auto, is expected")):
            result = self.shim_run("import numpy as np\nprint((np.arange(1e6) + 1).sum())\n", env={"EMULATED_GPUS": "3", "GPUSHIM_GPU": gpu})
            self.assertEqual(result.stdout, "500000500000.0\n")
            self.assertEqual(result.stderr, "gpushim: device cuda is not usable (GPUSHIM_GPU=%s: %s); NumPy computes on the CPU\n" % (gpu, why))
            self.assertEqual(shim_runner.device_calls(result.report), 0)

    def test_automatic(self):
        for variable in NO_RANK:
            self.assertEqual(self.run_with(GPUSHIM_GPU="auto", **{variable: "4"})[:2], ("1", ""), variable)
        self.assertEqual(self.run_with(GPUSHIM_GPU="auto")[:2], ("", ""))
        self.assertEqual(self.run_with(GPUSHIM_GPU="AUTO", LOCAL_RANK="no number")[:2], ("", ""))

    def test_two_workers_take_one_each(self):
        result = self.shim_run('''
import os, subprocess, sys
code = "import numpy as np, ctypes; (np.arange(1e6) + 1).sum(); s = ctypes.CDLL(None); b = ctypes.create_string_buffer(65536);" \\
       "s.gpushim_report_json(b, 65536); import json; print(json.loads(b.value)['device'].split(',')[0])"
workers = [subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ, LOCAL_RANK=str(rank)), stdout=subprocess.PIPE)
           for rank in range(2)]
print([worker.communicate()[0].decode().strip() for worker in workers])
''', env={**NO_RANK, "EMULATED_GPUS": "2", "GPUSHIM_GPU": "auto"})
        self.assertEqual(result.stdout, "['GPU emulated GPU', 'GPU emulated GPU 1']\n")

    def test_program_for_two_gpus(self):
        """tests/gpu/two_gpus.py, which is for a machine with two GPUs, passes; with one GPU it does not."""
        program = [sys.executable, os.path.join(shim_runner.ROOT, "tests", "gpu", "two_gpus.py"), "--library", shim_runner.LIBRARY]
        for gpus, status in (("2", 0), ("1", 1)):
            environment = dict(os.environ, EMULATED_GPUS=gpus, PATH="/usr/bin:/bin", GPUSHIM_CACHE_DIR=shim_runner.CACHE)
            done = subprocess.run(program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
            self.assertEqual(done.returncode, status, done.stdout)
        self.assertIn("FAIL two GPUs are there", done.stdout)


if __name__ == "__main__":
    shim_runner.main()
