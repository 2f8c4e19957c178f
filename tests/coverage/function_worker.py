# SPDX-License-Identifier: Apache-2.0
"""Runs calls of function_cases.txt under the library, on operands that are on the device, and says what moved. For each line
of standard input, [a case's name, a file], prints one JSON line, and pickles the result into the file."""
import collections
import ctypes
import json
import os
import pickle
import sys
import tempfile
import time
import warnings

import function_operands

SMALL = 65536 * 2  # smaller arrays may lie anywhere
ON_BOTH = 2        # gpushim_residency: the device has the bytes


class Library:
    def __init__(self):
        library = ctypes.CDLL(None)
        self.synchronize, self.where, self.json = (getattr(library, "gpushim_" + name)
                                                   for name in ("synchronize", "residency", "report_json"))
        self.where.argtypes = [ctypes.c_void_p]
        self.json.restype, self.json.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]
        self.buffer = ctypes.create_string_buffer(1 << 21)

    def report(self):
        self.synchronize()
        length = self.json(self.buffer, len(self.buffer))
        return json.loads(self.buffer.raw[:length])

    def residency(self, array):
        """The lower one of the array's first byte and of one in its middle."""
        middle = sum((extent // 2) * stride for extent, stride in zip(array.shape, array.strides))
        return min(self.where(array.ctypes.data), self.where(array.ctypes.data + middle))


def change(before, after):
    """What the calls between two reports did."""
    counters = {key: after["counters"][key] - before["counters"][key] for key in ("upload_bytes", "download_bytes")}
    rows = {(row["name"], row["signature"]): row for row in before["operations"]}
    declined, calls = collections.Counter(), 0
    for row in after["operations"]:
        old = rows.get((row["name"], row["signature"]), {"device_calls": 0, "reasons": {}})
        calls += row["device_calls"] - old["device_calls"]
        for reason, count in row["reasons"].items():
            declined["%s:%s" % (row["name"], reason)] += count - old["reasons"].get(reason, 0)
    return {"up": counters["upload_bytes"], "down": counters["download_bytes"], "calls": calls,
            "declined": dict((+declined).most_common(6))}


def run_once(library, code, scratch):
    operands, names = function_operands.prepare(code, scratch)
    library.synchronize()
    arrays = [part for name in operands for part in function_operands.parts(names[name])]
    before, began = library.report(), time.perf_counter()
    value = function_operands.run(code, names)
    row = change(before, library.report())
    places = [(part.nbytes, library.residency(part)) for part in function_operands.parts(value) if part.nbytes >= SMALL]
    row.update(seconds=time.perf_counter() - began, size=sum(array.nbytes for array in arrays),
               on_host=sum(size for size, place in places if place < ON_BOTH))
    return row, value


def measure(library, code, scratch):
    """The second run counts: libraries and caches are there."""
    row, value = run_once(library, code, scratch)
    if row["seconds"] < 20:
        row, value = run_once(library, code, scratch)
    return row, function_operands.canonical(value)


def main():
    warnings.simplefilter("ignore")
    library, cases = Library(), function_operands.all_cases()
    print(flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            name, path = json.loads(line)
            try:
                row, value = measure(library, cases[name].code, os.path.join(folder, "scratch.npy"))
                with open(path, "wb") as stream:
                    pickle.dump(value, stream, protocol=4)
            except Exception as error:
                row = {"error": "%s: %s" % (type(error).__name__, str(error)[:150])}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
