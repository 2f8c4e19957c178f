# SPDX-License-Identifier: Apache-2.0
"""What the fuzzer must know of the operations: how far a result may be from NumPy's, read from
kernels/ops.def and kernels/reductions.def, and which ufuncs there are."""
import os
import re

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NUMERIC = "?bhilqBHILQefdFD"
# The sign of a zero that these give depends on its place in the array, in NumPy itself.
ZERO_SIGNS = {"maximum", "minimum", "fmax", "fmin", "clip"}


def rows_of(table):
    """[fields of X(...)] of a table, split at the commas outside brackets and strings."""
    with open(os.path.join(ROOT, "kernels", table), encoding="utf-8") as stream:
        text = re.sub(r"/\*.*?\*/", "", stream.read(), flags=re.S)
    found = []
    for row in re.findall(r"^X\((.*?)\)\s*$", text, re.M | re.S):
        found.append([piece.strip() for piece in re.findall(r'(?:"[^"]*"|\((?:[^()]|\([^()]*\))*\)|[^,("])+', row)])
    return found


def ulps_of_ops():
    """{ufunc: (float16, float32, float64, complex)}."""
    found = {}
    for fields in rows_of("ops.def"):
        numbers = re.findall(r"\d+", fields[8]) if "ULPS" in fields[8] else (0, 0, 0, 0)
        found[fields[2].strip('"')] = tuple(map(int, numbers))
    return found


def ulps_of_reductions():
    """{ufunc: max_ulp}."""
    return {fields[2].strip('"'): int(fields[5]) for fields in rows_of("reductions.def")}


OP_ULPS, REDUCTION_ULPS = ulps_of_ops(), ulps_of_reductions()


def ulps(ufunc, char):
    """How far a ufunc's result of this dtype may be from NumPy's; 0 where it must be equal, or where
    the device has no such ufunc."""
    place = {"e": 0, "f": 1, "d": 2, "F": 3, "D": 3}.get(char)
    return 0 if place is None else OP_ULPS.get(ufunc, (0, 0, 0, 0))[place]


def is_numeric(loop):
    return all(letter in NUMERIC for letter in loop.replace("->", ""))


def numeric_ufuncs():
    """[name] of numpy's elementwise ufuncs with a numeric loop, each once."""
    found = {}
    for name in sorted(dir(np)):
        ufunc = getattr(np, name, None)
        if isinstance(ufunc, np.ufunc) and ufunc.signature is None and any(map(is_numeric, ufunc.types)):
            if hasattr(np, ufunc.__name__):
                found[ufunc.__name__] = ufunc
            else:  # 1.x: `core.umath.clip`
                found[name] = ufunc
    return sorted(found)
