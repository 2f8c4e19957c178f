# SPDX-License-Identifier: Apache-2.0
"""scipy.ndimage.label, composed of NumPy's functions (numpy_composed_labels.py), against plain SciPy: the same numbers for the same
components. Skipped where there is no SciPy."""
import importlib.util
import unittest

import shim_runner
from test_scipy_composed import PRELUDE as COMPOSED

PRELUDE = COMPOSED + '''
import zlib
import scipy.ndimage as nd

def noise(shape, share):
    count = int(np.prod(shape))
    return on_device((np.arange(count) * 7919 % 1048573 * 31 % 1009 < share * 1009).reshape(shape))

def digest(found):
    if not isinstance(found, tuple):
        return found
    labels, count = found
    return labels.dtype.str, labels.shape, count, zlib.crc32(np.ascontiguousarray(labels).tobytes())

def check(name, a, *operands, **keywords):
    attempt(name, lambda: digest(nd.label(a, *operands, **keywords)))
'''


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipyLabels(shim_runner.TestCase):
    def test_structures(self):
        self.assert_same(PRELUDE + '''
STRUCTURES = {"cross": None, "square": np.ones((3, 3)), "diagonal": np.eye(3), "other diagonal": np.eye(3)[::-1], "columns": [[0, 1, 0]] * 3,
              "rows": [[0, 0, 0], [1, 1, 1], [0, 0, 0]], "point": [[0, 0, 0], [0, 1, 0], [0, 0, 0]], "no centre": [[1, 1, 1], [1, 0, 1], [1, 1, 1]],
              "odd": [[1, 0, 0], [0, 1, 0], [0, 0, 0]], "large": np.ones((5, 5))}
for share in (0.3, 0.59, 0.9):
    a = noise((1023, 1027), share)
    for name, structure in STRUCTURES.items():
        check("%s %g" % (name, share), a, structure)
for shape in ((1 << 20,), (1, 1 << 20), (1 << 20, 1), (3, 400000), (101, 102, 103), (31, 32, 33, 34)):
    check("%s" % (shape,), noise(shape, 0.4))
    check("%s all" % (shape,), noise(shape, 0.2), np.ones((3,) * len(shape)))
''')

    def test_long_ways(self):
        """Components whose elements are far apart along them."""
        self.assert_same(PRELUDE + '''
def spiral(size):
    a = np.zeros((size, size), bool)
    first, last = 0, size - 1
    while first <= last:
        a[first, first:last + 1] = a[first:last + 1, last] = a[last, first:last + 1] = True
        a[first + 2:last + 1, first] = True
        first, last = first + 2, last - 2
        if first <= last:
            a[first, first - 1] = True
    return a
rows = np.zeros((1024, 1024), bool)
rows[::2] = rows[1::4, -1] = rows[3::4, 0] = True
comb = np.zeros((1024, 1024), bool)
comb[:, ::2] = comb[-1] = True
for name, a in {"spiral": spiral(1024), "rows": rows, "comb": comb, "checker": np.indices((1024, 1024)).sum(0) % 2 == 0,
                "all": np.ones((1024, 1024), bool), "none": np.zeros((1024, 1024), bool)}.items():
    for way, turned in {"": a, " turned": a.T.copy(), " reversed": a[::-1, ::-1].copy()}.items():
        check(name + way, on_device(turned))
        check(name + way + " square", on_device(turned), np.ones((3, 3)))
''')

    def test_dtypes_and_outputs(self):
        self.assert_same(PRELUDE + '''
a = noise((1024, 1025), 0.3)
for dtype in ("u1", "i4", "i8", "f4", "f8", "c8"):
    check("of " + dtype, a.astype(dtype) * 3)
for dtype in ("u1", "i2", "u4", "i8", "f4", "f8", "?"):
    check("into " + dtype, a, output=dtype)
    check("few into " + dtype, noise((1024, 1025), 0.9999), output=dtype)
for name, made in (("C", np.zeros(a.shape, "i4")), ("F", np.zeros(a.shape, "i4", order="F")), ("part", np.zeros((1024, 2050), "i4")[:, ::2])):
    check(name, a, output=made)
    dump(name + " made", digest((made, 0)))
check("turned", a.T)
made = a.astype("i4")
check("into itself", made, output=made)
dump("itself", digest((made, 0)))
made = np.concatenate([a, a]).astype("i4")
check("onto itself", made[:-10], output=made[10:])
dump("onto", digest((made, 0)))
check("NaN", np.where(a, np.nan, 0.0))
b = noise((1200, 1200), 0.5)
stays("stays", nd.label, b)
labels, count = nd.label(b)
stays("sums", nd.sum_labels, make((1200, 1200)), labels, np.arange(50))
''')

    def test_objects(self):
        self.assert_same(PRELUDE + '''
for shape in ((60, 70), (4000,), (12, 13, 14), (1, 500)):
    for dtype in ("u1", "i4", "i8", "u8", "i2"):
        a = (make(shape, dtype, 40.0) // 3).astype(dtype)
        for most in (0, 3, 100):
            attempt("%s %s %d" % (shape, dtype, most), nd.find_objects, a, most)
attempt("none", nd.find_objects, on_device(np.zeros((60, 70), int)))
attempt("below", nd.find_objects, on_device(-np.ones((60, 70), int)))
attempt("floats", nd.find_objects, make((60, 70)))
attempt("turned", nd.find_objects, make((60, 70), "i4", 9.0).T[::2])
a = on_device(np.arange(90000).reshape(300, 300) // 4500)
stays("objects", nd.find_objects, a)
''')


if __name__ == "__main__":
    unittest.main()
