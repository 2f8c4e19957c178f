# SPDX-License-Identifier: Apache-2.0
"""The doctor's checks of CUDA's libraries, on lines as the library prints them: what cannot be planted where the machine has CUDA."""
import os
import sys
import unittest

import shim_runner

sys.path.insert(0, os.path.join(shim_runner.ROOT, "python"))
from gpushim import doctor_checks, doctor_cuda  # noqa: E402 pylint: disable=wrong-import-position
from gpushim.doctor_facts import Facts  # noqa: E402 pylint: disable=wrong-import-position

LINES = {"device": "cuda, ready", "GPU": "a GPU", "libcuda": "CUDA 13.0 (/d/libcuda.so.1)", "NVRTC": "13.0 of CUDA 13 (/d/libnvrtc.so.13)",
         "cuBLAS": "13.0.2 of CUDA 13 (/d/libcublas.so.13)", "cuSOLVER": "12.0.9 of CUDA 13 (/d/libcusolver.so.12)",
         "cuFFT": "12.1.4 of CUDA 13 (/d/libcufft.so.12)"}
ABSENT = "not loaded: no usable %s.so found for a driver of CUDA %d"
CPU = {"ok": False, "text": "the CPU computed it"}


def facts(probes=(), **lines):
    text = "device: cuda, ready\n" + "".join("%-14s %s\n" % pair for pair in dict(LINES, **lines).items())
    return Facts({}, {"device": text, "probes": list(probes)}, "", None, "/lib/libgpushim.so")


def checks(**lines):
    return {check.name: check for check in doctor_cuda.cuda_checks(facts(**lines))}


class TestAbsence(unittest.TestCase):
    def names(self, environment, **lines):
        made = facts(GPU="not started", **lines)._replace(environment=environment)
        return [check.name for check in doctor_cuda.cuda_checks(made) if check.state == "FAIL"]

    def test_one_cause_is_one_failure(self):
        self.assertEqual(self.names({}, libcuda="not loaded", **{"kernel driver": "not found"}), ["GPU"])
        self.assertEqual(self.names({"CUDA_VISIBLE_DEVICES": "-1"}, libcuda="not loaded", **{"kernel driver": "580.1"}), ["GPU"])
        self.assertIn("driver", self.names({}, libcuda="not loaded", **{"kernel driver": "580.1"}))


class TestVersions(unittest.TestCase):
    def test_all_are_the_drivers(self):
        self.assertEqual(checks()["versions"][1:3], ("ok", "driver CUDA 13.0; libraries of CUDA: NVRTC 13.0, cuBLAS 13.0, cuSOLVER 13, cuFFT 13"))

    def test_minor_version(self):
        """Machine code of a later minor version runs."""
        found = checks(NVRTC="13.1 of CUDA 13 (/d)", cuBLAS="13.2.0 of CUDA 13 (/d)")["versions"]
        self.assertEqual(found[1:], ("note", "the driver (CUDA 13.0) is older than NVRTC (CUDA 13.1), cuBLAS (CUDA 13.2)",
                                     "update NVIDIA's driver to one of CUDA 13.2 or later"))

    def test_major_version_of_each(self):
        """cuFFT and cuSOLVER have numbers of their own."""
        old = dict(libcuda="CUDA 12.4 (/d)", NVRTC="12.4 of CUDA 12 (/d)", cuBLAS="12.4.5 of CUDA 12 (/d)", cuSOLVER="11.6.1 of CUDA 12 (/d)",
                   cuFFT="11.2.1 of CUDA 12 (/d)")
        self.assertEqual(checks(**old)["versions"].state, "ok")
        for name in doctor_cuda.LIBRARIES:
            found = checks(**dict(old, **{name: ABSENT % (name, 12) + "; there is one of CUDA 13: /d/it"}))
            self.assertEqual(found["versions"][1:], (
                "FAIL", "the driver (CUDA 12.4) is older than %s (CUDA 13)" % name,
                'pip install "gpushim[cuda12]", or NVIDIA\'s driver 580 or later, of CUDA 13'))
            self.assertEqual((found[name].state, found[name].mend), ("FAIL", 'pip install "gpushim[cuda12]"'))


class TestMissing(unittest.TestCase):
    def test_probe_names_the_library(self):
        for probe, names in (("product", ["cuBLAS"]), ("fft", ["cuFFT"]), ("solve", ["cuBLAS", "cuSOLVER"])):
            for name in names:
                found = doctor_checks.check_probe(dict(CPU, name=probe), facts(**{name: ABSENT % (name, 13)}))
                self.assertEqual(found[1:], ("FAIL", "the CPU computed it, as %s is missing" % name, 'pip install "gpushim[cuda13]"'))
            self.assertNotIn("missing", doctor_checks.check_probe(dict(CPU, name=probe), facts()).text)

    def test_what_was_not_searched(self):
        found = checks(cuBLAS=ABSENT % ("libcublas", 13), cuSOLVER="not loaded")
        self.assertEqual(found["cuSOLVER"][1:], ("note", "not searched, as cuBLAS is missing", "install cuBLAS first"))


if __name__ == "__main__":
    unittest.main()
