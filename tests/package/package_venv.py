# SPDX-License-Identifier: Apache-2.0
"""The wheel of `make wheel`, and a fresh environment that it is installed into, for the tests of this folder.

Environment: GSH_TEST_WHEEL  a wheel to test; without it, one is built.
"""
import atexit
import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Makes NumPy importable, and leaves the environment without it.
NUMPY_FOLDER = os.path.dirname(os.path.dirname(numpy.__file__))
TIMEOUT = 120


@functools.lru_cache(maxsize=None)
def scratch():
    """A folder for this process's tests."""
    folder = tempfile.mkdtemp(prefix="gpushim-package-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def call(command, **how):
    """(exit status, stdout, stderr)."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=TIMEOUT * 5, **how)
    return done.returncode, done.stdout, done.stderr


def must(command, **how):
    status, out, error = call(command, **how)
    if status != 0:
        raise RuntimeError("%s: exit status %d\n%s%s" % (command, status, out[-4000:], error[-4000:]))
    return out


@functools.lru_cache(maxsize=None)
def wheel():
    """The wheel's path."""
    given = os.environ.get("GSH_TEST_WHEEL")
    if given:
        return os.path.abspath(given)
    must(["make", "--no-print-directory", "wheel", "DIST=" + scratch()], cwd=ROOT)
    return glob.glob(os.path.join(scratch(), "*.whl"))[0]


class Venv:
    """An environment of Python with nothing in it but pip."""

    def __init__(self, name):
        self.folder = os.path.join(scratch(), name)
        must([sys.executable, "-m", "venv", self.folder])
        self.python = os.path.join(self.folder, "bin/python")
        self.gpushim = os.path.join(self.folder, "bin/gpushim")

    def pip(self, *words):
        return must([self.python, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", *words])

    def install(self):
        self.pip("install", "--no-index", wheel())
        return self

    def files(self):
        """All its files but what Python compiled."""
        return {os.path.relpath(os.path.join(where, name), self.folder) for where, _, names in os.walk(self.folder)
                for name in names if not name.endswith(".pyc")}


@functools.lru_cache(maxsize=None)
def installed():
    """The environment with the wheel."""
    return Venv("installed").install()


def environment(**changes):
    """Without gpushim and its options, but with NumPy; a value of None removes a name."""
    result = {name: value for name, value in os.environ.items() if not name.startswith("GPUSHIM_") and name != "LD_PRELOAD"}
    result.update(PYTHONPATH=NUMPY_FOLDER, PYTHONDONTWRITEBYTECODE="1", GPUSHIM_CACHE_DIR=os.path.join(scratch(), "cache"))
    for name, value in changes.items():
        result.pop(name, None) if value is None else result.__setitem__(name, value)
    return result
