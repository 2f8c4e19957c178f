# SPDX-License-Identifier: Apache-2.0
"""From which sources build/ was built."""
import hashlib
import os

from runner.process import ROOT
from runner.style import sources

STAMP = os.path.join(ROOT, "build", "sources.sha256")


def fingerprint():
    """A hash of everything that goes into build/."""
    digest = hashlib.sha256()
    names = sources(".c", ".h", ".S", ".def", ".map", ".in", ".txt", ".cmake")
    for path in names + [os.path.join(ROOT, name) for name in ("CMakeLists.txt", "CMakePresets.json")]:
        digest.update(os.path.relpath(path, ROOT).encode() + b"\0")
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def stamp():
    with open(STAMP, "w") as file:
        file.write(fingerprint())


def is_built():
    try:
        with open(STAMP) as file:
            return file.read() == fingerprint() and os.path.exists(os.path.join(ROOT, "build", "libgpushim.so"))
    except OSError:
        return False
