# SPDX-License-Identifier: Apache-2.0
"""gpushim, seen from a program. A program needs none of this to run under gpushim.

    active()             whether calls of NumPy in this process may run on a device
    synchronize()        waits until the device has finished
    stats()              what ran where so far
    disabled()           with disabled(): NumPy's own code computes
    device_array(a)      sends an array to the device now
    synchronized_timer() a clock that waits for the device; synchronized(timer) makes one of any timer

All work in any process, also without gpushim. `gpushim run script.py` starts a program with it (python -m gpushim).
`%load_ext gpushim` adds the cell magic %%gpushim to IPython.
"""
import importlib

from gpushim.loaded import active, stats, synchronize

__all__ = ["active", "device_array", "disabled", "stats", "synchronize", "synchronized", "synchronized_timer"]

# Names of modules that are imported when they are asked for.
LAZY = {"device_array": "steering", "disabled": "steering", "synchronized": "timing", "synchronized_timer": "timing",
        "load_ipython_extension": "ipython_extension", "unload_ipython_extension": "ipython_extension"}


def __getattr__(name):
    if name == "__version__":
        from importlib.metadata import version
        return version("gpushim")
    if name in LAZY:
        return getattr(importlib.import_module("gpushim." + LAZY[name]), name)
    raise AttributeError("module 'gpushim' has no attribute %r" % name)


def __dir__():
    return sorted({*globals(), *__all__, "__version__"})
