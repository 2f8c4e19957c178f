# SPDX-License-Identifier: Apache-2.0
"""Prints a checksum of the result of every loop of NumPy's ufuncs on large arrays, for test_parallel_loops.py.

    parallel_loops.py LAYOUT...   names of LAYOUTS
"""
import functools
import sys
import warnings
import zlib

import numpy as np

ELEMENTS = 300_000
ROW = 500
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-310, 1e300, -1e5, 65504.0]
EXACT = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "absolute", "negative", "sqrt", "square", "greater",
         "equal", "logical_and", "isnan", "floor", "rint", "bitwise_and", "left_shift", "floor_divide", "remainder", "sign",
         "copysign", "modf", "divmod", "frexp", "ldexp", "conjugate", "reciprocal")
ROUNDED = ("exp", "log", "sin", "cos", "tanh", "arctan2", "hypot", "power", "expm1", "cbrt", "logaddexp", "float_power")


@functools.lru_cache(maxsize=None)
def numbers(char, count, seed):
    """An array with ordinary and special numbers of a type character."""
    random = np.random.default_rng(seed)
    if char == "?":
        return random.integers(0, 2, count).astype(bool)
    if char in "bhilq" or char in "BHILQ":
        low = 0 if char.isupper() else -100
        return random.integers(low, 100, count).astype(char)
    values = random.standard_normal(count) * 4
    values[random.integers(0, count, count // 50)] = random.choice(SPECIAL, count // 50)
    if char in "FD":
        values = values + 1j * random.permutation(values)
    with np.errstate(all="ignore"):
        return values.astype(char)


def rows(array):
    return array.reshape(-1, ROW)


NARROWER = {"?": "?", "l": "i", "f": "h", "d": "l", "D": "d"}


def narrow(array):
    """Numbers of another dtype, that a loop of the array's dtype reads by a cast."""
    with np.errstate(all="ignore"):
        return (array.real if array.dtype.char == "D" else array).astype(NARROWER[array.dtype.char])


# How an operand of ELEMENTS elements or a little less is seen. The number: which operand it is.
LAYOUTS = {
    "contiguous": lambda a, k: a,
    "strided": lambda a, k: np.repeat(a, 2)[::2],
    "reversed": lambda a, k: a[::-1],
    "rows": lambda a, k: rows(a)[:, 1:] if k == 0 else rows(a)[:, :-1],
    "columns": lambda a, k: np.asfortranarray(rows(a))[1:] if k == 0 else np.asfortranarray(rows(a))[:-1],
    "steps": lambda a, k: np.repeat(rows(a), 2, axis=1)[:, 1:-1:2],
    "row": lambda a, k: rows(a)[:, 1:] if k == 0 else rows(a)[0, 1:],
    "column": lambda a, k: rows(a)[:, 1:] if k == 0 else rows(a)[:, :1],
    "transposed": lambda a, k: rows(a)[:, 1:].T if k == 0 else rows(a)[:, :-1].T,
    "backwards": lambda a, k: rows(a)[::-1, :0:-1],
    "long": lambda a, k: a.reshape(3, -1)[:, 1:],
    "points": lambda a, k: a.reshape(-1, 3) if k == 0 else a[:3],
    "weights": lambda a, k: a.reshape(-1, 3)[:, :1] if k == 0 else a.reshape(-1, 3),
    "narrow": lambda a, k: a.reshape(-1, 10)[:, 1:8] if k == 0 else a.reshape(-1, 10)[:, 2:9],
    "phases": lambda a, k: a.reshape(4, -1, 75) if k == 0 else a.reshape(4, -1, 75)[:, :, 7:8],
    "casts": lambda a, k: narrow(a) if k == 0 else a,
    "wide": lambda a, k: rows(a)[:, 1:] if k == 0 else narrow(a)[:ROW - 1],
    "tall": lambda a, k: narrow(a).reshape(-1, 4)[:, 1:] if k == 0 else a.reshape(-1, 4)[:, :1],
    "long_casts": lambda a, k: narrow(a).reshape(3, -1)[:, 1:] if k == 0 else a.reshape(3, -1)[:, :-1],
    "grid": lambda a, k: a.reshape(3, 50, -1)[:, ::2, ::2] if k == 0 else a.reshape(3, 50, -1)[1:2, 1::2, 1::2],
}


def loops(ufunc, chars):
    """The input characters of the ufunc's loops on types that the library knows, and that are among `chars`."""
    known = set("?bBhHiIlLqQefdFD")
    for types in ufunc.types:
        inputs = types.split("->")[0]
        if set(types) - set("->") <= known and not set(inputs) & set("qQ") and set(inputs) <= set(chars):
            yield inputs


def checksum(part):
    """Which NaN a result is may depend on where in an array it stands, with NumPy alone too."""
    data = np.array(part, order="C")
    if data.dtype.kind in "fc":
        for floats in ([data.real, data.imag] if data.dtype.kind == "c" else [data]):
            floats[np.isnan(floats)] = np.nan
    return data.dtype.str, part.strides, zlib.crc32(data)


def run(names, chars, layout):
    view = LAYOUTS[layout]
    for name in names:
        ufunc = getattr(np, name, None)
        if not isinstance(ufunc, np.ufunc) or ufunc.signature is not None:
            continue
        for inputs in loops(ufunc, chars):
            operands = [view(numbers(char, ELEMENTS, k), k) for k, char in enumerate(inputs)]
            try:
                result = ufunc(*operands)
            except (TypeError, ValueError) as error:
                print(name, inputs, layout, type(error).__name__)
                continue
            parts = result if isinstance(result, tuple) else (result,)
            print(name, inputs, layout, *map(checksum, parts))


def main(layouts):
    for layout in layouts:
        every = [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)]
        if layout == "contiguous":
            run(every, "?bHlLefdFD", layout)
        else:
            run(EXACT + ROUNDED, "?lfdD", layout)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
