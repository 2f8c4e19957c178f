# SPDX-License-Identifier: Apache-2.0
"""PyArray_CopyInto and PyArray_FromArray as C modules call them, through the table of NumPy's C API: by ctypes, of all
dtypes and layouts; and by f2py's, which copies what it gives to Fortran."""
import importlib.util
import unittest

from shim_runner import TestCase, device_calls, main

HEAD = """
    import ctypes, itertools, warnings
    import numpy as np
    import shim_script
    core = np._core if hasattr(np, "_core") else np.core
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(pointer(core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    version = int(np.__version__.split(".")[0])
    slots = (50,) if version >= 2 else (50, 82)
    functions = [ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object)(table[slot]) for slot in slots]
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object, ctypes.c_int)(table[109])
    def from_array(array, dtype, flags):
        descr = ctypes.py_object(np.dtype(dtype))
        ctypes.pythonapi.Py_IncRef(descr)  # which it takes
        return make(array, descr, flags)
    C, F, FORCECAST, ENSURECOPY, ENSUREARRAY, ALIGNED, WRITEABLE = 1, 2, 0x10, 0x20, 0x40, 0x100, 0x400
    COPY = FORCECAST | ENSURECOPY | ALIGNED
    rng = np.random.default_rng(7)
    dtypes = "?bBhHiIqQefdFD"
    def fresh(dtype, order="C", shape=(40, 30)):
        return np.asarray(rng.integers(0, 100, shape), order=order).astype(dtype, order="K")
    """

FORMS = HEAD + """
    def attempt(name, function, dst, src):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = function(dst, src)
            except Exception as error:
                result = repr(error)
        shim_script.dump(name, (result, [str(w.message) for w in caught]))
        shim_script.dump(name + " dst", dst)
        shim_script.dump(name + " src", src)
    for slot, copy_into in zip(slots, functions):
        for to, of in itertools.product(dtypes, dtypes):
            attempt("%d %s<-%s" % (slot, to, of), copy_into, fresh(to, "F"), fresh(of))
        for name, dst, src in (
                ("same order", fresh("d"), fresh("d")), ("transposed", fresh("d", shape=(30, 40)).T, fresh("d")),
                ("rows", fresh("d"), fresh("d", shape=30)), ("columns", fresh("d"), fresh("d", shape=(40, 1))),
                ("number", fresh("d"), fresh("d", shape=())), ("one", fresh("d"), fresh("d", shape=(1, 1, 1))),
                ("more dimensions", fresh("d"), fresh("d", shape=(2, 40, 30))), ("other shape", fresh("d"), fresh("d", shape=31)),
                ("empty", fresh("d", shape=(0, 3)), fresh("d", shape=(0, 3))), ("to a number", fresh("d", shape=()), fresh("d", shape=1)),
                ("strided", fresh("d")[::2, ::-1], fresh("d")[::-2]), ("big-endian", fresh(">f8"), fresh("d")),
                ("from big-endian", fresh("d"), fresh(">f8")), ("object", fresh("O"), fresh("d")), ("texts", fresh("U5"), fresh("d")),
                ("subclass", fresh("d").view(np.matrix), fresh("d")), ("masked", fresh("d"), np.ma.masked_less(fresh("d"), 50)),
                ("not finite", fresh("i"), np.full((40, 30), np.nan)), ("too large", fresh("f"), np.full((40, 30), 1e300))):
            attempt("%d %s" % (slot, name), copy_into, dst, src)
        fixed = fresh("d")
        fixed.flags.writeable = False
        attempt("%d fixed" % slot, copy_into, fixed, fresh("d"))
        line = fresh("d", shape=3000)
        for name, dst, src in (("onwards", line[1:], line[:-1]), ("back", line[:-1], line[1:]), ("turned", line[::-1], line),
                               ("spread", line[:1000:2], line[:500])):
            attempt("%d %s" % (slot, name), copy_into, dst, src)
        square = fresh("d", shape=(50, 50))
        attempt("%d in place" % slot, copy_into, square.T, square)
        wide = fresh("d") * 2
        attempt("%d of a result" % slot, copy_into, fresh("d", "F"), wide + wide)
    """

MADE = HEAD + """
    import sys
    def attempt(name, array, dtype, flags):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                result = from_array(array, dtype, flags)
            except Exception as error:
                result = None
                shim_script.dump(name + " error", repr(error))
        shim_script.dump(name, [str(w.message) for w in caught])
        if result is not None:
            # exact ndarrays only: what a view or a subclass shares with its base is in its flags
            shim_script.dump(name + " result", (type(result).__name__, result is array, result.flags.owndata, result.strides))
            shim_script.dump(name + " values", result)
    for to, of, order in itertools.product(dtypes, dtypes, (C, F)):
        attempt("%s<-%s %d" % (to, of, order), fresh(of), to, COPY | order)
    a = fresh("d")
    for flags in (0, C, F, COPY, COPY | C | F, ENSURECOPY | F, FORCECAST | F, COPY | F | ENSUREARRAY, COPY | F | WRITEABLE | 0x200):
        attempt("flags %x" % flags, a, "d", flags)
        attempt("flags %x f" % flags, a, "f", flags)
    for name, array in (("line", fresh("d", shape=3000)), ("cube", fresh("d", shape=(9, 10, 11))), ("strided", fresh("d")[::2, ::-3]),
                        ("turned", fresh("d").T), ("broadcast", np.broadcast_to(fresh("d", shape=30), (40, 30))),
                        ("empty", fresh("d", shape=(0, 3))), ("number", fresh("d", shape=())), ("big-endian", fresh(">f8")),
                        ("object", fresh("O")), ("matrix", fresh("d").view(np.matrix)), ("masked", np.ma.masked_less(fresh("d"), 50)),
                        ("not finite", np.full((40, 30), np.nan)), ("of a result", fresh("d") * 2)):
        for dtype, order in itertools.product("dfi", (C, F)):
            attempt("%s %s %d" % (name, dtype, order), array, dtype, COPY | order)
    for dtype in (">f8", "O", "U5", "M8[s]", np.dtype("d", metadata={"x": 1})):
        attempt("to %s" % (dtype,), fresh("d"), dtype, COPY | F)
    before = sys.getrefcount(np.dtype("f"))
    for _ in range(100):
        from_array(a, "f", COPY | F), from_array(a[:1, :1], "f", COPY | F)
    shim_script.dump("references", abs(sys.getrefcount(np.dtype("f")) - before) < 50)
    """

RAISED = HEAD + """
    np.seterr(over="raise")
    for slot, copy_into in zip(slots, functions):
        dst = np.zeros((40, 30), "f")
        shim_script.attempt("raise %d" % slot, lambda: copy_into(dst, np.full((40, 30), 1e300)))
        shim_script.dump("dst %d" % slot, dst)
    shim_script.attempt("raise", lambda: from_array(np.full((40, 30), 1e300), "f", COPY | F))
    """

FORTRAN = """
    import numpy as np
    from scipy.linalg import get_lapack_funcs
    import shim_script
    rng = np.random.default_rng(7)
    for dtype in "fdFD":
        a = rng.integers(-9, 9, (300, 300)).astype(dtype)
        a[range(300), range(300)] = 3000
        getrf, getrs = get_lapack_funcs(("getrf", "getrs"), dtype=dtype)
        factors = []
        shim_script.check_moved({dtype: lambda: factors.extend(getrf(a))}, download_bytes=4096, upload_bytes=a.nbytes)
        lu, pivots, info = factors
        x, info = getrs(lu, pivots, a[:, :2] + 0)
        shim_script.dump(dtype, (np.allclose(a @ x, a[:, :2], atol=.1), info))
        shim_script.dump(dtype + " a", a)
    """


PARTS = HEAD + """
    x = shim_script.on_device(np.arange(400000.0))
    target = np.frombuffer(bytearray(48), "f4")  # memory that is not NumPy's
    for name, part in (("slice", x[5:17]), ("strided", x[::-40000]), ("table", x[100:112].reshape(4, 3)), ("one", x[7:8])):
        into = target[:part.size].reshape(part.shape)
        moved = shim_script.moved_by(lambda: functions[0](into, part))
        shim_script.dump(name, [into.tolist(), moved["download_bytes"] < 4096])
    """


class TestCapi(TestCase):
    def test_parts_of_large_arrays(self):
        """A few numbers come to the host, and the array stays on the device."""
        self.assert_same(PARTS)

    def test_forms(self):
        for env in ({"GPUSHIM_ARENA_MIN": "1", "GPUSHIM_FPERR": "strict"}, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                result = self.assert_same(FORMS, env=env, device=False)
                self.assertGreater(device_calls(result.report, "copy into"), 0 if "1" == env["GPUSHIM_ARENA_MIN"] else -1)

    def test_made(self):
        for env in ({"GPUSHIM_ARENA_MIN": "1", "GPUSHIM_FPERR": "strict"}, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                result = self.assert_same(MADE, env=env, device=False)
                self.assertGreater(device_calls(result.report, "from array"), 0)

    def test_raised(self):
        result = self.assert_same(RAISED, env={"GPUSHIM_ARENA_MIN": "1"}, device=False)
        for name in ("copy into", "from array"):
            self.assertGreater(device_calls(result.report, name), 0, name)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "SciPy is not installed")
    def test_fortran(self):
        """A matrix in C's order is uploaded once, and copied into LAPACK's order where it is."""
        result = self.assert_same(FORTRAN, device=False)
        copies = device_calls(result.report, "copy into") + device_calls(result.report, "from array")  # by f2py's version
        self.assertGreaterEqual(copies, 4)
        for letter in "sdcz":
            self.assertEqual(device_calls(result.report, letter + "getrf"), 1)


if __name__ == "__main__":
    main()
