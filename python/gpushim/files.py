# SPDX-License-Identifier: Apache-2.0
"""Where gpushim's own files are: the library beside this package, and the folder of compiled kernels and profiles."""
import os

import gpushim

LIBRARY = "libgpushim.so"


class MissingLibrary(Exception):
    """The package is there, and its library is not."""


def library_path():
    """The absolute path of the library."""
    for folder in gpushim.__path__:
        path = os.path.join(os.path.abspath(folder), LIBRARY)
        if os.path.exists(path):
            return path
    raise MissingLibrary("there is no %s in %s: install the package, as by `pip install .`"
                         % (LIBRARY, os.pathsep.join(gpushim.__path__)))


def check_outputs(*paths):
    """OSError: a file that is to be written at the end, which is far away, cannot be."""
    for path in filter(None, paths):
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError("%s: there is no folder %s" % (path, folder))


def cache_folder(environment):
    """The folder as the library finds it (config/cache_folder.h), whether it exists or not; None: there is none."""
    cache_home, home = environment.get("XDG_CACHE_HOME", ""), environment.get("HOME")
    if environment.get("GPUSHIM_CACHE_DIR"):
        return environment["GPUSHIM_CACHE_DIR"]
    if cache_home.startswith("/"):
        return cache_home + "/gpushim"
    return home + "/.cache/gpushim" if home else None


def shown(path):
    """Without the folder that the command runs in."""
    folder = os.path.join(os.getcwd(), "")
    return path[len(folder):] if path.startswith(folder) else path
