# SPDX-License-Identifier: Apache-2.0
"""shuffle, permutation and permuted of arrays on the device: NumPy's order, NumPy's state, and an array that stays there."""
import unittest

import shim_runner

GENERATORS = """
import numpy as np
from shim_script import attempt, dump, on_device, report, residency, share
def generators(seed):
    for kind in ("PCG64", "Philox", "MT19937", "SFC64"):
        yield kind, np.random.Generator(getattr(np.random, kind)(seed))
    yield "RandomState", np.random.RandomState(seed)
def state_of(g):
    return str(g.get_state()[2:] if isinstance(g, np.random.RandomState) else g.bit_generator.state) + str(g.bytes(3))
"""


class TestRandomShuffle(shim_runner.TestCase):
    def test_every_length(self):
        """On both sides of powers of two, and long enough for many words of a mask to be beyond an item."""
        self.assert_same(GENERATORS + """
for kind, g in generators(3):
    for n in (5, 16383, 16384, 16385, 20000, 32768, 32769, 65535, 150001):
        x = on_device(np.arange(n) * 1.5)
        g.shuffle(x)
        dump("%s %d" % (kind, n), x)
        dump("%s %d permutation" % (kind, n), [g.permutation(n), g.permutation(x)])
        dump("%s %d state" % (kind, n), state_of(g))
""", device="integers")

    @unittest.skipIf(shim_runner.is_emulated(), "composed calls do not differ, and many kernels would be compiled")
    def test_every_array(self):
        self.assert_same(GENERATORS + """
n = 17000
x = on_device(np.arange(4.0 * n) * 1.5)
table = x.reshape(n, 4)
def arrays():
    return {"rows": table.copy(), "columns": table.T.copy(), "view": x.copy()[::2], "backwards": x.copy()[::-1], "fortran": np.asfortranarray(table),
            "ints": x.astype("i2"), "bools": x % 3 < 1, "complex": x * 1j, "f2": (x % 7).astype("f2"), "cube": x.reshape(n, 2, 2).copy(),
            "swapped": x.astype(">f8"), "objects": np.array(list(range(n)), object), "words": x.astype("U8"), "dates": x.astype("M8[s]"),
            "subclass": x.view(np.recarray), "read-only": np.broadcast_to(x[:1], n), "rows of nothing": np.zeros((n, 0)),
            "fields": np.zeros(n, "i4,f8"), "many at one place": np.lib.stride_tricks.as_strided(x.copy(), (n,), (0,))}
for kind, g in list(generators(4))[::4]:
    for name, array in arrays().items():
        attempt("%s %s" % (kind, name), lambda: (g.shuffle(array), np.array(array))[1])
        attempt("%s %s permutation" % (kind, name), lambda: g.permutation(array))
        if kind != "RandomState":
            for axis in (1, None, "a"):
                attempt("%s %s axis %s" % (kind, name, axis), lambda: (g.shuffle(array, axis), np.array(array))[1])
                attempt("%s %s permuted %s" % (kind, name, axis), lambda: g.permuted(array, axis=axis))
    attempt("%s list" % kind, lambda: g.permutation(list(range(n))))
    attempt("%s nothing" % kind, g.shuffle)
    attempt("%s too much" % kind, lambda: g.shuffle(x, 0, 1))
    attempt("%s by name" % kind, lambda: (g.shuffle(x=x), x)[1])
    dump("%s state" % kind, state_of(g))
class Sub(np.random.Generator):
    pass
attempt("subclass", lambda: Sub(np.random.PCG64(1)).permutation(x))
""", device="integers")

    def test_mixed_with_the_cpu(self):
        self.assert_same(GENERATORS + """
for kind, g in generators(5):
    x = on_device(np.arange(30000.0))
    for step in range(6):
        g.shuffle(x)
        dump("%s %d" % (kind, step), [x, g.normal(), g.permutation(7), g.permutation(20000), g.standard_normal(16401)])
        if step % 2:  # half of a word is left
            g.shuffle(np.arange(2 + step))
    dump("%s state" % kind, state_of(g))
""", device="integers")

    def test_it_stays_there(self):
        self.assert_same(GENERATORS + """
x = on_device(np.arange(400000.0))
g, rs = np.random.default_rng(1), np.random.RandomState(1)
if np.__version__ < "1.25":  # its shuffle is of a convention that is not hooked
    rs = np.random.Generator(np.random.Philox(1))
g.shuffle(x)
before = report()
g.shuffle(x), rs.shuffle(x)
y, z = g.permutation(x), x[rs.permutation(400000)]
if before:
    counters = report()["counters"]
    moved = max(counters[way] - before["counters"][way] for way in ("upload_bytes", "download_bytes"))
    assert moved < 400000, moved
    assert {residency(a) for a in (x, y, z)} == {"device"}, "where"
dump("all", [x, y, z])
""", device="integers")


if __name__ == "__main__":
    unittest.main()
