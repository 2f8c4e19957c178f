# SPDX-License-Identifier: Apache-2.0
"""What `gpushim doctor` runs under the library, in a process of its own: calls of each kind, whose results NumPy's own code judges.
Prints a JSON object: {"active", "numpy", "device": the library's lines on it, "probes": [{name, ok, text}]}."""
import json
import sys
import time

from gpushim import loaded
from gpushim.doctor_checks import CPU_COMPUTED
from gpushim.steering import disabled

BYTES = 1 << 26  # of a transfer


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


def probe_transfers(np):
    """GB/s each way, the second time."""
    data, rates = np.arange(BYTES // 8, dtype=float), {}
    for _ in range(2):
        with disabled():
            data[0] += 1  # only the host has it now
            data[:] = np.sqrt(data)
        begin = time.perf_counter()
        moved = data + 0.0
        loaded.synchronize()
        rates["to the device"] = BYTES / (time.perf_counter() - begin) / 1e9
        begin = time.perf_counter()
        with disabled():
            moved.max()
        rates["from it"] = BYTES / (time.perf_counter() - begin) / 1e9
    text = ", ".join("%.1f GB/s %s" % (rate, way) for way, rate in rates.items())
    return {"name": "transfers", "ok": True, "text": text}


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
    return found + [attempt("transfers", probe_transfers, np)]


def main():
    answer = {"active": False, "numpy": None, "device": "", "probes": [], "start_ns": 0}
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
