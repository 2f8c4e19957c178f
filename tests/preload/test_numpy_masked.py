# SPDX-License-Identifier: Apache-2.0
"""What is computed with a mask's elements and put back there, against plain NumPy, bit for bit: as one group where nobody
sees the elements between, with the mask's elements counted once; and whatever may change a mask between two uses of it.
"""
import unittest

import numpy as np

import shim_runner

# NumPy 1.x rounds complex products once or twice, by version and processor; differences grow from step to step.
GROWN = {"z": 1e-6} if np.lib.NumpyVersion(np.__version__) < "2.0.0" else None

HEAD = """
import os
import numpy as np
from shim_script import attempt, dump, on_device, report, synchronize
def counters(function):
    before = report(); result = function(); synchronize(); after = report()
    counters.changed = before and {name: after["counters"][name] - before["counters"][name] for name in after["counters"]}
    return result
def expect(**counts):
    for name, count in counts.items():
        assert counters.changed is None or counters.changed[name] == count, (name, counters.changed)
N = 50000
a = on_device(np.linspace(0, 1, N) * 7 % 1); b = on_device(np.linspace(0, 1, N) * 13 % 1)
m = on_device(a > b * 0.5); synchronize()
"""

MANDELBROT = HEAD + """
c = a * 3 - 2 + 1j * (b * 2 - 1)
z, count = c * 0, np.zeros(a.shape, "i8")
def step():
    inside = z.real * z.real + z.imag * z.imag < 4
    np.add(count, inside, out=count)
    z[inside] = z[inside] ** 2 + c[inside]
    synchronize()
step()
for k in range(9):
    counters(step); expect(flushes=2)
    if os.environ.get("GPUSHIM_DEVICE") == "host":  # others run calls one by one while they compile
        expect(groups=2, grouped=11)
dump("count", count); dump("z", z)
"""

FORMS = HEAD + """
for dtype in ["?", "i1", "u2", "i8", "f2", "f4", "f8", "c8", "c16"]:
    for shape in [(N,), (250, 200), (50, 20, 50)]:
        x = (a * 100).astype(dtype).reshape(shape); y = (b * 50).astype(dtype).reshape(shape)
        k = m.reshape(shape)
        for order in "CF":
            z = np.array(x, order=order); k = np.asarray(k, order=order)
            z[k] = z[k] * y[k] + y[k]; dump("plain %s %s %s" % (dtype, shape, order), z)
            z[k] += y[k]; dump("in place %s %s %s" % (dtype, shape, order), z)
            w = np.zeros(shape, "f4")
            attempt("cast %s %s %s" % (dtype, shape, order), lambda: w.__setitem__(k, z[k] + y[k]))
            dump("cast to %s %s %s" % (dtype, shape, order), w)
z = a.copy(); t = z[m] * 2; z[m] = t + 1; dump("kept", z); dump("t", t)
z = a.copy(); z[m] = z[m] / z[m].max(); dump("reduced", z)
z = a.copy(); z[m] = z[m] + np.arange(int(m.sum())); dump("numbered", z)
z = a.copy(); z[m] = z[m][::-1]; dump("backwards", z)
z = a.copy(); z[1:][m[1:]] = z[:-1][m[1:]] * 2; dump("shifted", z)
z = a.copy(); z[m] = z[~m][0] + z[m]; dump("other", z)
z = a.copy(); z[m] = np.where(z[m] > 0.5, z[m], -z[m]); dump("where", z)
k = m.copy(); k[k] = ~k[k]; dump("mask itself", k)
few = a > 0.999; z = a.copy(); z[few] = z[few] + b[few]; dump("few", z)
"""

ERRORS = HEAD + """
z = b.copy(); d = np.where(m, b + 1, 0)
def unseen():
    z[m] = z[m] / d[m]              # the zeros are elsewhere
    synchronize()
attempt("unseen", unseen); dump("z unseen", z)
def seen():
    z[~m] = z[~m] / d[~m]
    synchronize()
attempt("seen", seen); dump("z seen", z)
def raises():
    with np.errstate(all="raise"):
        z[m] = z[m] / d[m]
        z[~m] = np.log(-z[~m])
attempt("raises", raises); dump("z", z)
"""

COUNTS = HEAD + """
first = a > 0.5
def use():
    z = a.copy()
    t = z[first]
    z[first] = b[first]
    return len(t), z
def again(name):
    attempt(name, use)
    attempt(name + " twice", use)
again("made")
first[:10] = True; again("written on the device")
np.logical_not(first, out=first); again("in place")
first[3] = not first[3]; again("one element")
memoryview(first).cast("B")[7] ^= 1; again("written by the host")
int(first[5]); again("read by the host")
view = first[::2]; view[...] = False; again("through a view")
z = a.copy(); z[1:][first[1:]] = 0; dump("a part", z); again("after a part")
first = b > 0.25; again("another")
def held():
    t = b > 0.5; s = a[t], b[t]; n = len(s[0])
    t[...] = False; return n, len(s[0]), len(a[t])
attempt("held", held)
"""


class TestMasked(shim_runner.TestCase):
    def test_mandelbrot(self):
        self.assert_same(MANDELBROT, env={"GPUSHIM_FUSION": "1", "GPUSHIM_FEED_MS": "0"}, rtol=GROWN)

    def test_forms(self):
        self.assert_same(FORMS)

    def test_errors(self):
        self.assert_same(ERRORS)

    def test_counts(self):
        self.assert_same(COUNTS)


if __name__ == "__main__":
    unittest.main()
