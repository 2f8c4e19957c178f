# SPDX-License-Identifier: Apache-2.0
"""PyArray_CopyInto as C modules call it, through the table of NumPy's C API: by ctypes, of all dtypes and layouts; and by
f2py's, which copies what it gives to Fortran."""
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
    rng = np.random.default_rng(7)
    """

FORMS = HEAD + """
    dtypes = "?bBhHiIqQefdFD"
    def fresh(dtype, order="C", shape=(40, 30)):
        return np.asarray(rng.integers(0, 100, shape), order=order).astype(dtype, order="K")
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

RAISED = HEAD + """
    np.seterr(over="raise")
    for slot, copy_into in zip(slots, functions):
        dst = np.zeros((40, 30), "f")
        shim_script.attempt("raise %d" % slot, lambda: copy_into(dst, np.full((40, 30), 1e300)))
        shim_script.dump("dst %d" % slot, dst)
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


class TestCopyInto(TestCase):
    def test_forms(self):
        for env in ({"GPUSHIM_ARENA_MIN": "1", "GPUSHIM_FPERR": "strict"}, {"GPUSHIM_ARENA_MIN": "1000000000"}):
            with self.subTest(env):
                result = self.assert_same(FORMS, env=env, device=False)
                self.assertGreater(device_calls(result.report, "copy into"), 0 if "1" == env["GPUSHIM_ARENA_MIN"] else -1)

    def test_raised(self):
        result = self.assert_same(RAISED, env={"GPUSHIM_ARENA_MIN": "1"}, device=False)
        self.assertGreater(device_calls(result.report, "copy into"), 0)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "SciPy is not installed")
    def test_fortran(self):
        """A matrix in C's order is uploaded once, and copied into LAPACK's order where it is."""
        result = self.assert_same(FORTRAN, device=False)
        self.assertEqual(device_calls(result.report, "copy into"), 4)
        for letter in "sdcz":
            self.assertEqual(device_calls(result.report, letter + "getrf"), 1)


if __name__ == "__main__":
    main()
