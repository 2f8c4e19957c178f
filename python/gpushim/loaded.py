# SPDX-License-Identifier: Apache-2.0
"""The library's C functions, in a process that it was loaded into by LD_PRELOAD (docs/user/api.md). Any thread."""
import ctypes
import functools
import json

SPARE_BYTES = 4096  # the report's numbers grow between two calls


@functools.lru_cache(maxsize=None)
def library():
    """The process's names as a ctypes library; None where gpushim is not among them."""
    process = ctypes.CDLL(None)
    if not hasattr(process, "gpushim_active"):
        return None
    process.gpushim_report_json.restype = ctypes.c_size_t
    process.gpushim_report_json.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    process.gpushim_synchronize.restype = None
    process.gpushim_residency.argtypes = [ctypes.c_void_p]
    process.gpushim_prefetch.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    process.gpushim_disable.restype = process.gpushim_enable.restype = process.gpushim_keep_results.restype = None
    return process


def active():
    """Whether calls of NumPy may run on a device: True from the import of NumPy on, where gpushim is loaded and has a device that
    may be used, started or not. False without gpushim, and in a forked child."""
    return library() is not None and library().gpushim_active() == 1


def synchronize():
    """Waits until the device has finished what it was given so far. Does nothing without gpushim or a device."""
    if library() is not None:
        library().gpushim_synchronize()


def keep_results():
    """From here on, a result that the program drops is computed too. Benchmarks drop the result of what they measure."""
    if library() is not None:
        library().gpushim_keep_results(1)


def stats():
    """The report so far, as a dictionary with the keys of docs/user/report.md; None without gpushim."""
    if library() is None:
        return None
    text = ctypes.create_string_buffer(library().gpushim_report_json(None, 0) + SPARE_BYTES)
    library().gpushim_report_json(text, len(text))
    return json.loads(text.value)
