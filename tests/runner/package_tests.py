# SPDX-License-Identifier: Apache-2.0
"""The tests of what pip installs (tests/package), all on one wheel."""
import glob
import os
import shutil

from runner import python_tests
from runner.process import ROOT, step

WHEELS = os.path.join(ROOT, "build-wheel")


def run_package(totals, interpreter):
    shutil.rmtree(WHEELS, ignore_errors=True)
    if step(totals, "make wheel", ["make", "--no-print-directory", "wheel", "DIST=" + WHEELS]):
        env = {"GSH_TEST_WHEEL": glob.glob(os.path.join(WHEELS, "*.whl"))[0]}
        python_tests.run_groups(totals, [python_tests.file_group("package", interpreter, path, env)
                                         for path in python_tests.files(("package",))])
