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

PROBES = ["probe: " + name for name in ("kernel", "product", "fft", "solve", "system calls", "transfers")]
FOREIGN = """
#include <stddef.h>
long read(int file, void *to, size_t size)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(0L), "D"((long)file), "S"(to), "d"(size) : "rcx", "r11", "memory");
    return result;
}
"""


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
        for name in PROBES[:-2]:
            self.assertRegex(out, r"(?m)^ok    %s +right on the device" % name)
        self.assertNotIn("hook ufunc", out)
        self.assertRegex(out, r"(?m)^ok    probe: transfers +[0-9.]+ GB/s to the device, [0-9.]+ GB/s from it$")
        too_long = [line for line in out.splitlines() if len(line) > 100 and " " in line.strip()]
        self.assertEqual(too_long, [])
        self.assertIn("\nhook ufunc: ", self.doctor("-v")[1])

    def test_what_is_switched_off(self):
        self.check_fails("library", "dormant: GPUSHIM_MODE is off", "unset GPUSHIM_MODE", "--mode", "off")
        self.check_fails("library", "dormant: GPUSHIM_DEVICE is none", "unset GPUSHIM_DEVICE", "--device", "none")
        checks = self.check_fails("GPU", "not started", "unset CUDA_VISIBLE_DEVICES", "--device", "auto", CUDA_VISIBLE_DEVICES="-1")
        self.assertEqual([name for name, check in checks.items() if check["state"] == "FAIL"], ["GPU"])
        for device in "cpu", "host":
            self.assertIn("GPUSHIM_DEVICE=" + device, checks["GPU"]["mend"])
        self.assertIn("CUDA_VISIBLE_DEVICES hides it", checks["GPU"]["text"])

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
        self.assertIn("/proc/none cannot be written (", checks["cache folder"]["text"])
        self.assertEqual(checks["cache folder"]["mend"], "set GPUSHIM_CACHE_DIR to a folder of your own")

    def test_bad_timeout(self):
        with self.assertRaisesRegex(AssertionError, "--timeout: a number from 0.1 on is expected, not "):  # on stderr
            self.doctor("--timeout", "0")

    def foreign(self):
        """A library with a read that gpushim does not see."""
        source, path = (os.path.join(self.folder, name) for name in ("foreign.c", "libforeign.so"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(FOREIGN)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", path, source], check=True)
        return path

    def test_foreign_library(self):
        """What it has is seen only behind gpushim."""
        path, own = self.foreign(), os.path.join(self.folder, "gpushim", "libgpushim.so")
        checks = self.check_fails("probe: system calls", "the kernel refused a read", "LD_PRELOAD", LD_PRELOAD=path)
        self.assertEqual(checks["LD_PRELOAD"]["state"], "note")
        self.assertIn("in this order: %s, %s; read is of %s" % (path, own, path), checks["LD_PRELOAD"]["text"])
        self.assertEqual(checks["LD_PRELOAD"]["mend"], "put gpushim first: LD_PRELOAD=%s:%s" % (own, path))
        status, checks = self.checks(LD_PRELOAD="%s:%s" % (own, path))
        self.assertEqual((status, checks["LD_PRELOAD"]["text"]), (0, "tried in this order: %s, %s" % (own, path)), checks)

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_driver_that_is_too_old(self):
        checks = self.check_fails("versions", "the driver (CUDA 12.4) is older than NVRTC (CUDA 13)", 'pip install "gpushim[cuda12]"',
                                  EMULATED_DRIVER="12040")
        self.assertIn("there is one of CUDA 13: /", checks["NVRTC"]["text"])
        self.assertEqual((checks["GPU"]["state"], checks["GPU"]["mend"]), ("FAIL", 'pip install "gpushim[cuda12]"'))
        self.assertIn("not started: no usable libnvrtc.so found for a driver of CUDA 12", checks["GPU"]["text"])

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_transfers(self):
        """One byte of those that only this probe moves is wrong; each copy takes long."""
        self.check_fails("probe: transfers", "WRONG bytes came back", "report", EMULATED_CUDA_WRONG="50000000")
        self.check_fails("probe: transfers", "only 0.0", "report", EMULATED_COPY_MS="800")

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_memory_that_is_not_page_locked(self):
        status, checks = self.checks(EMULATED_CUDA_FAULT="error:cuMemHostRegister*:1:1000000")
        self.assertEqual((status, checks["page-locked memory"]["state"]), (0, "note"), checks)
        self.assertRegex(checks["page-locked memory"]["text"], "^none, [1-9][0-9]* refusals: ")
        self.assertIn("ulimit -l", checks["page-locked memory"]["mend"])
        status, checks = self.checks(GPUSHIM_PIN_LIMIT="1")
        self.assertEqual((status, checks["page-locked memory"]["mend"]), (0, "unset GPUSHIM_PIN_LIMIT"), checks)

    @unittest.skipUnless(shim_runner.is_emulated(), "plants failures in the emulated CUDA libraries")
    def test_missing_library(self):
        """The driver is of CUDA 12, and all libraries but cuFFT are there for it by their names: none for CUDA 13 is taken."""
        there = os.path.join(self.folder, "cuda")
        os.mkdir(there)
        source = next(path for path in os.environ["LD_LIBRARY_PATH"].split(":") if os.path.exists(os.path.join(path, "libcuda.so.1")))
        for path in glob.glob(os.path.join(source, "*")):
            name = os.path.basename(path).replace(".so.13", ".so.12")
            os.symlink(path, os.path.join(there, name.replace("libcusolver.so.12", "libcusolver.so.11")))
        checks = self.check_fails("probe: fft", "the CPU computed it, as cuFFT is missing", 'pip install "gpushim[cuda12]"',
                                  LD_LIBRARY_PATH=there, EMULATED_DRIVER="12040")
        self.assertRegex(checks["cuFFT"]["text"], "^no usable libcufft.so found for a driver of CUDA 12; there is one of CUDA 13: /")
        self.assertIn("cuFFT (CUDA 13)", checks["versions"]["text"])
        for name in ("kernel", "product", "solve"):
            self.assertEqual(checks["probe: " + name]["state"], "ok")

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
