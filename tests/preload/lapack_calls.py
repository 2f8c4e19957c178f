# SPDX-License-Identifier: Apache-2.0
"""Imported by the scripts of test_lapack_symbols.py: calls a routine of BLAS or LAPACK twice with equal arguments, once by
the name that any library of the process would reach, once in the library that has it, and compares what both leave.

Under the shim the first of them is gpushim's entry point. Matrices are stored by columns with other numbers between the
columns, which must stay, in NumPy's memory or in malloc's."""
import ctypes
import re

import numpy as np

GAP = 3  # rows between the columns of a matrix


class Library:
    """One LAPACK of the process: its name mangling, and how wide its integers are."""

    def __init__(self, handle, path, prefix, suffix):
        self.handle, self.path, self.prefix, self.suffix = handle, path, prefix, suffix
        self.integer = np.dtype("int64" if suffix else "int32")
        # At bad arguments the reference LAPACK ends the process, and in what NumPy 1 ships NumPy raises an exception.
        self.stops = "openblas" not in path.lower() or not prefix

    def functions(self, routine):
        """(as everybody reaches it, the library's own)."""
        name = self.prefix + routine + "_" + self.suffix
        found = []
        for handle in (ctypes.CDLL(None), self.handle):
            function = getattr(handle, name, None) or getattr(self.handle, name)
            function.restype = None
            found.append(function)
        return found


def libraries():
    """The LAPACKs that are loaded: NumPy's and, once scipy.linalg was imported, SciPy's."""
    found = []
    with open("/proc/self/maps", encoding="ascii") as maps:
        paths = sorted({line.split()[-1] for line in maps if re.search(r"(openblas|lapack|mkl)[^/]*\.so", line)})
    for path in paths:
        handle = ctypes.CDLL(path)
        for prefix in ("scipy_", ""):
            for suffix in ("64_", ""):
                if hasattr(handle, prefix + "dgetrf_" + suffix):
                    found.append(Library(handle, path, prefix, suffix))
    return found


def memory(kind, count, dtype):
    """An array of zeros: "numpy" or "malloc"."""
    if kind == "numpy":
        return np.zeros(count, dtype)
    return np.frombuffer((ctypes.c_char * ((count + 1) * np.dtype(dtype).itemsize))(), dtype)[:count]


class Matrix:
    """A matrix argument; `leading` is to be handed over as its leading dimension."""

    def __init__(self, kind, values, rows=None):
        rows = rows or len(values)
        self.leading = rows + GAP
        self.memory = memory(kind, self.leading * values.shape[1], values.dtype)
        self.memory[:] = -77
        self.all = self.memory.reshape(values.shape[1], self.leading).T
        self.values = self.all[:rows]
        self.values[:len(values)] = values

    def gaps(self):
        return self.all[len(self.values):].copy()


class Vector:
    """An array argument."""

    def __init__(self, kind, count, dtype, value=0):
        self.memory = self.values = memory(kind, count, dtype)
        self.memory[:] = value


class Caller:
    """Calls of one type ("s", "d", "c", "z") of one library."""

    def __init__(self, library, letter, kind):
        self.library, self.letter, self.kind = library, letter, kind
        self.dtype = np.dtype({"s": "f", "d": "d", "c": "F", "z": "D"}[letter])
        self.real = np.dtype({"s": "f", "c": "f"}.get(letter, "d"))
        self.is_complex = self.dtype.kind == "c"
        self.eps = np.finfo(self.dtype).eps

    def matrix(self, values, rows=None):
        return Matrix(self.kind, np.asarray(values, self.dtype), rows)

    def empty(self, rows, columns):
        return self.matrix(np.zeros((rows, columns)))

    def vector(self, count):
        return Vector(self.kind, count, self.dtype)

    def reals(self, count):
        return Vector(self.kind, count, self.real)

    def integers(self, count, value=-9):
        return Vector(self.kind, count, self.library.integer, value)

    def call(self, function, arguments):
        """Letters go by address and, in the end, with their length."""
        words, kept, letters = [], [], 0
        for argument in arguments:
            if isinstance(argument, str):
                kept.append(ctypes.c_char_p(argument.encode()))
                letters += 1
            elif isinstance(argument, (Matrix, Vector)):
                kept.append(ctypes.c_void_p(argument.memory.ctypes.data))
            else:
                value = np.array(argument, self.library.integer if isinstance(argument, int) else argument.dtype)
                kept.append(ctypes.c_void_p(value.ctypes.data))
                words.append(value)
        function(*kept, *[ctypes.c_size_t(1)] * letters)

    def both(self, routine, make):
        """make() gives fresh equal arguments each time, the last of which is `info`. Two lists of them, after the call."""
        results = []
        for function in self.library.functions(self.letter + routine):
            arguments = make()
            gaps = [argument.gaps() for argument in arguments if isinstance(argument, Matrix)]
            self.call(function, arguments)
            after = [argument.gaps() for argument in arguments if isinstance(argument, Matrix)]
            if any((x != y).any() for x, y in zip(gaps, after)):
                raise AssertionError("%s%s wrote between columns" % (self.letter, routine))
            results.append(arguments)
        return results

    def near(self, mine, theirs, factor=2000):
        scale = max(1, float(np.abs(theirs).max(initial=0)))
        return bool(np.abs(mine - theirs).max(initial=0) <= factor * self.eps * scale)
