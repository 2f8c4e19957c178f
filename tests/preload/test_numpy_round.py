# SPDX-License-Identifier: Apache-2.0
"""ndarray.round: every dtype, decimals of both signs, memory orders, out=, the overflow of its multiplication."""
import shim_runner

PRELUDE = '''
import numpy as np
from shim_script import attempt, dump, on_device, report, synchronize
rng = np.random.default_rng(3)
DTYPES = "? i1 i2 i4 i8 u1 u4 u8 f2 f4 f8 c8 c16".split()

def make(shape, dtype):
    values = rng.normal(0, 300, shape)
    if dtype[0] == "c":
        values = values + 1j * rng.normal(0, 3, shape)
    flat = values.ravel()
    if dtype[0] in "fc":
        flat[:6] = 0.5, -0.5, 2.5, np.inf, -np.inf, np.nan
        flat[6:10] = -0.0, 1e-7, 0.125, -0.001
    return (abs(values) if dtype[0] in "u?" else values).astype(dtype)
'''


class TestRound(shim_runner.TestCase):
    def test_dtypes_and_decimals(self):
        result = self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    with np.errstate(all="ignore"):
        a = make((30, 40), dtype).copy()
        dump(dtype + " itself", a.round() is a)
        for decimals in (0, 1, 2, 3, 4, 5, 12, 22, 23, 30, 40, 300, 400, -1, -2, -4, -7, -30, -330):
            attempt("%s %d" % (dtype, decimals), a.round, decimals)
''')
        self.assert_on_device(result, "round")

    def test_ways_to_call(self):
        result = self.assert_same(PRELUDE + '''
for dtype in ("f2", "f4", "f8", "c16", "i4"):
    a = make((20, 30), dtype).copy()
    attempt(dtype + " keyword", a.round, decimals=2)
    attempt(dtype + " numpy integer", a.round, np.int64(1))
    attempt(dtype + " np.round", np.round, a, 2)
    attempt(dtype + " np.around", np.around, a, -1)
    attempt(dtype + " list", np.round, a[0, 6:20].tolist(), 2)
    attempt(dtype + " none", a.round)
    attempt(dtype + " text", a.round, "2")
    attempt(dtype + " float", a.round, 2.0)
    attempt(dtype + " too many", a.round, 2, None, 3)
    attempt(dtype + " scalar", a[3, 3].round, 2)
    attempt(dtype + " 0-d", np.round, a[3:4, 3].reshape(()), 1)
    attempt(dtype + " empty", a[:0].round, 1)
    attempt(dtype + " matrix", lambda: np.asarray(a.view(np.matrix).round(1)))
''')
        self.assert_on_device(result, "round")

    def test_memory_orders(self):
        self.assert_same(PRELUDE + '''
for dtype in ("f4", "f8", "c8", "c16", "i4"):
    a = make((6, 7, 8), dtype).copy()
    for name, view in {"C": a, "F": a.copy("F"), "turned": a.transpose(1, 0, 2), "rows": a[:, ::2], "back": a[::-1, :, ::-2],
                       "turned rows": a[:, ::2].T, "line": a[1, :, 2], "all": np.broadcast_to(a[0], (3, 7, 8)),
                       "thin": a[:1].copy("F")}.items():
        attempt(dtype + " " + name, view.round, 1)
        attempt(dtype + " tens " + name, view.round, -1)
''')

    def test_out(self):
        result = self.assert_same(PRELUDE + '''
for dtype in ("f2", "f4", "f8", "c16"):
    a = make((20, 30), dtype).copy()
    outs = {"like": a.copy(), "order": a.copy("F"), "part": on_device(np.ones((20, 60), dtype))[:, ::2], "wider":
            np.zeros(a.shape, "c16"), "turned": np.zeros((30, 20), dtype), "flat": np.zeros(600, dtype), "none": None,
            "small": np.zeros((20, 29), dtype), "integers": np.zeros((20, 30), "i8"), "tuple": (a.copy(),)}
    for name, out in outs.items():
        attempt("%s %s" % (dtype, name), a.round, 2, out)
        dump("%s %s out" % (dtype, name), out)
    b = a.copy()
    dump(dtype + " itself", b.round(1, b) is b)
    dump(dtype + " in place", b)
    b[1:].round(1, out=b[:-1])
    dump(dtype + " overlap", b)
''')
        self.assert_on_device(result, "round")

    def test_one_launch(self):
        """Neither NumPy's three ufuncs nor a fetch of the array."""
        self.shim_run(PRELUDE + '''
a, out = on_device(rng.normal(size=100000)), on_device(np.zeros(100000))
z, half = on_device(a + 1j), on_device(a.astype("f2"))
whole = on_device(np.arange(100000))
a.round(2), z.round(2), half.round(2)
for name, call in {"positive": lambda: a.round(2), "negative": lambda: np.round(a, -2), "out": lambda: a.round(2, out),
                   "complex": lambda: z.round(1), "half": lambda: half.round(1),
                   "integers": lambda: whole.round(3)}.items():
    synchronize()
    before = report()["counters"]
    result = call()
    synchronize()
    after = report()["counters"]
    launches = int(name != "integers" or whole.round() is not whole)
    assert after["launches"] - before["launches"] == launches, (name, before, after)
    assert after["download_bytes"] == before["download_bytes"], name
''', env={"GPUSHIM_FUSION": "0"})

    def test_integers_in_tens(self):
        """Numbers that the dtype does not have are NumPy's to cast."""
        self.assert_same(PRELUDE + '''
for dtype in DTYPES[1:8]:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    a = on_device(np.array([0, 1, 4, 5, 6, 15, 25, 35, 45, 49, 50, 51, 95, 96, 99, 100, 104, 105], dtype))
    ends = on_device(np.array([least, least + 1, most - 1, most, most // 2, least // 2], dtype))
    for decimals in (-1, -2, -3, -5, -9, -10, -15, -18, -19, -20, -22, -23, np.int64(-4), np.int8(-6)):
        for text, values in {"few": a, "negative": a * np.array(-1).astype(dtype), "ends": ends, "half": ends // np.array(3, dtype)}.items():
            attempt("%s %s %r" % (dtype, text, decimals), values.round, decimals)
            attempt("%s %s %r np" % (dtype, text, decimals), np.round, values, decimals)
            attempt("%s %s %r out" % (dtype, text, decimals), values.round, decimals, np.zeros_like(values))
''')
        self.shim_run(PRELUDE + '''
from shim_script import check_moved
for dtype in ("i2", "i8", "u4"):
    a = on_device(np.arange(30000).astype(dtype))
    check_moved({dtype: lambda: np.round(a, -2)}, download_bytes=100, upload_bytes=100)
''')

    def test_overflow(self):
        result = self.assert_same(PRELUDE + '''
for dtype, large in (("f2", 6e4), ("f4", 3e38), ("f8", 1.7e308), ("c8", 3e38j), ("c16", 1.7e308)):
    a = on_device(np.ones(1000, dtype))
    a[500] = large
    a[600:602] = np.inf, np.nan
    attempt(dtype + " positive", a.round, 3)
    attempt(dtype + " negative", a.round, -3)
    with np.errstate(over="raise"):
        attempt(dtype + " raise", a.round, 1)
    with np.errstate(over="ignore"):
        attempt(dtype + " ignore", a.round, 2)
    with np.errstate(all="warn"):
        attempt(dtype + " under", a.round, 2)
attempt("divided first", on_device(np.array([65504, 1] * 99, "f2")).round, -1)
''', env={"GPUSHIM_FPERR": "strict"})
        self.assert_on_device(result, "round")
        self.assertIn("f4 positive: warnings", result.values)
        self.assertIn("divided first: warnings", result.values)


if __name__ == "__main__":
    shim_runner.main()
