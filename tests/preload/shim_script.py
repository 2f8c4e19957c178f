# SPDX-License-Identifier: Apache-2.0
"""Imported by the scripts that shim_runner runs: hands values back to the test, bit for bit.

Works the same with and without the shim, and needs nothing of gpushim but, where it is loaded, its
exported functions.
"""
import ctypes
import os
import pickle
import re
import sys
import warnings

import numpy as np

_DUMP_FILE = os.environ.get("SHIM_SCRIPT_DUMP")


def well_conditioned(rng, shape, dtype):
    """Random numbers; where they are square matrices, well conditioned ones."""
    a = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.uniform(-1, 1, shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        a = a + 2 * np.sqrt(shape[-1]) * np.eye(shape[-1])
    return a.astype(dtype)


def describe(value):
    """A picklable record of a value from which equality bit for bit can be told."""
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            data = _repr(value.tolist())
        else:
            data = _bytes(value)
        return ("array", type(value).__name__, value.dtype.str, value.shape,
                _meaningful_strides(value), _properties(value), data)
    if isinstance(value, np.generic):
        return ("scalar", type(value).__name__, value.dtype.str, _bytes(value))
    if isinstance(value, BaseException):
        return ("exception", type(value).__name__, str(value))
    if isinstance(value, (tuple, list)):
        return (type(value).__name__,) + tuple(describe(item) for item in value)
    return ("object", type(value).__name__, _repr(value))


def _repr(value):
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def _properties(array):
    """What else a program can see of an array, in words."""
    words = ["writeable" if array.flags.writeable else "read-only"]
    if array.dtype.names:
        words.append("fields %s" % (array.dtype.names,))
    if array.dtype.metadata:
        words.append("metadata %s" % array.dtype.metadata)
    return ", ".join(words)


def _bytes(value):
    """The bytes that carry the value: x87's long double has 6 bytes of padding."""
    if value.dtype.char not in "gG":
        return value.tobytes()
    pieces = np.frombuffer(value.tobytes(), "u1").reshape(-1, 16).copy()
    pieces[:, 10:] = 0
    return pieces.tobytes()


def _meaningful_strides(array):
    """Strides of the axes longer than 1: NumPy leaves the others free."""
    if array.size == 0:
        return ()
    return tuple((axis, stride) for axis, (length, stride) in
                 enumerate(zip(array.shape, array.strides)) if length > 1)


def dump(name, value):
    """Records a value under a name; the test compares the records of the two runs."""
    line = pickle.dumps((name, describe(value)), protocol=4)
    if _DUMP_FILE:
        with open(_DUMP_FILE, "ab") as stream:
            stream.write(line)


def record(name, function, *args, **kwargs):
    """Calls the function and records its result, or its exception."""
    try:
        value = function(*args, **kwargs)
    except Exception as error:  # the error itself is what is compared
        value = error
    dump(name, value)
    return value


def attempt(name, function, *args, **kwargs):
    """As `record`, with the warnings that the call gave."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # when it comes is up to the collector
        value = record(name, function, *args, **kwargs)
    if caught:
        dump(name + ": warnings",
             sorted("%s: %s" % (w.category.__name__, w.message) for w in caught))
    return value


def share(sequence):
    """The part of the sequence that shim_runner.in_shares gave this script; all of it without arguments."""
    first, step = map(int, sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1)
    return list(sequence)[first::step]


def gpushim():
    """The library loaded into this process as a ctypes object, or None in a plain run."""
    if "libgpushim" not in os.environ.get("LD_PRELOAD", ""):
        return None
    library = ctypes.CDLL(None)
    library.gpushim_synchronize.restype = None
    library.gpushim_synchronize.argtypes = []
    library.gpushim_residency.restype = ctypes.c_int
    library.gpushim_residency.argtypes = [ctypes.c_void_p]
    library.gpushim_report_json.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    return library


def residency(array):
    """Where the array's first byte is: foreign, host, shared, device; "plain" without the shim."""
    library = gpushim()
    if library is None:
        return "plain"
    return ("foreign", "host", "shared", "device")[library.gpushim_residency(array.ctypes.data)]


def synchronize():
    library = gpushim()
    if library is not None:
        library.gpushim_synchronize()


def on_device(array):
    """The values of an array of at least one dimension in new memory that, under force mode, only
    the device holds."""
    return np.add(array, np.zeros(1, array.dtype))


def report():
    """The live report as a dictionary, or None in a plain run."""
    import json
    library = gpushim()
    if library is None:
        return None
    buffer = ctypes.create_string_buffer(1 << 20)
    library.gpushim_report_json(buffer, len(buffer))
    return json.loads(buffer.value.decode())


def moved_by(call):
    """What the call moved: {"uploads", "upload_bytes", "downloads", "download_bytes": number}; zeros in a plain run."""
    keys = ("uploads", "upload_bytes", "downloads", "download_bytes")
    before = (report() or {}).get("counters")
    call()
    after = (report() or {}).get("counters")
    return {key: after[key] - before[key] if before else 0 for key in keys}


def check_moved(calls, download_bytes, upload_bytes):
    """Makes each call of {name: call} and asserts that it moves no more than these bytes."""
    for name, call in calls.items():
        moved = moved_by(call)
        assert moved["download_bytes"] <= download_bytes and moved["upload_bytes"] <= upload_bytes, (name, moved)
