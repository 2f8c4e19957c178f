# SPDX-License-Identifier: Apache-2.0
"""Instances of subclasses of ndarray: as keys and values of assignments, as indices, and their copies."""
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(3)
calls = []

class Own(np.ndarray):
    """Tells how NumPy calls its hooks."""
    def __array_finalize__(self, other):
        self.note = getattr(other, "note", "new")
        calls.append((type(other).__name__, self.shape, self.strides))

class Failing(np.ndarray):
    def __array_finalize__(self, other):
        if isinstance(other, Failing):
            raise ValueError("no copies")

def kin(array):
    own = on_device(array).view(Own)
    own.note = "noted"
    yield "Own", own
    yield "Failing", on_device(array).view(Failing)
    yield "matrix", on_device(array.reshape(len(array), -1)).view(np.matrix)
    yield "masked", np.ma.MaskedArray(on_device(array), mask=on_device(array) > 0.5)
    yield "recarray", on_device(array).view(np.recarray)
    yield "strided", on_device(np.repeat(array, 2, 0))[::2].view(Own)
    yield "columns", on_device(array.T.copy()).T.view(Own)

def parts(value):
    """What a program sees of it."""
    return (type(value).__name__, getattr(value, "note", ""), np.asarray(value).copy(), value.strides, value.flags.owndata, value.flags.fnc,
            np.ma.getmaskarray(value).copy() if isinstance(value, np.ma.MaskedArray) else 0)
'''


class TestSubclasses(shim_runner.TestCase):
    def test_copies(self):
        result = self.assert_same(PRELUDE + '''
for dtype in "f8", "i4", "?", "c16":
    for shape in (400,), (20, 30):
        for name, a in kin((rng.random(shape) * 2).astype(dtype)):
            for order in "CFAK":
                calls.clear()
                attempt("copy %s %s %d %s" % (dtype, name, len(shape), order), lambda: (parts(np.ndarray.copy(a, order)), list(calls)))
            FORMS = {"subok": dict(subok=True), "plain": {}, "dtype": dict(subok=True, dtype=dtype), "other": dict(subok=True, dtype="f4"),
                "F": dict(subok=True, order="F"), "ndmin": dict(subok=True, ndmin=3), "no ndmin": dict(subok=True, ndmin=0)}
            for form, keywords in FORMS.items() if name != "Failing" else ():  # NumPy 1.24 crashes
                calls.clear()
                attempt("array %s %s %d %s" % (dtype, name, len(shape), form), lambda: (parts(np.array(a, **keywords)), list(calls)))
            for function in (np.asarray, np.asanyarray, np.ascontiguousarray):
                attempt("%s %s %s %d" % (function.__name__, dtype, name, len(shape)), lambda: parts(function(a)))
b = on_device(np.arange(600.0)).view(Own)
c = b.copy()
c[3] = 7
dump("apart", (np.asarray(b[:5]), np.asarray(c[:5])))
''', env={"GPUSHIM_ARENA_MIN": "1"})
        self.assert_on_device(result, "assign")

    def test_values_and_keys(self):
        self.assert_same(PRELUDE + '''
def changed(name, change):
    target = on_device(np.zeros((20, 30)))
    def go():
        change(target)
        return target
    attempt(name, go)

masks, places, values = rng.random((20, 30)) > 0.5, rng.integers(-20, 20, 50), rng.random((20, 30))
for name, mask in kin(masks):
    changed("mask " + name, lambda t: t.__setitem__(mask, 1.0))
    attempt("chosen " + name, lambda: on_device(values)[mask])
for name, index in kin(places):
    changed("index " + name, lambda t: t.__setitem__(index, 2.5))
    attempt("taken " + name, lambda: on_device(values)[index])
    attempt("nothing " + name, lambda: on_device(values)[index[:0]])
    attempt("beyond " + name, lambda: on_device(values[:5])[index])
for name, value in kin(values):
    changed("whole " + name, lambda t: t.__setitem__(Ellipsis, value))
    changed("rows " + name, lambda t: t.__setitem__(slice(1, 4), value[2]))
    changed("chosen rows " + name, lambda t: t.__setitem__(np.array([5, 1]), value[3]))
    changed("masked rows " + name, lambda t: t.__setitem__(masks, value[masks].ravel() if name != "matrix" else 3.0))
    changed("by itself " + name, lambda t: t.__setitem__(slice(1, None), t.view(type(value))[:-1]))
    changed("no shape " + name, lambda t: t.__setitem__(slice(1, 4), value[:2]))
    changed("element " + name, lambda t: t.__setitem__((1, 2), value.flat[3]))
changed("the masked constant", lambda t: t.__setitem__(slice(2), np.ma.masked))
i = on_device(np.zeros(600, "i4"))
attempt("cast", lambda: (i.__setitem__(Ellipsis, on_device(values).view(Own).ravel() * 100), i))
''', env={"GPUSHIM_ARENA_MIN": "1"})

    def test_masked_arrays(self):
        result = self.assert_same(PRELUDE + '''
def masked(count, every):
    return np.ma.MaskedArray(on_device(np.round(rng.random(count) * 50)), mask=on_device(np.arange(count) % every == 0))

def shown(a):
    return (np.ma.filled(a, -1), np.ma.getmaskarray(a).copy(), a.fill_value) if isinstance(a, np.ma.MaskedArray) else a

a, table = masked(5000, 7), masked(4000, 9).reshape(20, 200)
for name, function in {"sort": np.ma.sort, "median": np.ma.median, "unique": np.ma.unique, "copy": np.ma.copy, "array": np.ma.array}.items():
    attempt(name, lambda: shown(function(a)))
    attempt(name + " of a table", lambda: shown(function(table)))
for endwith in (True, False):
    attempt("sort %s" % endwith, lambda: shown(np.ma.sort(table, axis=0, endwith=endwith)))
attempt("median axis", lambda: shown(np.ma.median(table, axis=1)))
def hide():
    b = a.copy()
    b[b > 40] = np.ma.masked
    b[b < 3] = 1000.0
    return shown(b)
attempt("hide", hide)
''', env={"GPUSHIM_ARENA_MIN": "1"})
        self.assert_on_device(result, "argsort")


if __name__ == "__main__":
    unittest.main()
