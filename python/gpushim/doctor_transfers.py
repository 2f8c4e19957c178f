# SPDX-License-Identifier: Apache-2.0
"""Copies between the host and the device, for `gpushim doctor`: their bytes are compared, and their rates are those of the copies
alone. Runs in the process of doctor_probe."""
import os
import re
import time

from gpushim import loaded
from gpushim.steering import disabled

BYTES = 1 << 26
TURNS = 3  # the first one also page-locks the memory; the best counts
SLOW = 0.1  # GB/s, each way: a PCIe link of one lane has eight times that


def send(array):
    """Seconds of its upload, which has ended on return; None: the library did not take it."""
    begin = time.perf_counter()
    if not loaded.library().gpushim_prefetch(array.ctypes.data, array.nbytes):
        return None
    loaded.synchronize()
    return time.perf_counter() - begin


def receive(array):
    """Seconds of its download: a system call wants its bytes, and drops them."""
    with open(os.devnull, "wb", buffering=0) as sink:
        begin = time.perf_counter()
        sink.write(array)
        return time.perf_counter() - begin


def moved(name, array, function):
    """(seconds, bytes that the counter `name` says were moved)."""
    before = loaded.stats()["counters"][name]
    seconds = function(array)
    return seconds, loaded.stats()["counters"][name] - before


def turn(np, number):
    """({way: GB/s}, whether all bytes went each way and are right, the library's line on page-locked memory)."""
    with disabled():
        source = np.arange(number, number + BYTES // 8, dtype=np.int64)
        source[0] = number  # only the host has it now
    sent, sent_bytes = moved("upload_bytes", source, send)
    copy = source ^ 1  # on the device
    loaded.synchronize()
    received, received_bytes = moved("download_bytes", copy, receive)
    with disabled():
        right = np.array_equal(copy, np.arange(number, number + BYTES // 8, dtype=np.int64) ^ 1)
    went = sent is not None and sent_bytes >= BYTES and received_bytes >= BYTES
    rates = {"to the device": BYTES / sent / 1e9, "from it": BYTES / received / 1e9} if went else {}
    return rates, right, page_locked()


def page_locked():
    """The library's line on page-locked memory; None: the device takes none."""
    found = re.search(r"^page-locked +(.*)$", loaded.describe_device() or "", re.M)
    return found.group(1) if found else None


def verdict(rates, right):
    """(whether all is well, what is told) of the best rates."""
    if not right:
        return False, "WRONG bytes came back"
    if not rates:
        return False, "the library did not move the bytes"
    text = ", ".join("%.1f GB/s %s" % (rate, way) for way, rate in rates.items())
    is_slow = min(rates.values()) < SLOW
    return not is_slow, "only " + ", ".join("%.3f GB/s %s" % (rate, way) for way, rate in rates.items()) if is_slow else text


def probe(np):
    turns = [turn(np, number) for number in range(TURNS)]
    best = {way: max(rates[way] for rates, _, _ in turns) for way in turns[0][0]} if all(rates for rates, _, _ in turns) else {}
    ok, text = verdict(best, all(right for _, right, _ in turns))
    return {"name": "transfers", "ok": ok, "text": text, "page_locked": turns[-1][2]}
