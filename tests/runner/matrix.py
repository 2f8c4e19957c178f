# SPDX-License-Identifier: Apache-2.0
"""The Python tests under every CPython found, with old and new NumPy."""
import glob
import os
import shutil

from runner import python_tests
from runner.process import ROOT, execute, step

# NumPy versions by Python: the oldest supported one that has a wheel, and the newest.
MATRIX = {"3.9": ("1.22.4", "2.0.2"), "3.10": ("1.22.4", "2.2.6"), "3.11": ("1.23.5", "2.4.6"),
          "3.12": ("1.26.4", "2.5.5"), "3.13": ("2.1.3", "2.5.5")}


def find_python(version):
    candidates = [shutil.which("python" + version)]
    candidates += glob.glob(os.path.expanduser("~/.pyenv/versions/%s.*/bin/python" % version))
    for path in candidates:
        if path and execute([path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])[1].strip() == version:
            return path
    return None


def environment(totals, interpreter, version, numpy):
    """The interpreter of the virtual environment, made where it is not there; None: it could not be made."""
    folder = ".venv-matrix-%s-%s" % (version, numpy)
    python, made = (os.path.join(ROOT, folder, name) for name in ("bin/python", ".made"))
    if not os.path.exists(made):
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:"]
        if not (step(totals, "make " + folder, [interpreter, "-m", "venv", "--clear", folder]) and
                step(totals, "numpy " + numpy, pip + ["numpy==" + numpy])):
            return None
        open(made, "w").close()
    return python


def run_matrix(totals):
    for version, numpys in MATRIX.items():
        interpreter = find_python(version)
        if interpreter is None:
            totals.add("python %s (not found)" % version, 0, 0, 1)
            continue
        for numpy in numpys:
            python = environment(totals, interpreter, version, numpy)
            if python:
                python_tests.run_python(totals, version, python, "build/libgpushim.so", python_tests.files())
