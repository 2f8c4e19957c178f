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
    for text in process.gpushim_report_json, process.gpushim_describe_device:
        text.restype, text.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]
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


def text_of(function):
    """What one of the library's functions writes into a buffer, as bytes."""
    text = ctypes.create_string_buffer(function(None, 0) + SPARE_BYTES)
    function(text, len(text))
    return text.value


def stats():
    """The report so far, as a dictionary with the keys of docs/user/report.md; None without gpushim."""
    return None if library() is None else json.loads(text_of(library().gpushim_report_json))


def describe_device():
    """The doctor's lines on the device and CUDA's libraries; None without gpushim."""
    return None if library() is None else text_of(library().gpushim_describe_device).decode(errors="replace")
