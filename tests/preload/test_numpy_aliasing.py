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

    def test_what_an_exception_leaves(self):
        self.assert_same(EXCEPTIONS)


if __name__ == "__main__":
    unittest.main()
