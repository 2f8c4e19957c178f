# SPDX-License-Identifier: Apache-2.0
"""The files of the source tree, for the rules."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("GSH_TEST_BUILD") or os.path.join(ROOT, "build-dev")
# The folders of the library's own sources.
LAYERS = ("base", "config", "kernels", "policy", "verify", "offload", "interpose")
TEXT_ENDINGS = (".c", ".h", ".S", ".def", ".in", ".py", ".md", ".txt", ".cmake", ".json")


def tree(folders, endings):
    """Paths relative to the root, of the folders' files with these endings."""
    found = []
    for folder in folders:
        for where, names, files in os.walk(os.path.join(ROOT, folder)):
            names[:] = [name for name in names if name != "__pycache__" and not name.startswith(".")]
            found += [os.path.relpath(os.path.join(where, name), ROOT) for name in files if name.endswith(endings)]
    return sorted(found)


def all_files(endings=TEXT_ENDINGS):
    """The texts of the whole project."""
    return tree(LAYERS + ("python", "tests", "bench", "docs"), endings) + [
        name for name in sorted(os.listdir(ROOT)) if name.endswith(endings) or name == "Makefile"]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def stem_of(path):
    return os.path.splitext(os.path.basename(path))[0]
