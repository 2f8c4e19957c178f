# SPDX-License-Identifier: Apache-2.0
"""arange, zeros, ones, full and their kin against plain NumPy, bit for bit."""
import shim_runner


class TestCreation(shim_runner.TestCase):
    def test_arange(self):
        self.assert_same('''
import numpy as np
from shim_script import attempt
dtypes = [None, "i4", "i8", "f4", "f8", int, float, bool, np.int32, np.float32, np.dtype("f8"),
    "f2", "i1", "u1", "u8", ">f8",
          "c8", "O", "nonsense"]
ranges = [(10,), (3,), (2,), (1,), (0,), (-5,), (1000,), (2.5,), (10.0,), (1e3,), (3, 20), (20, 3),
    (0, 10, 3), (10, 0, -1),
          (0, 1, 0.1), (0.5, 9.5), (1, 2, 0.3), (0.1, 0.4, 0.1), (0, -1, -0.01),
          (1e300, 2e300, 1e299), (0, 5e-324, 1),
          (0, 100, 7.0), (0.0, 100, 7), (-3, 3), (2**40, 2**40 + 50), (2**53 - 3, 2**53 + 9),
          (-2**62, 2**62, 2**60),
          (2**63, 2**63 + 5), (2**31 - 5, 2**31 + 5), (0, 10, 0), (0, float("nan")),
          (0, float("inf")),
          (float("nan"),), (0, 10, float("inf")), (np.int64(50),), (np.float32(9),), (True,),
          (0, 10, None), (None,),
          ("a",), (0, 10, 1e-320), (1j,), (np.arange(3),), (0, 8, 1.0 / 3), (16777210, 16777230),
          (1.7, 30.9)]
for args in ranges:
    for dtype in dtypes:
        attempt("%r %r" % (args, dtype), np.arange, *args, dtype=dtype)
attempt("stop=", lambda: np.arange(stop=20)); attempt("start=", lambda: np.arange(start=20))
attempt("start stop", lambda: np.arange(start=3, stop=20, step=2))
attempt("none", lambda: np.arange())
attempt("positional dtype", lambda: np.arange(0, 30, 2, "f4"))
attempt("unknown", lambda: np.arange(30, foo=1))
attempt("like", lambda: np.arange(30, like=np.zeros(1)))
attempt("doubled", lambda: np.arange(30, start=1))
attempt("big", lambda: np.arange(300000)); attempt("big f4", lambda: np.arange(300000, dtype="f4"))
attempt("big step", lambda: np.arange(0, 1, 1e-5)); attempt("too big", lambda: np.arange(2**62))
attempt("huge", lambda: np.arange(1e19)); attempt("linspace", lambda: np.linspace(0, 1, 1000))
attempt("table 1", lambda: np.arange(10000).reshape(1000, -1).T * 2)
''', device="arange")

    def test_filled(self):
        self.assert_same('''
import numpy as np
from shim_script import attempt, on_device
shapes = [5, (5,), [4, 5], (3, 4, 5), (), 0, (0, 3), (2, 0), -1, (3, -1), 2.5, None, "3",
    np.int64(4), (np.int64(4), 2),
          (1,) * 20, (2**40, 2**40), True]
dtypes = [None, "?", "i4", "i8", "f4", "f8", int, float, bool, np.dtype("f4"), "f2", "c16", ">i4",
    "O", "U3", "nonsense"]
for shape in shapes:
    for dtype in dtypes:
        for name in ("zeros", "ones"):
            attempt("%s %r %r" % (name, shape, dtype), getattr(np, name), shape, dtype)
    for value in (0, 1, -7, 2.75, True, np.nan, 2**40, 2**70, np.float32(1.5), "5", None,
        [1.0, 2.0, 3.0, 4.0, 5.0], 1j):
        attempt("full %r %r" % (shape, value), np.full, shape, value)
for order in ("C", "F", "A", "K", "c", None, 3):
    attempt("order zeros %r" % order, lambda: np.zeros((30, 40), order=order))
    attempt("order ones %r" % order, lambda: np.ones((30, 40), order=order))
    attempt("order full %r" % order, lambda: np.full((30, 40), 3.5, order=order))
for dtype in "?bhilBHILefdFD":
    for value in (0, 1, -7, 2.75, True, np.nan, np.inf, 1e40, 2**31, 2**40, 2**63, np.int8(3),
        np.float64(-0.0)):
        attempt("full %s %r" % (dtype, value), np.full, (20, 20), value, dtype)
a = on_device(np.arange(60.0).reshape(3, 4, 5).transpose(2, 0, 1))
for name in ("zeros_like", "ones_like"):
    for options in ({}, {"dtype": "i4"}, {"order": "C"}, {"order": "F"}, {"shape": (7, 8)}):
        attempt("%s %r" % (name, options), getattr(np, name), a, **options)
attempt("full_like", lambda: np.full_like(a, 3)); attempt("eye", lambda: np.eye(30))
attempt("identity", lambda: np.identity(9)); attempt("no shape", lambda: np.zeros())
attempt("by name", lambda: np.zeros(shape=(5, 5), dtype="f4"))
attempt("unknown", lambda: np.zeros(5, foo=1))
attempt("like", lambda: np.zeros(5, like=a)); attempt("doubled", lambda: np.zeros(5, shape=5))
z = np.zeros((500, 500)); z[3, 4] = 1; attempt("written", lambda: z.sum())
attempt("big", lambda: np.ones((500, 500)))
''', device="zeros")

    def test_orders_in_lower_case(self):
        self.assert_same('''
import numpy as np
from shim_script import check_moved, on_device
a = on_device(np.ones((300, 400)))
check_moved({order: lambda: np.add(np.zeros((300, 400), order=order), a.copy(order)) for order in "cf"}, 0, 0)
''')

    def test_filled_in_the_arena(self):
        """Arrays large enough for the arena, where copyto runs on the device."""
        self.assert_same('''
import numpy as np
from shim_script import attempt
for dtype in "?bhilBHILefdFD":
    for order in ("C", "F"):
        attempt("ones %s %s" % (dtype, order), np.ones, (600, 601), dtype, order)
        for value in (3, -2.5, True, np.float32(0.1), np.array(7), np.array([5.0])):
            name = "full %s %s %r" % (dtype, order, value)
            attempt(name, np.full, (600, 601), value, dtype, order)
    attempt("ones of no order " + dtype, np.ones, (600, 601), dtype, None)
    attempt("zeros of no order " + dtype, np.zeros, (600, 601), dtype, None)
    attempt("copy in no order " + dtype, lambda: np.ones((601, 600), dtype).T.copy(None))
row = np.full((600, 601), np.arange(601.0))
attempt("full row", lambda: row)
attempt("ones_like", lambda: np.ones_like(row.T))
attempt("full_like", lambda: np.full_like(row, 2**40, dtype="i8"))
attempt("zeros_like", lambda: np.zeros_like(row.T, dtype="f4"))
''', device="fill")

    def test_empty_like_of_another_shape(self):
        """Strides are NumPy's; the memory is the device's to write, whatever its size."""
        result = self.assert_same('''
import numpy as np
from shim_script import attempt, dump, on_device, residency
prototypes = {"c": on_device(np.ones((30, 40, 50))), "vector": on_device(np.ones(9000))}
prototypes["f"] = prototypes["c"].T
prototypes["turned"] = prototypes["c"].transpose(1, 2, 0)
prototypes["flip"] = prototypes["c"].transpose(2, 0, 1)[::-1]
for name, a in prototypes.items():
    for shape in (a.shape, a.shape[:-1] + (7,), (20000,), (150, 200), (1, 300, 100), 25000, [10, 20, 60], (0, 4), (), (2, 3), -1, "a", (2**40, 2**40)):
        for order in ("K", "C", "F", "A"):
            for dtype in (None, "f4", "O"):
                try:
                    made = np.empty_like(a, shape=shape, order=order, dtype=dtype)
                    dump("%s %s %s %s" % (name, shape, order, dtype), (made.shape, made.strides, str(made.dtype)))
                except Exception as error:
                    dump("%s %s %s %s" % (name, shape, order, dtype), (type(error).__name__, str(error)))
dump("in the arena", residency(np.empty_like(prototypes["c"], shape=(30, 40, 26), dtype="c16")) in ("plain", "host"))
''', device=False, env={"GPUSHIM_ARENA_MIN": "1G"})
        self.assertIn("in the arena", result.values)


if __name__ == "__main__":
    shim_runner.main()
