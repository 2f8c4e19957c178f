# SPDX-License-Identifier: Apache-2.0
"""where, concatenate and what NumPy builds of them and of assignments (stack, roll, pad, tile, eye,
...) against plain NumPy, bit for bit."""
import shim_runner

# Whole numbers of a dtype, from the script's `rng`, and arrays of them in several memory orders.
ARRAYS = '''
def make(shape, dtype):
    values, kind = rng.integers(-50, 50, shape), np.dtype(dtype).kind
    if kind == "c":
        return (values + 1j * rng.integers(-5, 5, shape)).astype(dtype)
    return (values > 0) if kind == "b" else (abs(values) if kind == "u" else values).astype(dtype)

def layouts(dtype):
    a = make((6, 7, 8), dtype)
    yield "c", a
    yield "f", np.asfortranarray(a)
    yield "middle", a.transpose(1, 0, 2).copy().transpose(1, 0, 2)
    yield "sub", make((12, 14, 8), dtype)[::2, ::-2]
'''

PRELUDE = '''
import numpy as np
from shim_script import attempt, check_moved, dump, on_device, share
rng = np.random.default_rng(9)
DTYPES = "?bhilBHILefdFD"
''' + ARRAYS


class TestJoin(shim_runner.TestCase):
    @shim_runner.in_shares(4)
    def test_where(self, share):
        self.assert_same(PRELUDE + '''
mask = make((6, 7, 8), "?")
scalars = [0, 1, -1, 300, 2**40, 2**63, 2**70, 2.5, 1e300, np.nan, True, 1j, np.float32(2),
    np.int8(-3), np.float64(1e300), np.array(3), np.array([2.5]), np.uint64(2**63), None, "x"]
for dtype in share(DTYPES):
    for layout, a in layouts(dtype):
        text = "%s %s " % (dtype, layout)
        for other in DTYPES:
            b = make((6, 7, 8), other)
            attempt(text + other, np.where, mask, a, b)
            attempt(text + other + " turned", lambda: np.where(a, b.T.copy().T, b[:, :1]))
    for number, value in enumerate(scalars):
        attempt("%s %d x" % (dtype, number), np.where, mask, a, value)
        attempt("%s %d y" % (dtype, number), np.where, mask[0, 0], value, a)
        attempt("%s %d scalar" % (dtype, number), np.where, a, value, 0)
attempt("two", np.where, mask, a); attempt("none", np.where); attempt("wrong", np.where, mask, a,
    a[0, 0, 1:])
attempt("0-d", np.where, True, np.array(1), np.array(2.0)); attempt("list", np.where, [True,
    False], 1, 2)
attempt("0-d device", lambda: np.where(mask, on_device(a)[0, 0, 0], on_device(a)[1:2, 0,
    0].reshape(())))
class Sub(np.ndarray):
    pass
attempt("subclass", np.where, mask, a.view(Sub), a)
''', args=share, device="where")

    def test_concatenate(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, a in layouts(dtype):
        text = "%s %s " % (dtype, layout)
        for other in DTYPES:
            b = make((6, 7, 8), other)
            attempt(text + other, np.concatenate, (a, b), 1)
            attempt(text + other + " mixed", np.concatenate, [a, np.asfortranarray(b), b[..., :3]],
                -1)
            attempt(text + other + " f4", lambda: np.concatenate((a, b), 0, dtype="f4"))
            attempt(text + other + " unsafe", lambda: np.concatenate((a, b), 0, dtype="i2",
                                                                    casting="unsafe"))
        out = np.zeros((12, 7, 8), "f8")
        attempt(text + "out", lambda: (np.concatenate((a, a), out=out) is out, out))
        attempt(text + "own", lambda: np.concatenate((out[:6], out[6:][::-1]), out=out))
        for name in ("stack", "vstack", "hstack", "dstack"):
            attempt(text + name, getattr(np, name), (a, a))
        attempt(text + "flat", lambda: np.concatenate([a, a[:2]], axis=None))
        attempt(text + "append", np.append, a, 1); attempt(text + "block", np.block, [[a, a], [a,
            a]])
a, b = make((4, 5), "d"), make((3, 5), "f")
e = np.zeros((0, 5))
for name, parts, axis in (("empty part", (a, e, b), 0), ("all empty", (e, e), 0), ("no part", (),
    0),
        ("wrong", (a, b), 1), ("axis", (a, b), 2), ("negative", (a, a), -2), ("0-d", (np.array(1),
            a), 0),
        ("list", ([[1, 2]], a), 0), ("one", (a,), 0), ("many", [b] * 70, 0), ("depth", (a, a[0]),
            0),
        ("text", (a, np.array([["x"] * 5])), 0), ("big endian", (a, a.astype(">f8")), 0),
        ("masked", (np.ma.array(a), a), 0), ("object", (a, a.astype(object)), 0),
        ("iterator", iter([a, b]), 0), ("array", a, 0), ("numpy axis", (a, b), np.int64(0))):
    attempt(name, np.concatenate, parts, axis)
attempt("out and dtype", lambda: np.concatenate((a, b), out=np.zeros((7, 5)), dtype="f8"))
attempt("out shape", lambda: np.concatenate((a, b), out=np.zeros((7, 4))))
attempt("safe", lambda: np.concatenate((a, b), dtype="f4", casting="safe"))
attempt("int", lambda: np.concatenate((a, b), dtype="i4"))
''', device="concatenate")

    def test_built_of_these(self):
        self.assert_same(PRELUDE + '''
for dtype in "?bIldeFD":
    for layout, a in layouts(dtype):
        calls = {"roll": lambda: np.roll(a, 3), "roll axes": lambda: np.roll(a, (1, 2), axis=(0,
            1)),
            "flip": lambda: np.flip(a).copy(), "rot90": lambda: np.rot90(a).copy(),
            "moveaxis": lambda: np.moveaxis(a, 0, 2).copy(), "tile": lambda: np.tile(a, (2, 1)),
            "broadcast": lambda: np.broadcast_to(a[0], (3, 7, 8)).copy(), "pad": lambda: np.pad(a,
                1),
            "pad value": lambda: np.pad(a, ((1, 2), (0, 1), (3, 0)), constant_values=1),
            "pad edge": lambda: np.pad(a, 1, mode="edge"), "pad wrap": lambda: np.pad(a, 2,
                mode="wrap"),
            "meshgrid": lambda: np.meshgrid(a[0, 0], a[0, 1]), "clip": lambda: a.clip(1, 3),
            "mesh ij": lambda: np.meshgrid(a[0, 0], a[0, 1], indexing="ij"),
                "round": lambda: a.round(1),
            "linspace": lambda: np.linspace(0, 10, 300, dtype=dtype), "tril": lambda: np.tril(a),
            "linspace of arrays": lambda: np.linspace(a[0, 0].real, 9, 30),
                "triu": lambda: np.triu(a, 1),
            "eye": lambda: np.eye(30, 20, -2, dtype=dtype), "diag": lambda: np.diag(a[0]),
            "diagflat": lambda: np.diagflat(a[0, 0]), "identity": lambda: np.identity(20,
                dtype=dtype),
            "diff": lambda: np.diff(a), "gradient": lambda: np.gradient(a.astype("d",
                copy=False)[0]),
            "nan_to_num": lambda: np.nan_to_num(a), "delete": lambda: np.delete(a, 1, axis=1),
            "insert": lambda: np.insert(a, 1, 5, axis=0), "resize": lambda: np.resize(a, (5, 90)),
            "select": lambda: np.select([a > 1, a < 0], [a, a[::-1]], 0),
                "unique": lambda: np.unique(a),
            "piecewise": lambda: np.piecewise(a, [a > 2], [1, 0]), "fill": lambda: np.full_like(a,
                1),
            "choose": lambda: np.choose((a > 1).astype(int), [a, a[::-1]]), "vander":
            lambda: np.vander(a[0, 0]), "indices": lambda: np.indices((3, 4), dtype=dtype), "kron":
            lambda: np.kron(a[0], a[1, :2, :2]), "cross": lambda: np.cross(a[..., :3], a[..., 3:6]),
            "histogram": lambda: np.histogram(a.real.astype("d"), 7), "require":
            lambda: np.require(a, "D", "F"), "asarray": lambda: np.asarray(a, "F", "C"),
            "ones_like": lambda: np.ones_like(a, order="F"), "split": lambda: np.array_split(a, 3,
                1)}
        for name, call in calls.items():
            attempt("%s %s %s" % (dtype, layout, name), call)
''', device="assign", ulp=shim_runner.off_host({"^[FD] .*vander": 32}))  # products in another order

    def test_resident_array_stays(self):
        """What these are made of runs where the array is: a few bytes are fetched, not the array."""
        result = self.shim_run(PRELUDE + '''
a, b = on_device(rng.normal(size=(300, 400))), on_device(rng.normal(size=(300, 400)))
v, mask = on_device(rng.normal(size=100000)), on_device(a > 0)
whole = on_device(rng.integers(-9, 9, (300, 400)))
calls = {"roll": lambda: np.roll(a, 3), "roll axis": lambda: np.roll(a, 3, axis=1), "flip":
    lambda: np.flip(a).copy(), "where": lambda: np.where(mask, a, b),
        "where 0": lambda: np.where(a > 0,
    a, 0), "pad": lambda: np.pad(a, 2), "tile": lambda: np.tile(a, 2),
        "stack": lambda: np.stack([a, b]),
    "concatenate": lambda: np.concatenate([a, b], 1), "flat": lambda: np.concatenate([a, b], None),
    "block": lambda: np.block([[a, b], [b, a]]), "meshgrid": lambda: np.meshgrid(v[:300], v[:400]),
    "tril": lambda: np.tril(a), "diff": lambda: np.diff(a), "gradient": lambda: np.gradient(a),
    "round": lambda: a.round(2), "clip": lambda: a.clip(-1, 1), "clip arrays": lambda: np.clip(a,
        b, 1),
    "nan_to_num": lambda: np.nan_to_num(a), "astype": lambda: a.astype("f4"),
        "turned": lambda: a.T.copy(),
    "ravel": lambda: a.ravel("F"), "asarray": lambda: np.asarray(a, "f4"), "full_like":
    lambda: np.full_like(a, 3), "delete": lambda: np.delete(a, 3, axis=0),
        "append": lambda: np.append(a,
    b), "broadcast": lambda: np.broadcast_to(v[:400], (300, 400)).copy(), "select":
    lambda: np.select([a > 1, a < -1], [a, b], 0),
    "mixed": lambda: np.concatenate([a, whole, np.ones((2, 400))])}
check_moved(calls, download_bytes=4000, upload_bytes=20000)
''', env={"GPUSHIM_FPERR": "off"})
        self.assert_on_device(result, "concatenate")


if __name__ == "__main__":
    shim_runner.main()
