# SPDX-License-Identifier: Apache-2.0
"""Masks and integer arrays as indices, read and written, against plain NumPy, bit for bit."""
import shim_runner
from test_numpy_join import ARRAYS

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device
rng = np.random.default_rng(7)
DTYPES = ["?", "i1", "u2", "i8", "f2", "f8", "c8"]
FEW = ["i1", "f8", "c8"]
''' + ARRAYS + '''
def stored(name, a, key, value):
    """Stores into a copy in the arena."""
    def go():
        b = a.copy(order="K")
        try:
            b[key] = value
        except Exception as error:
            return type(error).__name__, str(error), b
        return b
    attempt(name, go)

full = make((6, 7, 8), "?")
MASKS = {"whole": full, "fortran": np.asfortranarray(full), "two": full[:, :, 0],
    "one": np.array([0, 1, 1, 0, 1, 0], "?"), "none": np.zeros((6, 7, 8), "?"),
    "none of one": np.zeros(6, "?"), "all": np.ones((6, 7, 8), "?"),
    "too short": np.ones(5, "?"), "wrong": np.ones((6, 7, 9), "?"), "deep": np.ones((6, 7, 8, 1),
        "?")}
INDICES = {"list": [0, 2, 1, -1], "array": np.array([5, 0, 0, -6]), "i4": np.array([1, 2], "i4"),
    "u1": np.array([1, 2, 1], "u1"), "u8": np.array([1, 2], "u8"), "table": np.array([[0, 1], [2,
        3]]),
    "turned": np.array([[0, 1], [2, 3]]).T, "one": [5], "out of bounds": np.array([0, 9]),
    "below": [-9], "empty": [], "empty array": np.array([], int), "bools": [True, False],
    "floats": np.array([1.0]), "backwards": np.arange(5)[::-1]}
'''


class TestIndex(shim_runner.TestCase):
    def test_arrays_beside_ints_none_and_slices(self):
        self.assert_same(PRELUDE + '''
rows = np.array([0, 3, 1, 1])
cube = np.arange(24).reshape(2, 3, 4) % 4
INDEXES = {"rows": rows, "strided": np.arange(8)[::2] % 4, "backwards": rows[::-1], "turned": cube.T,
    "swapped": cube.transpose(2, 0, 1), "part": np.arange(48).reshape(2, 6, 4)[:, ::2] % 4, "flipped": cube[::-1, :, ::-1],
    "column": rows[:, None], "mask": np.array([1, 0, 1, 1, 0, 0], "?"), "list": [1, 2, 0, 3], "none": [],
    "beyond": np.array([1, 99]),
    "0-d": np.array(1), "u8": rows.astype("u8")}
S, after, back = slice(None), slice(1, None), slice(None, None, -2)
for layout, a in layouts("f8"):
    for first, x in INDEXES.items():
        KEYS = [(x, 5), (x, -1), (S, x, 2), (S, 2, x), (2, S, x), (x, S, 2), (x, after, 3), (x, 2, 2), (1, x, 2), (..., x, 1),
            (x, ..., 2), (1, ..., x), (None, x), (x, None, 2), (2, None, x), (S, None, x, 1), (x, 99), (x, np.int64(2)),
            (x, back, np.int64(-1)), (x, 2.5), (x, True), (None, 2, x, S), (x, x), (x, x, x)]
        KEYS += [key for y in (rows, cube.T, INDEXES["part"]) for key in
                 [(x, y), (x, y, 1), (x, S, y), (0, x, y), (x, 0, y), (x, None, y), (x, y, x)]]
        for number, key in enumerate(KEYS):
            name = "%s %s %d" % (layout, first, number)
            attempt(name, lambda: a[key])
            stored(name + " = 7", a, key, 7)
            def store(b):
                b[key] = np.arange(b[key].size).reshape(b[key].shape) * 1.5
                return b
            attempt(name + " = more", lambda: store(a.copy(order="K")))
    x, table = a.reshape(-1), a.reshape(a.shape[0], -1)
    for first, index in INDEXES.items():
        attempt("%s one %s" % (layout, first), lambda: x[index])
        attempt("%s two %s" % (layout, first), lambda: table[index, index])
        attempt("%s turned %s" % (layout, first), lambda: table[index, cube.T])
    places = np.argsort(table.real, axis=1, kind="stable")
    attempt(layout + " take_along_axis", lambda: np.take_along_axis(table, places[:, ::3], axis=1))
    def put(b):
        np.put_along_axis(b, places[:, :5], -1, axis=1)
        return b
    attempt(layout + " put_along_axis", lambda: put(table.copy()))
''', device="take")

    def test_an_index_for_each_of_many_axes(self):
        self.assert_same(PRELUDE + '''
a = on_device(np.arange(6.0 * 5 * 4 * 3 * 7).reshape(6, 5, 4, 3, 7))
i = np.arange(3)
def put(largest):
    b = np.zeros_like(a)
    np.put_along_axis(b, largest, 1.0, -1)
    return b
largest = on_device(np.asarray(-a).argmax(-1)[..., None])
attempt("take_along_axis", lambda: np.take_along_axis(a, largest, -1))
attempt("put_along_axis", lambda: put(largest))
attempt("five", lambda: a[i, i, i, i, i])
nine = on_device(np.arange(3.0**9).reshape((3,) * 9))
for axes in (7, 8, 9):
    attempt("%d of nine" % axes, lambda: nine[(i,) * axes])
''', device="take")

    def test_empty_selections(self):
        result = self.assert_same(PRELUDE + '''
KEYS = {"mask": np.zeros((6, 7, 8), "?"), "rows": np.zeros(6, "?"), "rows and more": (np.zeros(6, "?"), slice(1)),
    "array": np.array([], int), "list": [], "table": np.zeros((2, 0), int), "short": np.zeros(0, "?"),
    "with an int": (np.array([], int), 2), "slice": slice(0, 0), "columns": (slice(None), np.zeros(7, "?")),
    "two masks": (np.zeros(6, "?"), np.zeros(7, "?")), "mask and index": (np.zeros(6, "?"), np.array([3])),
    "mask and beyond": (np.zeros(6, "?"), np.array([300])), "long mask": (slice(None), np.zeros(70, "?"))}
VALUES = {"1": 1, "none": np.array([]), "no rows": np.zeros((0, 8)), "array": np.arange(5.0), "text": "x",
    "row": np.arange(8.0)}
for layout, a in layouts("f8"):
    for name, key in KEYS.items():
        attempt("%s %s" % (layout, name), lambda: a[key])
        for text, value in VALUES.items():
            stored("%s %s = %s" % (layout, name, text), a, key, value)
        def add(b):
            b[key] += 1
            return b
        attempt("%s %s +=" % (layout, name), lambda: add(a.copy()))
    attempt(layout + " nonzero", lambda: np.nonzero(a * 0))
    attempt(layout + " take", lambda: (a.take([], axis=1), a.take(np.array([], int)), np.compress(np.zeros(6, "?"), a, axis=0)))
import shim_script
x = on_device(np.arange(300000.0))
none = x < 0
table = x.reshape(600, 500)
columns = table.sum(0) < 0
def calls():
    x[none] = x[none] + 1
    x[none] -= 1
    table[:, columns] = 1
    table[:, columns] /= 2
    return x[np.array([], int)], x[none], np.nonzero(none), x.take([]), table[:, columns]
before = shim_script.report()
calls()
if before:
    moved = shim_script.report()["counters"]["download_bytes"] - before["counters"]["download_bytes"]
    assert moved < 10000, moved
''', device=None)
        self.assertEqual(result.returncode, 0, result)

    def test_masks_read(self):
        result = self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, a in layouts(dtype):
        for name, mask in MASKS.items():
            for m in (mask, on_device(mask) if mask.ndim else mask):
                attempt("%s %s %s %d" % (dtype, layout, name, m is mask), lambda: a[m])
        attempt("%s %s second" % (dtype, layout), lambda: a[:, np.array([1, 0, 1, 1, 0, 1, 1],
            "?")])
        attempt("%s %s last" % (dtype, layout), lambda: a[..., full[0, 0]])
        attempt("%s %s listed" % (dtype, layout), lambda: a[[True, False, True, False, True,
            False]])
        for axis in (None, 0, 1, -1):
            for c in (MASKS["one"], full[0, 0], [True, False], full.ravel(), MASKS["too short"]):
                attempt("%s %s compress %r %d" % (dtype, layout, axis, len(c)),
                        lambda: a.compress(c, axis=axis))
        attempt("%s %s extract" % (dtype, layout), lambda: np.extract(full, a))
''', device="compress")
        self.assert_on_device(result, "sum")

    def test_masks_of_several_dimensions_beside_other_items(self):
        self.assert_same(PRELUDE + '''
two, last = full[:, :, 0], full[0]
S, after = slice(None), slice(1, None)
ints = np.array([1, 0, 3])
for layout, a in layouts("f8"):
    a = on_device(a)
    KEYS = {"after a slice": (S, last), "after a part": (after, last), "after an int": (2, last), "after ...": (..., last),
        "before a slice": (two, S), "before a part": (two, after), "before an int": (two, 3), "before ...": (two, ...),
        "beside None": (None, two, None), "turned": (S, np.asfortranarray(last)), "beside an array": (two, np.arange(two.sum()) % 8),
        "beside an array of another size": (two, ints), "beside one number": (two, ints[:1]), "beside a list": (two, [2]),
        "none true": (S, last & False), "all true": (S, last | True), "wrong": (S, two), "too many": (S, S, last),
        "two ...": (..., last, ...), "0-d": (two, np.array(True)), "alone": (two,), "on the device": (S, on_device(last)),
        "beside a mask": (two, np.arange(8) < two.sum()), "a whole mask and None": (full, None), "bool": (S, last, True)}
    for name, key in KEYS.items():
        name = layout + " " + name
        attempt(name, lambda: a[key])
        for text, value in {"7": 7, "nan": np.nan, "array": np.arange(8.0), "short": np.arange(3.0), "itself": a[0, 0]}.items():
            stored(name + " = " + text, a, key, value)
        def add(b):
            b[key] *= 2
            return b
        attempt(name + " *=", lambda: add(a.copy(order="K")))
''', device="take")

    def test_masks_written(self):
        result = self.assert_same(PRELUDE + '''
count = int(full.sum())
values = {"1": 1, "300": 300, "2.5": 2.5, "1j": 1j, "nan": np.nan, "f4": np.float32(2.5),
    "0-d": np.array(3), "1-d": np.array([2.5]), "2-d": np.array([[2]]), "list": [1, 2],
    "count": np.arange(count), "count f8": np.arange(count) * 1.5, "too many": np.arange(count + 1),
    "backwards": np.arange(2 * count)[::-2], "row": np.arange(8), "plane": np.arange(56).reshape(7,
        8),
    "three": np.arange(168).reshape(3, 7, 8), "empty": np.array([]), "text": "x"}
three, pairs = values["three"], np.arange(8 * int(MASKS["two"].sum())).reshape(-1, 8)
values.update({"fortran": np.asfortranarray(three), "inner": np.moveaxis(np.arange(168.0).reshape(7, 8, 3), -1, 0),
    "stepped": np.arange(336).reshape(3, 7, 16)[:, :, ::2], "turned round": three[::-1, ::-1, ::-1], "one of three": three[:1],
    "wrong": three.reshape(3, 8, 7), "pairs": pairs, "turned pairs": np.asfortranarray(pairs), "other pairs": pairs[:, ::-1]})
for dtype in ["?", "u2", "f8"]:
    for layout, a in layouts(dtype):
        for name, mask in MASKS.items():
            for text, value in values.items():
                stored("%s %s %s = %s" % (dtype, layout, name, text), a, mask, value)
    def go(b):
        b[b > 0] = b[b > 0][::-1]
        b[b > 1] += 1
        b[full] = b[~full].reshape(-1)[:1]
        return b
    attempt(dtype + " itself", go, on_device(a))
    def go(b):
        b[MASKS["one"]] = b[:3]
        b[MASKS["two"]] = b[MASKS["two"]][:, [3, 0, 1, 2, 7, 6, 5, 4]]
        return b
    attempt(dtype + " its rows", go, on_device(a))
for c in (on_device(full), on_device(full)[1:]):
    def go():
        b = c.copy(); b[b] = False; return b
    attempt("own mask %d" % len(c), go)
    def go():
        b = c.copy(); b[1:][b[:-1]] = False; return b
    attempt("shifted mask %d" % len(c), go)
''', device="expand")
        self.assert_on_device(result, "fill where")
        self.assert_on_device(result, "assign where")

    def test_rows_written_stay(self):
        """Rows that take() gives lie the other way round in memory."""
        result = self.assert_same(PRELUDE + '''
f = on_device(np.arange(3600.0).reshape(20, 20, 9))
m = on_device(np.arange(400).reshape(20, 20) % 3 == 0)
f[m] = f[m][:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
f[m] = f[m] + 1
dump("f", f)
''', device="expand")
        self.assertEqual(shim_runner.device_calls(result.report, "expand"), 2)

    def test_integers(self):
        result = self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, a in layouts(dtype):
        for name, index in INDICES.items():
            text = "%s %s %s" % (dtype, layout, name)
            attempt(text, lambda: a[index])
            attempt(text + " second", lambda: a[:, index])
            attempt(text + " last", lambda: a[..., index])
            attempt(text + " sliced", lambda: a[1:, index, ::-2])
            for value in (1, np.arange(len(index)), np.arange(8.0), [1, 2, 3, 4]):
                stored("%s = %r" % (text, value), a, index, value)
                stored("%s second = %r" % (text, value), a, (slice(None), index), value)
                stored("%s last = %r" % (text, value), a, (Ellipsis, index), value)
for dtype in ("i4", "i8"):
    def go(b):
        b[b.copy()] = np.arange(20); b[[3, 4]] += b[[4, 3]]; b[b] = 1; return b
    attempt("duplicates " + dtype, go, on_device((np.arange(20) % 7).astype(dtype)))
''', device="take")
        self.assert_on_device(result, "put")

    def test_several(self):
        self.assert_same(PRELUDE + '''
i, j, k = np.array([0, 2, -1, 1]), np.array([3, -7, 6, 6]), np.array([7, 0, 1, -8])
table, mask = i.reshape(2, 2), np.array([1, 0, 1, 1, 0, 1], "?")
keys = {"i j": (i, j), "i j k": (i, j, k), "i : k": (i, slice(None), k), ": j k": (slice(None), j,
    k),
    "... j k": (Ellipsis, j, k), "i ... k": (i, Ellipsis, k), "tables": (table, table),
    "ix": np.ix_([1, 2], [3, 4, -1]), "ix of three": np.ix_([1, 2], [3, 4, -1], [0, 1]),
    "ix with mask": np.ix_(mask, [0, 1]), "mask alone": (mask,), "mask slice": (mask, slice(1, 4)),
    "reversed": (slice(None, None, -1), j, slice(None, None, -2)), "lists": ([0, 1], [1, 2]),
    "mask and index": (mask, np.array([0, 1, 2, 3])), "out of bounds": (i, np.array([0, 0, 7, 0])),
    "broadcast": (i[:, None], j), "fortran": (np.asfortranarray(table), np.asfortranarray(table)),
    "mixed order": (table.T, table), "integer": (i, 3), "none": (i, None, j),
        "numpy": (np.int64(1), j),
    "small": (i.astype("i1"), np.array([1, 2, 3, 4], "u1")), "same": (i, i), "too many": (i, j, k,
        k),
    "empty": (np.array([], int), np.array([], int)), "0-d": (np.array(1), j),
    "wide mask": (full[:, :, 0], slice(0, 3))}
for dtype in FEW:
    for layout, a in layouts(dtype):
        for name, key in keys.items():
            attempt("%s %s %s" % (dtype, layout, name), lambda: a[key])
            for value in (1, np.arange(4), [1, 2, 3, 4], np.arange(8.0)):
                stored("%s %s %s = %r" % (dtype, layout, name, value), a, key, value)
    order = np.argsort(a.astype("f8").real, axis=1, kind="stable")
    attempt(dtype + " along", lambda: np.take_along_axis(a, order, axis=1))
    attempt(dtype + " triangle", lambda: a[0][np.triu_indices(6, 1)])
''', device="take")

    def test_take_nonzero_repeat(self):
        result = self.assert_same(PRELUDE + '''
for dtype in FEW:
    for layout, a in layouts(dtype):
        text = "%s %s " % (dtype, layout)
        for name, index in INDICES.items():
            for axis in (None, 0, 1, -1):
                for mode in ("raise", "wrap", "clip"):
                    attempt(text + "take %s %r %s" % (name, axis, mode),
                            lambda: np.take(a, index, axis=axis, mode=mode))
        out = np.zeros((2, 7, 8), dtype)
        attempt(text + "out", lambda: (a.take([0, 1], 0, out), out))
        attempt(text + "one", lambda: a.take(3, axis=1)); attempt(text + "mode", a.take, [0],
            mode="x")
        for count, axis in ((3, None), (2, 1), (2, -1), (1, 0), (0, 0), (-1, 0), (np.int64(2), 0),
                            ([1, 2], 0), (2, 5), (2.0, 0)):
            attempt(text + "repeat %r %r" % (count, axis), lambda: a.repeat(count, axis))
        for name, b in (("whole", a), ("none", a > 200), ("turned", a.T), ("one", a[0, 0])):
            attempt(text + "nonzero " + name, b.nonzero); attempt(text + "where " + name, np.where,
                b)
            attempt(text + "argwhere " + name, lambda: np.argwhere(b))
            attempt(text + "flat " + name, lambda: np.flatnonzero(b))
for x in (np.array([0.0, -0.0, np.nan, np.inf, 1e-300]), np.array(3), np.zeros((0, 3)),
    np.zeros(4)):
    attempt("nonzero %r" % x, x.nonzero)
''', device="nonzero")
        self.assert_on_device(result, "take")
        self.assert_on_device(result, "repeat")

    def test_memory_of_results(self):
        """Behind a slice an index makes a view of what it took; in front, an array with its own memory."""
        self.assert_same(PRELUDE + '''
def seen(a):
    base = a.base
    return (a.flags.owndata, a.flags.c_contiguous, a.flags.f_contiguous, a.strides,
            base is not None and (base.shape, base.strides, base.flags.owndata))
for layout, a in layouts("f8"):
    for name, key in {"first": [1, 0], "second": np.s_[:, [0, 2]], "last": np.s_[..., np.array([3, 1])],
                      "table": np.s_[:, np.array([[0, 1], [2, 3]])], "sliced": np.s_[::2, [4, 1], ::-1],
                      "mask": np.s_[:, full[0, :, 0]], "two": np.s_[:, [0, 1], [1, 2]],
                      "masks": np.s_[1:, full[0]], "number": np.s_[:, 1, [0, 2]],
                      "number first": np.s_[1, [0, 2]]}.items():
        text = "%s %s" % (layout, name)
        b = on_device(a)[key]
        dump(text, b); dump(text + " memory", seen(b))
        c = b + 1; b[...] = 0; b += c; dump(text + " written", b); dump(text + " base", b.base)
        attempt(text + " resized", lambda: b.resize(3, refcheck=False))
''', device="take")

    def test_flat(self):
        self.assert_same(PRELUDE + '''
keys = {"all": slice(None), "third": slice(None, None, 3), "part": slice(5, 20), "back": slice(None,
    None, -1), "none": slice(0, 0), "one": 3, "list": [1, 2], "dots": Ellipsis}
for dtype in FEW:
    for layout, a in layouts(dtype):
        for name, key in keys.items():
            for value in (1, 2.5, True, 300, 1j, [1, 2], np.arange(3), np.arange(15.0),
                          np.arange(a.size)):
                def go():
                    b = a.copy(order="K"); b.flat[key] = value; return b
                attempt("%s %s %s = %r" % (dtype, layout, name, value), go)
    attempt(dtype + " eye", lambda: np.eye(9, 7, 1, dtype=dtype))
    attempt(dtype + " diag", lambda: np.diag(a[0, 0])); attempt(dtype + " tri", np.tri, 5, 6, 1,
        dtype)
    def go(b):
        np.fill_diagonal(b, 3); return b
    attempt(dtype + " fill_diagonal", go, a[0].copy())
''', device="assign")

    def test_resident_index_out_of_bounds(self):
        """What is wrong with an index that only the device holds shows there alone."""
        result = self.assert_same(PRELUDE + '''
from shim_script import residency
a = on_device(rng.normal(size=(300, 40)))
for kind in "ilhL":
    for name, at, bad in (("first", 0, 300), ("last", 49999, 300), ("far", 777, 30000), ("below", 5, -301), ("good", 5, 299)):
        if kind == "L" and bad < 0:
            continue
        index = rng.integers(0, 300, 50000).astype(kind)
        index[at] = bad
        calls = {"take": lambda i: a.take(i, axis=0), "key": lambda i: a[i], "flat": lambda i: a[:, 0].take(i)}
        for call_name, call in calls.items():
            resident = on_device(index)
            assert residency(resident) in ("device", "plain")
            attempt("%s %s %s" % (kind, name, call_name), lambda: call(resident)[..., :9])
''', device="take")
        self.assertGreaterEqual(sum(value[0] == "exception" for value in result.values.values()), 3 * (4 * 4 - 1))

    def test_resident_array_stays(self):
        """An array that the device holds is indexed there: a few bytes are fetched, not the array."""
        result = self.shim_run(PRELUDE + '''
from shim_script import check_moved
a, b = on_device(rng.normal(size=(300, 400))), on_device(rng.normal(size=(300, 400)))
v, index = on_device(rng.normal(size=100000)), on_device(rng.integers(0, 100000, 20000))
mask = a > 0
c = on_device(np.stack([a, b]))
def store(x, key, value):
    x = x + 0
    x[key] = value
    return x
calls = [lambda: a[mask], lambda: a[a[:, 0] > 0], lambda: a[:, a[0] > 0], lambda: v[index],
    lambda: a[index % 300, index % 400], lambda: a.take([1, 2], axis=1), lambda: mask.nonzero(),
    lambda: v.take(index * 3, mode="wrap"), lambda: v.take(index * 3, mode="clip"),
    lambda: v.compress(v > 0), lambda: v.repeat(3), lambda: a.repeat(2, axis=1),
    lambda: np.take_along_axis(a, np.zeros((1, 400), int), 0), lambda: store(a, mask, 0),
    lambda: c[:, mask], lambda: c[1, mask], lambda: store(c, (slice(None), mask), 2.0), lambda: c[:, mask & (a > 9)],
    lambda: store(a, mask, a[mask] * 2), lambda: store(v, index, 1.0), lambda: store(v, [1, 2], [3,
        4]),
    lambda: store(a, 3, [1.0] * 400), lambda: np.putmask(a + 0, mask, b),
    lambda: np.place(a + 0, mask, [0]), lambda: np.copyto(a + 0, b, where=mask),
    lambda: np.eye(300), lambda: np.diag(v[:300]), lambda: np.fill_diagonal(a + 0, 0)]
check_moved(dict(enumerate(calls)), download_bytes=1000, upload_bytes=4000)
''', env={"GPUSHIM_FPERR": "off"})
        self.assert_on_device(result, "compress")

    def test_small_array_by_resident_indices(self):
        """In mode auto an array that is too small for the device is indexed there, by arrays that are there."""
        result = self.shim_run("""
import time
import numpy as np
from shim_script import check_moved, residency
table, x = np.arange(8192.0).reshape(64, 64, 2), np.random.default_rng(7).random((1500, 1500)) * 64
for turn in range(1000):
    i = (np.exp(np.sin(np.cos(np.tan(x)))) * 20).astype(np.int64)
    if residency(i) in ("plain", "device"):
        break
    time.sleep(0.01)
assert residency(i) in ("plain", "device"), residency(i)
found = []
check_moved({"arrays": lambda: found.append(table[i, (i * 7) % 64]), "beside an int": lambda: found.append(table[i, 0])}, download_bytes=10000, upload_bytes=3 * table.nbytes)
host = i.copy()
host[0, 0] = host[0, 0]
for got, expected in zip(found, (table[host, host * 7 % 64], table[host, 0])):
    assert np.array_equal(got, expected)
""", env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_FPERR": "off"})
        self.assertEqual(result.returncode, 0, result)


if __name__ == "__main__":
    shim_runner.main()
