# SPDX-License-Identifier: Apache-2.0
"""What `gpushim doctor` runs under the library, in a process of its own: calls of each kind, whose results NumPy's own code judges.
Prints a JSON object: {"active", "numpy", "device": the library's lines on it, "probes": [{name, ok, text}],
"hidden": what hidden_calls says}."""
import ctypes
import json
import os
import sys
import tempfile
import time

from gpushim import doctor_transfers, loaded
from gpushim.doctor_facts import CPU_COMPUTED
from gpushim.files import library_path
from gpushim.steering import disabled

INTERPOSED = ("dlopen", "read", "write", "mmap", "munmap", "mprotect", "sigaction", "cblas_dgemm")  # some of what gpushim exports


def close(np, got, expected):
    scale = np.max(np.abs(expected))
    return bool(np.max(np.abs(got - expected)) <= 1e-9 * scale)


def kernel(np, a):
    return np.sqrt(a) * 2.0 + 1.0


def product(_np, a):
    return a @ a


def transform(np, a):
    return np.fft.fft(a)


def solution(np, a):
    return np.linalg.solve(a + 1000.0 * np.eye(len(a)), a)


# What is called, on a matrix of positive numbers.
CALLS = (("kernel", kernel), ("product", product), ("fft", transform), ("solve", solution))


def device_calls():
    return sum(row["device_calls"] for row in loaded.stats()["operations"])


def probe_call(np, name, function, a):
    """Runs on the device, with NumPy's result?"""
    before, begin = device_calls(), time.perf_counter()
    got = function(np, a)
    loaded.synchronize()
    seconds, calls = time.perf_counter() - begin, device_calls() - before
    with disabled():
        got, expected = got.copy(), function(np, a)
        right = close(np, got, expected)
    text = "%s on the device, %.0f ms with all that is loaded for it" % ("right" if right else "WRONG", seconds * 1e3)
    return {"name": name, "ok": right and calls > 0, "text": text if calls else CPU_COMPUTED}


def probe_system_calls(np):
    """The kernel refuses memory that is closed: gpushim must see each system call on an array first (docs/dev/ARCHITECTURE.md)."""
    with disabled():
        a = np.arange(1 << 16, dtype=np.int64)
    sent, got = a + 1, a + 2  # on the device
    process, addresses = ctypes.CDLL(None), [array.ctypes.data for array in (sent, got)]
    loaded.synchronize()
    with tempfile.TemporaryFile(buffering=0) as file:
        for function, address in zip((process.write, process.read), addresses):
            file.seek(0)
            if function(file.fileno(), ctypes.c_void_p(address), ctypes.c_size_t(a.nbytes)) != a.nbytes:
                return {"name": "system calls", "ok": False, "text": "the kernel refused a %s, which gpushim did not see" % function.__name__}
    with disabled():
        right = np.array_equal(got, a + 1)
    return {"name": "system calls", "ok": right, "text": "write and read of arrays on the device are %s" % ("right" if right else "WRONG")}


def hidden_calls():
    """{name: file} of functions that another library has before gpushim, which then does not see the calls."""
    process, own = ctypes.CDLL(None), os.path.realpath(library_path())
    files = {name: file_of(process, name) for name in INTERPOSED}
    return {name: file for name, file in files.items() if file and os.path.realpath(file) != own}


def file_of(process, name):
    """The file whose function the process's other libraries get for the name; None: there is none."""
    info = (ctypes.c_void_p * 4)()  # Dl_info: the file's name comes first
    if not hasattr(process, name) or not process.dladdr(ctypes.cast(getattr(process, name), ctypes.c_void_p), info):
        return None
    return os.fsdecode(ctypes.cast(info[0], ctypes.c_char_p).value)


def attempt(name, probe, *arguments):
    """The probe's answer, or its exception as one."""
    try:
        return probe(*arguments)
    except Exception as error:  # whatever it is, the doctor tells it
        return {"name": name, "ok": False, "text": "%s: %s" % (type(error).__name__, error)}


def probes(np):
    with disabled():
        a = np.random.default_rng(1).random((512, 512))
    found = [attempt(name, probe_call, np, name, function, a) for name, function in CALLS]
    return found + [attempt("system calls", probe_system_calls, np), attempt("transfers", doctor_transfers.probe, np)]


def main():
    answer = {"active": False, "numpy": None, "device": "", "probes": [], "start_ns": 0, "hidden": hidden_calls()}
    try:
        import numpy
        answer["numpy"] = numpy.__version__
        answer["active"] = loaded.active()
        if answer["active"]:
            answer["probes"] = probes(numpy)
            answer["start_ns"] = loaded.stats()["counters"]["start_ns"]
    except Exception as error:  # of NumPy's import: the doctor tells it
        answer["error"] = str(error) if isinstance(error, ImportError) else "%s: %s" % (type(error).__name__, error)
    answer["device"] = loaded.describe_device() or ""
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
