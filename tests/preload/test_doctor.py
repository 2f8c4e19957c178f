# SPDX-License-Identifier: Apache-2.0
"""`gpushim doctor` on the device of the tests. On the emulated CUDA libraries failures are planted: each is told with what mends it."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import shim_runner

PROBES = ["probe: " + name for name in ("kernel", "product", "fft", "solve", "transfers")]


class TestDoctor(shim_runner.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        package = os.path.join(self.folder, "gpushim")
        shutil.copytree(os.path.join(shim_runner.ROOT, "python", "gpushim"), package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        os.symlink(shim_runner.LIBRARY, os.path.join(package, "libgpushim.so"))

    def doctor(self, *words, **env):
        """(exit status, output)."""
        environment = dict(shim_runner.environment(shim=False), PYTHONPATH=self.folder, GPUSHIM_DEVICE=shim_runner.DEVICE, **env)
        done = subprocess.run([sys.executable, "-m", "gpushim", "doctor", *words], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def checks(self, *words, **env):
        """(exit status, {name: check})."""
        status, out = self.doctor("--json", *words, **env)
        return status, {check["name"]: check for check in json.loads(out)["checks"]}

    def check_fails(self, name, text, mend, *words, **env):
        status, checks = self.checks(*words, **env)
        self.assertEqual((status, checks[name]["state"]), (1, "FAIL"), checks)
        self.assertIn(text, checks[name]["text"])
        self.assertIn(mend, checks[name]["mend"])
        return checks

    def test_all_is_well(self):
        status, out = self.doctor()
        self.assertEqual(status, 0, out)
        self.assertTrue(out.startswith("ready: "), out)
        for name in PROBES[:-1]:
            self.assertRegex(out, r"(?m)^ok    %s +right on the device" % name)
        self.assertNotIn("hook ufunc", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 110)
        self.assertIn("\nhook ufunc: ", self.doctor("-v")[1])

    def test_what_is_switched_off(self):
        self.check_fails("library", "dormant: GPUSHIM_MODE is off", "unset GPUSHIM_MODE", "--mode", "off")
        self.check_fails("library", "dormant: GPUSHIM_DEVICE is none", "unset GPUSHIM_DEVICE", "--device", "none")
        checks = self.check_fails("GPU", "not started", "unset CUDA_VISIBLE_DEVICES", "--device", "auto", CUDA_VISIBLE_DEVICES="-1")
        self.assertIn("GPUSHIM_DEVICE=cpu", checks["library"]["mend"])

    def sabotage(self, text):
        """An environment in which NumPy is a package of this text."""
        os.makedirs(os.path.join(self.folder, "numpy"))
        with open(os.path.join(self.folder, "numpy", "__init__.py"), "w", encoding="utf-8") as file:
            file.write(text)

    def test_child_that_keeps_the_pipe(self):
        """The timeout holds whatever the probe has started."""
        self.sabotage("import subprocess, time\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)\n")
        begin = time.monotonic()
        self.check_fails("probe", "did not end within 2 s", "restart", "--timeout", "2")
        self.assertLess(time.monotonic() - begin, 20)

    def test_crash(self):
        """It is told as a crash, and as nothing else."""
        self.sabotage("import os, sys\nsys.stderr.write('the last word\\n')\nsys.stderr.flush()\nos.abort()\n")
        checks = self.check_fails("probe", "it ended with status 134: the last word", "-v")
        self.assertEqual([name for name, check in checks.items() if check["state"] == "FAIL"], ["probe"])

    def test_numpy_that_cannot_be_imported(self):
        self.sabotage("raise RuntimeError('of another machine')\n")
        checks = self.check_fails("NumPy", "RuntimeError: of another machine", "pip install numpy")
        self.assertEqual([name for name, check in checks.items() if check["state"] == "FAIL"], ["NumPy"])

    def test_cache_folder(self):
        status, checks = self.checks(GPUSHIM_CACHE_DIR="/proc/none")
        self.assertEqual((status, checks["cache folder"]["state"]), (0, "note"))
        self.assertIn("GPUSHIM_CACHE_DIR", checks["cache folder"]["mend"])

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_missing_library(self):
        there = os.path.join(self.folder, "cuda")
        os.mkdir(there)
        source = next(path for path in os.environ["LD_LIBRARY_PATH"].split(":") if os.path.exists(os.path.join(path, "libcuda.so.1")))
        for path in glob.glob(os.path.join(source, "lib*.so*")):
            if "cufft" not in path:
                os.symlink(path, os.path.join(there, os.path.basename(path)))
        checks = self.check_fails("probe: fft", "the CPU computed it", "GPUSHIM_LOG=info", LD_LIBRARY_PATH=there)
        if not glob.glob("/usr/local/cuda*/lib*/libcufft.so*"):  # NVIDIA's own is not usable by the emulated driver
            self.assertEqual((checks["cuFFT"]["text"], checks["cuFFT"]["mend"]), ("not found", 'pip install "gpushim[cuda13]"'))
        self.assertEqual(checks["probe: product"]["state"], "ok")

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_wrong_results(self):
        checks = self.check_fails("probe: kernel", "WRONG", "report", EMULATED_CUDA_WRONG="4006")
        self.assertEqual(checks["GPU"]["state"], "ok")

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_driver_that_hangs(self):
        checks = self.check_fails("probe", "did not end within 3 s", "restart", "--timeout", "3", EMULATED_INIT_MS="600000")
        self.assertEqual([name for name, check in checks.items() if check["state"] == "FAIL"], ["probe"])


if __name__ == "__main__":
    unittest.main()
