# SPDX-License-Identifier: Apache-2.0
"""gpushim, seen from a program. A program needs none of this to run under gpushim.

    active()         whether calls of NumPy in this process may run on a device
    synchronize()    waits until the device has finished
    stats()          what ran where so far

All work in any process, also without gpushim. `gpushim run script.py` starts a program with it (python -m gpushim).
"""
from gpushim.loaded import active, stats, synchronize

__all__ = ["active", "stats", "synchronize"]


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version
        return version("gpushim")
    raise AttributeError("module 'gpushim' has no attribute %r" % name)
