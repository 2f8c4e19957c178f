# SPDX-License-Identifier: Apache-2.0
"""Functions that numpy_composed.py composes of others, against plain NumPy, bit for bit."""
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device, record
DTYPES = "? b l B e f d D".split()

def make(shape, dtype):
    count = int(np.prod(shape))
    return on_device(((np.arange(count) * 7 % 23) - (0 if dtype in "?B" else 5)).astype(dtype).reshape(shape))

def layouts(dtype, shape=(4, 6)):
    a = make(shape, dtype)
    yield "C", a
    yield "F", on_device(np.asfortranarray(a))
    yield "strided", on_device(np.repeat(np.repeat(a, 2, 0), 2, 1))[::2, ::2]
    yield "backwards", a[::-1, ::-1]
    yield "flat", on_device(a.ravel())
    yield "empty", a[:0]
    yield "0-d", np.array(3, dtype)

def changed(name, a, change):
    """A copy of a, after the change; an exception beside what it left."""
    def go():
        b = a.copy(order="K")
        try:
            change(b)
        except Exception as error:
            return type(error).__name__, str(error), b
        return b
    attempt(name, go)
'''


class TestComposed(shim_runner.TestCase):
    def test_put_place_and_putmask(self):
        self.assert_same(PRELUDE + '''
INDICES = {"list": [1, 5, -2, 3, 3], "array": np.array([0, 3, 2, 2]), "u1": np.array([1, 2], "u1"),
    "table": np.array([[1, 2], [3, 0]]), "strided": np.arange(10)[::3], "out of bounds": np.array([1, 99]),
    "below": np.array([-99]), "empty": [], "floats": np.array([1.0]), "bools": np.array([True, False]), "int": 2}
VALUES = {"1": 1, "2.5": 2.5, "1j": 1j, "list": [1, 2, 3], "array": np.arange(5.0), "more": np.arange(40),
    "none": [], "f4": np.float32(2.5), "complex": np.array([1j, 2]), "text": "x", "table": np.array([[1, 2], [3, 4]])}
MASKS = {"C": make((4, 6), "i") > 3, "F": np.asfortranarray(make((4, 6), "i") > 3), "flat": make((24,), "i") > 3,
    "int": make((4, 6), "i"), "none": np.zeros((4, 6), "?"), "short": np.ones(3, "?")}
for dtype in "?bdD":
    for layout, a in layouts(dtype):
        for text, value in VALUES.items():
            for place, index in INDICES.items():
                for mode in ("raise", "clip") if a.size else ("raise",):  # NumPy 1 writes beyond an empty array
                    changed("put %s %s %s %s %s" % (dtype, layout, place, text, mode), a,
                            lambda b: b.put(index, value, mode=mode))
            for name, mask in MASKS.items():
                for function in (np.place, np.putmask):
                    changed("%s %s %s %s %s" % (function.__name__, dtype, layout, name, text), a,
                            lambda b: function(b, mask, value))
    a = make((24,), dtype)
    changed("put wrap " + dtype, a, lambda b: b.put([30, -30, 5], [1, 0], mode="wrap"))
    changed("put itself " + dtype, a, lambda b: b.put(np.arange(10), b[::-1]))
    changed("place itself " + dtype, a, lambda b: np.place(b, b > 2, b[::-1]))
    changed("putmask itself " + dtype, a, lambda b: np.putmask(b, b > 2, b[5:]))
i = np.arange(10)
changed("index itself", i, lambda b: b.put(b, 9 - b))
''')

    def test_values_of_each_type(self):
        """What is an array may be refused where a list of its elements is not. A warning names the program's line, or NumPy's."""
        self.assert_same(PRELUDE + '''
import os, warnings
class Kin(np.ndarray):
    pass
class Known:
    def __init__(self, values):
        self.values, self.__array_interface__ = values, values.__array_interface__
class Asked(Known):
    def __array__(self, dtype=None, copy=None):
        asked.append(str(dtype))
        return np.array(self.values, dtype)
asked = []
NUMBERS = {"integers": [1, 2], "halves": [1.5, 2.5], "large": [300, -70000], "larger": [1e300, 1e10], "nan": [np.nan, 1], "complex": [1j, 2]}
TYPES = {"list": list, "list of scalars": lambda v: list(np.array(v)), "scalar": lambda v: np.array(v)[0], "array": np.array,
    "kin": lambda v: np.array(v).view(Kin), "masked": lambda v: np.ma.array(v, mask=False), "objects": lambda v: np.array(v, "O"),
    "interface": lambda v: Known(np.array(v)), "asked": lambda v: Asked(np.array(v)), "buffer": lambda v: memoryview(np.array(v)),
    "lists of arrays": lambda v: [np.array(v), np.array(v)], "number": lambda v: v[0]}
def flat(b, v): b.flat = v
def real(b, v): b.real = v
def imag(b, v): b.imag = v
CHANGES = {"putmask": lambda b, v: np.putmask(b, b > 2, v), "place": lambda b, v: np.place(b, b > 2, v), "put": lambda b, v: b.put([3, 1], v),
    "flat": flat, "flat slice": lambda b, v: b.flat.__setitem__(slice(2, 9), v), "real": real, "imag": imag,
    "setfield": lambda b, v: b.setfield(v, b.dtype), "array": lambda b, v: np.array(v, b.dtype), "ndmin": lambda b, v: np.array(v, b.dtype, ndmin=3),
    "concatenate": lambda b, v: np.concatenate([b[:2], v], dtype=b.dtype, casting="unsafe")}
for dtype in "BiefldD":
    for numbers, values in NUMBERS.items():
        for kind, make_values in TYPES.items():
            for change, function in CHANGES.items():
                a, v = make((24,), dtype), make_values(values)
                b, name = a.copy(), " ".join((change, dtype, numbers, kind))
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    record(name, lambda: function(b, v))
                dump("after " + name, b)
                dump("warnings of " + name, [(str(w.message), os.path.basename(w.filename)) for w in caught])
dump("asked", asked)
''')

    def test_repeat_and_choose(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, a in layouts(dtype):
        length = a.shape[0] if a.ndim else 1
        COUNTS = {"some": np.arange(length) % 3, "none": np.zeros(length, int), "below": -np.ones(length, int),
            "one": np.array([2]), "list": [1, 2, 0, 3], "all": np.arange(a.size) % 4, "u8": np.ones(a.size, "u8"),
            "floats": np.ones(a.size), "bools": np.arange(a.size) % 2 == 0}
        for name, counts in COUNTS.items():
            for axis in (None, 0, 1, -1, 5):
                attempt("repeat %s %s %s %s" % (dtype, layout, name, axis), lambda: a.repeat(counts, axis=axis))
        CHOICES = {"arrays": [a.astype("f"), a * 2, a], "mixed": [1, a, 2.5], "rows": np.arange(3),
            "broadcast": [np.arange(6), np.ones((4, 1)), 7], "lists": [[1, 2, 3, 4, 5, 6], [0] * 6, [1] * 6]}
        for name, choices in CHOICES.items():
            for mode in ("raise", "wrap", "clip"):
                attempt("choose %s %s %s %s" % (dtype, layout, name, mode), lambda: np.choose(a, choices, mode=mode))
            selector = (a > 2) * 2
            attempt("choose valid %s %s %s" % (dtype, layout, name), lambda: np.choose(selector, choices))
''')

    def test_places_and_bits(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, a in layouts(dtype):
        for order in "CFK":
            for shape in ((4, 6), (3, 50), 24, (2, 3, 4), (-1, 2)):
                attempt("unravel %s %s %s %s" % (dtype, layout, order, shape), lambda: np.unravel_index(a, shape, order=order))
        for mode in ("raise", "wrap", "clip", ("wrap", "clip")):
            for order in "CF":
                attempt("ravel %s %s %s %s" % (dtype, layout, mode, order),
                        lambda: np.ravel_multi_index((a, a.real.astype("l") % 20), (20, 25), mode=mode, order=order))
        attempt("byteswap %s %s" % (dtype, layout), lambda: a.byteswap())
        changed("byteswap in place %s %s" % (dtype, layout), a, lambda b: b.byteswap(True))
        changed("setfield %s %s" % (dtype, layout), a.astype("D"), lambda b: b.setfield(a, "f8", 8))
        changed("setfield beyond %s %s" % (dtype, layout), a, lambda b: b.setfield(1, "f8", 4))
        for axis in (None, 0, 1, -1, 7):
            for order in ("big", "little", "x"):
                attempt("packbits %s %s %s %s" % (dtype, layout, axis, order), lambda: np.packbits(a, axis=axis, bitorder=order))
                for count in (None, 3, -2):
                    if a.size or count is None:
                        attempt("unpackbits %s %s %s %s %s" % (dtype, layout, axis, order, count),
                                lambda: np.unpackbits(a, axis=axis, bitorder=order, count=count))
''')

    def test_correlate_and_einsum(self):
        self.assert_same(PRELUDE + '''
for dtype in "?bldD":
    for other in {dtype, "l", "d"}:
        for sizes in ((12, 3), (12, 4), (5, 5), (3, 12), (7, 1), (0, 2)):
            a, v = make(sizes[:1], dtype), make(sizes[1:], other)
            for mode in ("full", "same", "valid"):
                for function in (np.convolve, np.correlate):
                    attempt("%s %s %s %s %s" % (function.__name__, dtype, other, sizes, mode), lambda: function(a, v, mode))
                attempt("strided %s %s %s %s" % (dtype, other, sizes, mode), lambda: np.convolve(a[::2], v[::-1], mode))
    A, B, C = make((4, 6), dtype), make((6, 5), dtype), make((5, 3), dtype)
    for text, operands in {"ij,jk,kl->il": (A, B, C), "ij,jk,kl": (A, B, C), "ij,ij,ij->i": (A, A, A),
            "i,i,i->": (A[0], A[1], B[:, 0]), "ij,j,i->": (A, A[0], A[:, 0]), "ij,jk,kl,l->i": (A, B, C, C[0]),
            "...j,j,j->...": (A, A[0], A[1]), "ij,ij,ij->ji": (A, A, A), "i,j,k->ijk": (A[0], A[1], A[2]),
            "ij,jk,kl->xx": (A, B, C)}.items():
        attempt("%s %s" % (text, dtype), lambda: np.einsum(text, *operands))
a = make((12,), "d")
a[3], a[7] = np.inf, np.nan
for mode in ("full", "same", "valid"):
    attempt("not finite " + mode, lambda: np.convolve(a, a[4:7], mode))
''')

    def test_at_with_an_index_for_each_dimension(self):
        self.assert_same(PRELUDE + '''
one = np.array([0, 1, 1])
KEYS = {"column": (one[:, None], np.array([[2]])), "two": (one, np.array([2, 2, -1])),
    "broadcast": (one[:, None], np.array([2, 3, 3])), "int": (1, one),
    "out of bounds": (np.array([0, 9]), one[:2]), "slice": (slice(None), one), "mask": (np.array([1, 0, 1, 1], "?"), 2)}
for dtype in "bldD":
    for layout, a in layouts(dtype):
        for name, key in KEYS.items():
            for text, value in {"1": 1, "2.5": 2.5, "three": np.arange(3), "f8": np.arange(3.0), "list": [1, 2, 3]}.items():
                for ufunc in (np.add, np.maximum):
                    changed("%s %s %s %s %s" % (ufunc.__name__, dtype, layout, name, text), a,
                            lambda b: ufunc.at(b, key, value))
''')

    def test_flat_and_parts(self):
        self.assert_same(PRELUDE + '''
KEYS = {"all": slice(None), "every third": slice(1, None, 3), "backwards": slice(None, None, -2), "none": slice(5, 2),
    "array": np.array([1, 5, -2, 1]), "table": np.array([[1, 2], [3, 4]]).T, "u1": np.array([3], "u1"),
    "out of bounds": np.array([1, 99]), "mask": np.arange(24) % 3 == 0, "floats": np.array([1.0]),
    "empty": np.array([], int), "0-d": np.array(3), "int": 4, "list": [1, 2], "ellipsis": Ellipsis}
VALUES = {"1": 1, "2.5": 2.5, "1j": 1j, "list": [1, 2, 3], "none": [], "few": np.arange(5.0),
    "table": np.arange(24.0).reshape(4, 6), "turned": np.arange(24).reshape(6, 4).T, "more": np.arange(99),
    "complex": np.arange(24) * 1j, "text": "x", "0-d": np.array(7), "300": 300}
for dtype in "?bdD":
    for layout, a in layouts(dtype):
        for name, key in KEYS.items():
            attempt("flat %s %s %s" % (dtype, layout, name), lambda: a.flat[key])
            for text, value in VALUES.items():
                def store(b):
                    b.flat[key] = value
                changed("flat %s %s %s = %s" % (dtype, layout, name, text), a, store)
        for text, value in VALUES.items():
            for part in ("flat", "real", "imag"):
                changed("%s %s %s = %s" % (part, dtype, layout, text), a, lambda b: setattr(b, part, value))
        changed("flat itself %s %s" % (dtype, layout), a, lambda b: setattr(b, "flat", b[::-1]))
        attempt("imag %s %s" % (dtype, layout), lambda: a.imag)
        attempt("isreal %s %s" % (dtype, layout), lambda: np.isreal(a))
        changed("fill_diagonal %s %s" % (dtype, layout), a, lambda b: np.fill_diagonal(b, [1, 2, 3]))
        attempt("diagflat %s %s" % (dtype, layout), lambda: np.diagflat(a, 1))
''')

    def test_what_integers_cannot_hold(self):
        """Versions of NumPy refuse it, warn, or wrap it around: each assignment does as this one does."""
        self.assert_same(PRELUDE + '''
import warnings
np.seterr(all="ignore")
VALUES = {"300": 300, "-1": -1, "127.5": 127.5, "-0.5": -0.5, "300.7": 300.7, "nan": float("nan"), "inf": float("inf"), "int64": np.int64(300),
    "list": [300, 1, 2, 3, 4, 5], "floats": [1.5, 300.0, 2, 3, 4, 5], "table": [[1, 2, 3, 4, 5, 6]], "array": np.array([300]), "huge": 10 ** 30,
    "f8": np.float64(300.5), "0-d": np.array(300), "deep": [[[1]]], "wide": 2 ** 53 + 1, "date": np.datetime64("2020")}
keys, mask = np.array([1, 4]), np.arange(6) % 3 == 0
CHANGES = {"real": lambda b, v: setattr(b, "real", v), "imag": lambda b, v: setattr(b, "imag", v), "flat": lambda b, v: setattr(b, "flat", v),
    "flat all": lambda b, v: b.flat.__setitem__(slice(None), v), "flat keys": lambda b, v: b.flat.__setitem__(keys, v),
    "all": lambda b, v: b.__setitem__(Ellipsis, v), "keys": lambda b, v: b.__setitem__(keys, v), "mask": lambda b, v: b.__setitem__(mask, v),
    "one": lambda b, v: b.__setitem__(2, v), "fill": lambda b, v: b.fill(v), "put": lambda b, v: b.put(keys, v),
    "place": lambda b, v: np.place(b, mask, v), "putmask": lambda b, v: np.putmask(b, mask, v), "copyto": lambda b, v: np.copyto(b, v),
    "unsafe": lambda b, v: np.copyto(b, v, casting="unsafe"), "clip": lambda b, v: np.clip(b, 1, v, out=b), "add": lambda b, v: np.add(b, v, out=b),
    "at": lambda b, v: np.add.at(b, keys, v), "along": lambda b, v: np.put_along_axis(b, keys, v, 0)}
MADE = {"full": lambda a, v: np.full(6, v, a.dtype), "like": lambda a, v: np.full_like(a, v), "where": lambda a, v: np.where(mask, a, v),
    "choose": lambda a, v: np.choose(mask, [a, v]), "clip": lambda a, v: np.clip(a, v, 3), "array": lambda a, v: np.array([v], a.dtype),
    "select": lambda a, v: np.select([mask], [a], v), "pad": lambda a, v: np.pad(a, 1, constant_values=v), "insert": lambda a, v: np.insert(a, 1, v)}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for dtype in "bBldDf":
        a = make((6,), dtype)
        for text, value in VALUES.items():
            for name, change in CHANGES.items():
                changed("%s %s %s" % (name, dtype, text), a, lambda b: change(b, value))
                dump("%s %s %s warned" % (name, dtype, text), [str(each.message) for each in caught])
                caught.clear()
            for name, make_one in MADE.items():
                attempt("made %s %s %s" % (name, dtype, text), lambda: make_one(a, value))
                dump("made %s %s %s warned" % (name, dtype, text), [str(each.message) for each in caught])
                caught.clear()
''', env={"GPUSHIM_ARENA_MIN": "1"})

    def test_arrays_of_arrays_and_lists(self):
        self.assert_same(PRELUDE + '''
class Kin(np.ndarray):
    pass
for dtype in DTYPES:
    for layout, a in layouts(dtype):
        for count in (0, 1, 3, 5, 70, -1):
            for keywords in ({}, {"order": "F"}, {"order": "C"}, {"dtype": "f8"}, {"copy": False}, {"copy": None}, {"copy": None, "order": "F"}, {"subok": True}):
                attempt("ndmin %s %s %s %s" % (dtype, layout, count, keywords), lambda: np.array(a, ndmin=count, **keywords))
                attempt("shared %s %s %s %s" % (dtype, layout, count, keywords), lambda: np.may_share_memory(np.array(a, ndmin=count, **keywords), a))
        for name, parts in {"two": [a, a], "tuple": (a, a * 1, a), "mixed": [a, a.astype("d")], "number": [a, 1],
                "nested": [[a, a], (a, a * 1)], "deep": [[[a, a]], [[a, a.astype("b")]]], "ragged": [[a, a], [a]], "of other depths": [[a], a],
                "three dtypes": [a.astype("b"), a.astype("B"), a.astype("e")], "nested dtypes": [[a.astype("H"), a.astype("h")], [a.astype("f")] * 2],
                "kin": [a.view(Kin), a], "masked": [[np.ma.array(a)], [a]], "objects": [[a], [a.astype("O")]], "None": [a, None], "unequal": [a, a[:1]] if a.ndim else [a, 1.5], "i1": [a, a.astype("b")]}.items():
            for function in (np.array, np.asarray, np.asanyarray, np.vstack):
                attempt("%s %s %s %s" % (function.__name__, dtype, layout, name), lambda: function(parts))
            for keywords in ({"dtype": "f4"}, {"dtype": "?"}, {"order": "F"}, {"ndmin": 4}, {"copy": False}):
                attempt("array %s %s %s %s" % (dtype, layout, name, keywords), lambda: np.array(parts, **keywords))
            if name != "objects":  # whose exceptions tell of a thread
                for number, function in enumerate((np.max, np.sum, np.any, np.mean, np.minimum.reduce, np.logical_and.reduce, np.bitwise_or.reduce)):
                    for keywords in ({"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": None}, {"axis": 9}):
                        attempt("function %d %s %s %s %s" % (number, dtype, layout, name, keywords), lambda: function(parts, **keywords))
                attempt("initial %s %s %s" % (dtype, layout, name), lambda: np.add.reduce(parts, 0, "d", None, False, 3, parts[0] > 2))
        for axis in (0, 1, None):
            for name, other in {"list": [1.0, 2], "table": [[1] * 6], "none": [], "number": 2}.items():
                attempt("concatenate %s %s %s %s" % (dtype, layout, axis, name), lambda: np.concatenate([a, other], axis=axis))
        attempt("where %s %s" % (dtype, layout), lambda: np.where(a > 0, a, [0.0]))
        attempt("where listed %s %s" % (dtype, layout), lambda: np.where([True, False] * 3, a, a * 2))
        attempt("argwhere %s %s" % (dtype, layout), lambda: np.argwhere(a))
''')

    def test_segments_of_which_one_is_long(self):
        result = self.assert_same(PRELUDE + '''
STARTS = {"first": np.concatenate(([0], np.arange(39000, 40000, 3))), "last": np.arange(1000), "middle": np.concatenate((np.arange(5, 500), np.arange(39000, 39900, 7))),
    "falling": np.concatenate((np.arange(500, 0, -1), [600])), "twice": np.repeat(np.arange(400), 2)}
for dtype in DTYPES + ["H", "h"]:
    a = on_device((np.arange(40000) * 7919 % 251 - (0 if dtype in "?BH" else 90)).astype(dtype))
    for ufunc in (np.add, np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor):
        for name, starts in STARTS.items():
            if ufunc is not np.add or dtype not in "efdD":  # whose sums are rounded
                attempt("%s %s %s" % (ufunc.__name__, dtype, name), ufunc.reduceat, a, on_device(starts))
x = on_device(np.where(np.arange(40000) % 97 == 0, np.nan, np.arange(40000) % 31 * -0.0))
attempt("nan", np.maximum.reduceat, x, STARTS["last"])
''')
        self.assert_on_device(result, "maximum.at")

    def test_segments_and_windows(self):
        self.assert_same(PRELUDE + '''
ufuncs = (np.add, np.multiply, np.maximum, np.minimum, np.bitwise_or, np.logical_or, np.subtract)
INDICES = {"even": np.arange(0, 1000, 10), "from 5": np.arange(5, 1000, 5), "tail": np.arange(0, 997, 7),
    "uneven": np.sort(np.arange(100) * 377 % 1000), "not rising": np.arange(900) * 7 % 1000,
    "twice": np.repeat(np.arange(0, 1000, 11), 2), "one long": np.arange(70), "beyond": np.arange(0, 1100, 10),
    "below": np.arange(-5, 80), "i4": np.arange(0, 1000, 8, dtype="i4"), "list": list(range(0, 1000, 9))}
for dtype in "?blBfd":
    a = make((1000,), dtype)
    b = a.copy()
    b[20:60], b[80:90:3], b[120:140], b[300:301] = 0, 0, (a[120:140] * 0) * -1.0, (a[:1] * 0) * -1.0
    c = b * np.int8(1 if dtype in "?B" else -1)
    for text, array in {"": a, "some zeros": b, "their negatives": c, "zeros": a * 0, "negative zeros": -(a.astype("d") * 0), "backwards": a[::-1]}.items():
        for name, index in INDICES.items():
            for ufunc in ufuncs:
                attempt("%s %s %s %s" % (ufunc.__name__, dtype, text, name), lambda: ufunc.reduceat(array, index))
for dtype in "?blBefdD":
    windows = np.lib.stride_tricks.sliding_window_view(make((30, 20), dtype), (3, 4))
    kernel = make((3, 4), dtype)
    for text in ("ijkl,kl->ij", "ijkl,kl->ji", "ijkl,kl", "...kl,kl->...", "ijkl,kl->i", "iikl,kl->i", "ijkl,kl->ijkl"):
        attempt("%s %s" % (text, dtype), lambda: np.einsum(text, windows, kernel))
''')

    def test_operands_of_functions_of_the_package(self):
        self.assert_same(PRELUDE + '''
FUNCTIONS = {"transpose": np.transpose, "repeat": lambda x: np.repeat(x, [1, 2], axis=0),
    "take": lambda x: np.take(x, [1, 0], axis=0), "reshape": lambda x: np.reshape(x, (-1,)), "argmax": np.argmax, "max": lambda x: np.max(x, axis=0), "squeeze": np.squeeze,
    "cumsum": lambda x: np.cumsum(x, axis=0), "clip": lambda x: np.clip(x, 0, 3),
    "expand_dims": lambda x: np.expand_dims(x, 0)}
for dtype in DTYPES:
    a, v = make((4, 6), dtype), make((4,), dtype)
    OPERANDS = {"two": [a, a * 1], "tuple": (a, a, a), "empty": [a[:0], a[:0]],
        "mixed": [a, a.astype("d")],
        "unequal": [a, a[:2]], "number": [a, 1], "vectors": [v, v], "places": np.nonzero(a)}
    for name, operands in OPERANDS.items():
        for function, call in FUNCTIONS.items():
            attempt("%s %s %s" % (function, dtype, name), lambda: call(operands))
    DOTS = {"numbers": ([1, 2], [v, v]), "floats": ((0.5, 2.0), [v, v]), "lists": ([v, v], [[1], [2], [3], [4]]), "both": ([v, v], [a[:, 0], a[:, 1], a[:, 2], v]),
        "matrix": ([1, 2, 3, 4], a), "vector": (v, [[1, 2], [3, 4], [5, 6], [7, 8]]), "unequal": ([1, 2, 3], [v, v]), "ragged": ([1, 2], [v, v[:2]]),
        "one": ([2], [v]), "empty": ([], [v]), "text": (["x", "y"], [v, v]), "objects": ([1, None], [v, v]), "number": (2, [v, v])}
    for name, operands in DOTS.items():
        attempt("dot %s %s" % (dtype, name), lambda: np.dot(*operands))
        attempt("dot out %s %s" % (dtype, name), lambda: np.dot(*operands, out=np.zeros(4, dtype)))
    for trim in ("fb", "f", "b"):
        attempt("trim_zeros %s %s" % (dtype, trim), lambda: np.trim_zeros(v * np.array([0, 1, 1, 0], v.dtype), trim))
    attempt("linspace " + dtype, lambda: np.linspace(a, a * 2, 5))
    attempt("pad " + dtype, lambda: np.pad(a, 2, mode="linear_ramp", end_values=(3, 2)))
    for name in ("d", "f", "l"):
        attempt("dtype %s %s" % (dtype, name), lambda: np.subtract(a, v[:, None], dtype=type(np.dtype(name))))
    with np.errstate(all="warn"):
        for text, function in {"add": np.add.reduce, "max": np.max, "multiply": np.multiply.reduce}.items():
            attempt("warnings %s %s" % (text, dtype), lambda: function([v.astype("f") * 3e38, v.astype("f") * 1e38, -v * np.float32(np.inf)]))
    cube = make((3, 4, 5), dtype)
    if hasattr(np, "vecdot"):
        for axis in (0, 1, -1, -3, 3, None, 1.0, True):
            for text, other in {"itself": cube, "broadcast": cube[:1], "vector": v, "Fortran": cube.copy(order="F")}.items():
                attempt("vecdot %s %s %s" % (dtype, axis, text), lambda: np.vecdot(cube, other, axis=axis))
            attempt("vecdot out %s %s" % (dtype, axis),
                    lambda: np.vecdot(cube, cube, axis=axis, out=np.zeros((4, 5), dtype)))
''')

    def test_they_run_on_the_device(self):
        result = self.assert_same(PRELUDE + '''
import shim_script
n = 100000
x, k = np.arange(n) * 1.0, np.arange(n) * 7 % 997
z = 1.0 - x  # of which a segment's first elements are negative
z[:4000] = 0.0
z[20:30:2] = -0.0
def calls():
    b, pairs = x * 1, x.reshape(-1, 2) * 0.5
    b.put(k, 1.0), np.place(b, b > 5, [1.0, 2.0]), setattr(b, "flat", x), np.add.at(b.reshape(100, -1), (k % 100, k), 1.0)
    np.corrcoef(pairs[:, 0], pairs[:, 1]), np.cov(pairs[:, 1], pairs[:, 0])
    return [b, np.array(pairs[:, 1], copy=False if np.__version__ < "2" else None, ndmin=2), np.repeat(x, k % 5), np.choose(k % 2, [x, b]), np.array([x, b]), np.array(x, ndmin=2), x.flat[k],
            np.max([x, b], axis=0), np.sum((b, x), 0), np.minimum.reduce([x, b]), np.array([[x, b], [b, x]]), np.any([[x], [b]], axis=(0, 1)), np.dot([1.0, 2.0], [x, b]),
            np.add.reduceat(z, k[:n // 10] % 5 + np.arange(0, n, 10)), np.add.reduceat(z, np.arange(0, n, 10)), np.add.reduceat(z, np.arange(0, n, 2000)),
            x.byteswap(), np.convolve(k, k[:50]), np.packbits(k > 5), *np.unravel_index(k, (10, 100)),
            np.ravel_multi_index((k, k), (1000, 1000))]
calls()
before = shim_script.report()
calls()
if before:
    moved = shim_script.report()["counters"]["download_bytes"] - before["counters"]["download_bytes"]
    assert moved < 10000, moved
for number, result in enumerate(calls()):
    dump(str(number), result)
''')
        self.assertEqual(result.returncode, 0, result)


if __name__ == "__main__":
    unittest.main()
