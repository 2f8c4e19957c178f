# SPDX-License-Identifier: Apache-2.0
"""Sources and outputs that overlap without being one view: NumPy reads some of them while it writes, computes others into a
temporary, which an exception leaves; both to the last element, and in place."""
import unittest

import shim_runner

ASSIGNMENTS = """
import numpy as np
from shim_script import dump
def change(name, f, n=3000):
    a = np.arange(float(n)) + 1
    f(a)
    dump(name, a)
def flat_shifted(a): a.flat[1:] = a[:-1]
def flat_turned(a): a.flat[::-1] = a
def flat_apart(a): a.flat[:1000] = a[2000:]
def masked(a): a[np.arange(len(a)) % 2 == 1] = a[:len(a) // 2]
def masked_apart(a): a[np.arange(len(a)) < 1000] = a[2000:]
def indexed(a): a[np.arange(1, len(a))] = a[:-1]
def indexed_turned(a): a[np.array([0, 1])] = a[::-1][:2]
def sliced(a): a[1:] = a[:-1]
def spaced(a): a[::2] = a[:len(a) // 2]
def closer(a): a[:len(a) // 2] = a[::2]
def turned(a): a[::-1] = a
def copied(a): np.copyto(a[::3], a[:len(a) // 3])
def grid(a): a.reshape(30, -1)[1:] = a.reshape(30, -1)[:-1]
for f in (spaced, closer, turned, copied, grid, flat_shifted, flat_turned, flat_apart, masked, masked_apart, indexed, indexed_turned, sliced):
    change(f.__name__, f)
"""
EXCEPTIONS = """
import numpy as np
from shim_script import dump
def left(name, f):
    a = np.arange(3000.0) - 1000
    a[0] = np.inf
    try:
        with np.errstate(all="raise"):
            f(a)
    except FloatingPointError as error:
        dump(name + " error", str(error))
    dump(name, a)
left("turned", lambda a: np.divide(1, a[::-1], out=a))
left("shifted", lambda a: np.divide(1, a[1:], out=a[:-1]))
left("itself", lambda a: np.divide(1, a, out=a))
left("another", lambda a: np.divide(1, a[:1500], out=a[1500:]))
"""
# Rows that share elements change one after the other, as the indices come.
AT = """
import numpy as np
from numpy.lib.stride_tricks import as_strided
from shim_script import dump
for ufunc, dtype in ((np.add, "f8"), (np.subtract, "i4"), (np.maximum, "i8")):
    numbers = np.arange(12).astype(dtype) % 5
    rows = as_strided(numbers, (6, 3), (numbers.itemsize,) * 2)
    ufunc.at(rows, np.array([2, 0, 5, 4, 0]), np.arange(5).reshape(5, 1).astype(dtype))
    ufunc.at(rows, np.array([2, 0, 5, 4]), rows[1])
    dump("rows %s %s" % (ufunc.__name__, dtype), numbers)
    apart = np.arange(18).reshape(6, 3).astype(dtype)
    ufunc.at(apart, np.array([2, 0, 5, 4, 0]), apart[0])
    dump("values %s %s" % (ufunc.__name__, dtype), apart)
"""
REDUCEAT = """
import itertools
import numpy as np
from numpy.lib.stride_tricks import as_strided
from shim_script import attempt, dump
def call(name, source, indices, axis, out):
    attempt(name, lambda: np.add.reduceat(source, indices, axis, out=out).tolist())
for dtype, kind in itertools.product(("f8", "i4"), ("f8", "i4")):
    size = np.dtype(kind).itemsize
    for steps in itertools.product((0, size, 2 * size, -size, 6 * size), repeat=2):
        for axis, shape, large in ((0, (3, 5), (12, 5)), (1, (5, 3), (5, 12))):
            name = "%s %s %s %s " % (dtype, kind, steps, axis)
            numbers = np.arange(200).astype(kind)
            source = (np.arange(60) % 7).astype(dtype).reshape(large)
            call(name, source, [0, 5, 2], axis, as_strided(numbers[90:], shape, steps))
            dump(name + "around", numbers)
    for step, offset in itertools.product((0, size, 2 * size, -size), range(-3, 14)):
        name = "%s %s %s at %s " % (dtype, kind, step, offset)
        numbers = (np.arange(60) % 7).astype(kind)
        call(name + "itself", numbers[20:32], [0, 5, 2], 0, as_strided(numbers[20 + offset:], (3,), (step,)))
        dump(name + "around itself", numbers)
        indices = np.array([9] * 10 + [0, 5, 2] + [9] * 20)
        call(name + "indices", np.arange(12) * 10, indices[10:13], 0,
             as_strided(indices[10 + offset % 4:], (3,), (step // size * 8,)))
        dump(name + "around indices", indices)
"""
SAME_BITS = """
import numpy as np
from shim_script import dump
for name, view in (("turned", lambda x: x[::-1]), ("spaced", lambda x: x[::2])):
    for function in np.sin, np.cos:
        x = np.linspace(-3, 3, 3000)
        count = len(view(x))
        expected = function(view(x))
        function(view(x), out=x[:count])
        dump("%s %s" % (name, function.__name__), bool((x[:count] == expected).all()))
"""


class TestAliasing(shim_runner.TestCase):
    def test_the_same_bits_as_apart(self):
        for mode in "deferred", "strict":
            result = self.shim_run(SAME_BITS, env={"GPUSHIM_FPERR": mode})
            self.assertEqual(len(result.values), 4)
            for name, record in result.values.items(): # NumPy before 1.25 has other bits of its own for strided operands
                self.assertEqual(record[2], "True", (mode, name))

    def test_assignments(self):
        self.assert_same(ASSIGNMENTS)

    def test_reduceat(self):
        self.assert_same(REDUCEAT)

    def test_at(self):
        self.assert_same(AT)

    def test_what_an_exception_leaves(self):
        self.assert_same(EXCEPTIONS)


if __name__ == "__main__":
    unittest.main()
