# SPDX-License-Identifier: Apache-2.0
"""Bools whose bytes are neither 0 nor 1 (views of other data), and float16 NaNs with payloads: what copies or chooses keeps
the bytes; what compares, counts, searches or computes takes any byte but 0 for true, as NumPy does.
"""
import shim_runner

BEGIN = '''
import itertools
import numpy as np
from shim_script import dump
BYTES = 0, 1, 2, 128, 255
keys = np.resize(np.array(list(itertools.product(BYTES, BYTES, (0, 1, 2, 255))), np.uint8), (300, 3))

def bools(k, layout):
    column = keys[:, k].copy()
    if layout == "strided":
        wide = np.full(600, 3, np.uint8)
        wide[::2] = column
        return wide.view(bool)[::2]
    return column.view(bool).reshape(3, 100) if layout == "matrix" else column.view(bool)

def show(name, array):
    array = np.asarray(array)
    dump(name, np.ascontiguousarray(array).view(np.uint8) if array.dtype == bool else array)
'''

OPERATIONS = BEGIN + '''
def changed(x, change):
    x = x.copy()
    change(x)
    return x

def try_all(layout):
    x, y, m = (bools(k, layout) for k in range(3))
    three, last = np.stack([x, y, m]), np.stack([x, y, m], -1)
    flat = np.arange(x.size)
    for name, function in {
            "where": lambda: np.where(m, x, y), "where false": lambda: np.where(m, x, False), "where true": lambda: np.where(m, True, y),
            "where int": lambda: np.where(m, x, 7), "where float": lambda: np.where(m, x, 7.5), "where not": lambda: np.where(~m, x, y),
            "where compared": lambda: np.where(x > y, x, y), "where where": lambda: np.where(m, np.where(x, x, y), x), "where or": lambda: np.where(m, x, y) | y,
            "where of copies": lambda: np.where(m, x.copy(), y.copy()).copy(), "copy": lambda: x.copy(), "concatenate": lambda: np.concatenate([x, y]),
            "take": lambda: np.take(x.ravel(), flat), "clipped take": lambda: np.take(x.ravel(), flat, mode="clip"), "index": lambda: x.ravel()[flat], "repeat": lambda: np.repeat(x, 2),
            "roll": lambda: np.roll(x, 5), "choose": lambda: np.choose(m, [x, y]), "clip": lambda: np.clip(x, False, y), "floor": lambda: np.floor(x), "ceil": lambda: np.ceil(x), "trunc": lambda: np.trunc(x),
            "maximum": lambda: np.maximum(x, y), "minimum": lambda: np.minimum(x, y), "fmax": lambda: np.fmax(x, y), "and": lambda: x & y, "or": lambda: x | y, "xor": lambda: x ^ y, "not": lambda: ~x,
            "not not": lambda: ~~x, "add": lambda: x + y, "multiply": lambda: x * y, "float": lambda: x * 2.5 + y, "equal": lambda: x == y, "less": lambda: x < y, "less or": lambda: (x < y) | (m > x), "logical": lambda: np.logical_xor(x, y),
            "bool": lambda: x.astype(bool), "int8": lambda: x.astype("b"), "int64": lambda: x.astype("l"), "float16": lambda: x.astype("e"), "complex": lambda: x.astype("D"), "of uint8": lambda: x.view("u1").astype(bool),
            "add where": lambda: np.add(x, y, where=m, out=np.zeros(x.shape, bool)), "copyto": lambda: changed(x, lambda z: np.copyto(z, y, where=m)), "putmask": lambda: changed(x, lambda z: np.putmask(z, m, y)),
            "assign": lambda: changed(x, lambda z: z.__setitem__(m, y[m])), "assign uint8": lambda: changed(x, lambda z: z.__setitem__(Ellipsis, y.view("u1") if layout != "strided" else y)), "put": lambda: changed(x, lambda z: np.put(z, flat, y)),
            "at": lambda: changed(x, lambda z: np.logical_or.at(z, np.arange(len(z)), y)), "compress": lambda: np.compress(m.ravel(), x.ravel()), "mask": lambda: x[m],
            "sum": lambda: [three.sum(), last.sum(-1).max()], "sums": lambda: three.sum(0), "any": lambda: three.any(0), "all": lambda: last.all(-1), "max": lambda: last.max(-1), "min": lambda: three.min(0),
            "max of one": lambda: last[..., :1].max(-1), "min of one": lambda: three[:1].min(0), "max of one copy": lambda: last[..., :1].copy().max(-1), "max of one of where": lambda: np.where(m, x, y)[..., None].max(-1),
            "argmax": lambda: three.argmax(0), "argmin": lambda: three.argmin(0), "last argmax": lambda: last.argmax(-1), "last argmin": lambda: last.argmin(-1), "whole argmax": lambda: x.ravel()[4:].argmax(),
            "xor reduce": lambda: np.bitwise_xor.reduce(three, axis=0), "and reduce": lambda: np.bitwise_and.reduce(last, axis=-1), "cumsum": lambda: three.cumsum(0), "or accumulate": lambda: np.logical_or.accumulate(last, axis=-1),
            "max accumulate": lambda: np.maximum.accumulate(last, axis=-1), "reduceat": lambda: np.logical_or.reduceat(last, [0, 1], axis=-1), "sum where": lambda: last[..., :2].sum(-1, where=m[..., None]),
            "count": lambda: np.count_nonzero(x), "nonzero": lambda: np.concatenate(np.nonzero(x)), "sum of or": lambda: (x | y).sum(), "sum of where": lambda: np.where(m, x, y).sum(),
            "matmul": lambda: np.stack([x.ravel(), y.ravel()], -1) @ np.ones((2, 1), bool), "dot": lambda: x.ravel().dot(y.ravel()), "tobytes": lambda: np.frombuffer(x.tobytes(), "u1")}.items():
        try:
            show(layout + " " + name, function())
        except TypeError as error:
            dump(layout + " " + name, error)

for layout in "plain", "strided", "matrix":
    try_all(layout)
'''

PAYLOADS = '''
import numpy as np
from shim_script import dump
halves = np.arange(65536, dtype=np.uint16).view("e")
singles = np.arange(0x7f800000, 0x7f800000 + 2048, dtype=np.uint32).view("f")
for name, a in ("half", halves), ("single", singles):
    m = np.arange(a.size) % 3 > 0
    raw = "u%d" % a.itemsize
    dump(name + " where", np.where(m, a, a[::-1]).view(raw))
    dump(name + " where compared", np.where(np.arange(a.size) > 99, a, a[::-1]).view(raw))
    dump(name + " where of copy", np.where(m, a.copy(), a[::-1].copy()).copy().view(raw))
'''


class TestRawBools(shim_runner.TestCase):
    def try_both(self, script):
        for fusion in "01":
            with self.subTest(GPUSHIM_FUSION=fusion):
                self.assert_same(script, env={"GPUSHIM_FUSION": fusion}, device="where")

    def test_bools_of_any_byte(self):
        self.try_both(OPERATIONS)

    def test_payloads_of_nans_that_where_chooses(self):
        self.try_both(PAYLOADS)


if __name__ == "__main__":
    shim_runner.main()
