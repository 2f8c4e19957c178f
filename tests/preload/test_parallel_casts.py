# SPDX-License-Identifier: Apache-2.0
"""Casts of whole arrays on several cores: NumPy's bytes and warnings, between all dtypes and in all orders."""
import unittest

import shim_runner
from parallel_case import BESIDE, CORES, ParallelCase

CASTS = """
import warnings, zlib
import numpy as np
SIZE = 480_000
CHARS = "?bBhHiIlLefdFD"
random = np.random.default_rng(0)
def numbers(char, has_specials):
    if char == "?":
        return random.integers(0, 2, SIZE).astype(bool)
    if char in "bBhHiIlL":
        info = np.iinfo(char)
        return random.integers(info.min, info.max, SIZE, dtype=char, endpoint=True)
    values = random.standard_normal(SIZE) * 90
    if has_specials:
        values[random.integers(0, SIZE, 400)] = random.choice([np.inf, -np.inf, np.nan, -0.0, 1e300, -1e10, 3e9, 1e-310, 7e4, 256, -129], 400)
    with np.errstate(all="ignore"):
        return (values + 1j * values[::-1] if char in "FD" else values).astype(char)
LAYOUTS = {"contiguous": lambda a: a, "reversed": lambda a: a[::-1], "strided": lambda a: a[::3], "rows": lambda a: a.reshape(300, -1)[:, 1:],
           "transposed": lambda a: a.reshape(300, -1).T, "repeated": lambda a: np.broadcast_to(a[:300], (1600, 300)),
           "planes": lambda a: a.reshape(4, 300, -1).transpose(2, 0, 1)}
def show(what, call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = call()
        except (FloatingPointError, TypeError) as error:
            print(what, repr(error), [str(w.message) for w in told])
            return
    print(what, result.dtype, result.strides, zlib.crc32(result.tobytes(order="A")), [str(w.message) for w in told])
for source in CHARS:
    for has_specials in (False, True):
        a = numbers(source, has_specials)
        for target in CHARS:
            show((source, target, has_specials), lambda: a.astype(target))
    for layout in LAYOUTS:
        v = LAYOUTS[layout](a)
        for target in CHARS:
            with np.errstate(all="ignore"):
                show((source, target, layout), lambda: v.astype(target))
"""

ERRORS = """
import warnings
import numpy as np
for value, target in ((1e300, "f"), (np.nan, "l"), (1e-310, "f"), (1e30, "i")):
    a = np.ones((1000, 1000))
    a[300, 200] = value
    for mode in ("warn", "raise", "ignore"):
        out = np.zeros((1000, 1000), target)
        with np.errstate(all=mode), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                out[...] = a
            except FloatingPointError as error:
                print(error)
        print(value, target, mode, [str(w.message) for w in told], out[300, 200], out.sum())
"""

ASSIGNMENTS = """
import numpy as np
a = np.arange(960_000).reshape(800, 1200)
def show(x): print(x.dtype, x.strides, x.tobytes()[::997].hex())
x = np.zeros((800, 1200)); x[...] = a; show(x)
x = np.zeros((800, 1200), "f"); x[:, ::2] = a[:, ::2]; show(x)
x = np.zeros((1200, 800), "D"); x[...] = a.T; show(x)
x = np.zeros((800, 1200), "h"); x[:] = a; show(x)
x = np.zeros((2, 800, 1200)); x[:] = a; show(x)
x = np.zeros((800, 1200)); x.view("l")[...] = a; show(x)
x = a.copy(); x.view("d")[:400] = x[400:]; show(x)                    # the same memory, apart
x = a.copy(); x.view("d")[100:500] = x[400:]; show(x)                 # overlaps
show(np.array(a, "f")); show(np.asarray(a, "d", order="F")); show(np.ascontiguousarray(a.T, "d"))
show(a.astype("f", order="F")); show(a.T.astype("f", order="K")); show(np.float64(a)); show(a.astype("d", copy=False))
"""


class TestCasts(ParallelCase):
    def parallel(self, result):
        return shim_runner.counter(result.report, "parallel_loops")

    def test_every_pair(self):
        self.compare(CASTS, least=1000)

    def test_errors(self):
        self.compare(ERRORS, least=12)
        self.compare(ERRORS, BESIDE, least=12)

    def test_assignments(self):
        self.compare(ASSIGNMENTS, least=8)


if __name__ == "__main__":
    unittest.main()
