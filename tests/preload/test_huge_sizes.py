# SPDX-License-Identifier: Apache-2.0
"""Results that are too large to exist are refused at once, with NumPy's own exception."""
import shim_runner

SCRIPT = '''
import numpy as np
N = 10**15   # more bytes than an address space has, also where the system promises memory that it does not have

def many(value, dtype=None):
    return np.broadcast_to(np.array(value, dtype), N)

few, square = np.ones(70000), np.ones((300, 300))
wide = np.broadcast_to(1.0, 10**7)
for name, call in {
        "index": lambda: few[many(0)], "int32 index": lambda: few[many(0, "i4")], "uint8 index": lambda: few[many(0, "u1")], "row": lambda: square[many(0)],
        "column": lambda: square[:, many(0)], "pair": lambda: square[many(0), many(0)], "take": lambda: np.take(few, many(0)), "take of bools": lambda: np.take(few > 0, many(0)),
        "clipped take": lambda: np.take(few, many(0), mode="clip"), "columns": lambda: np.take(square, many(0), axis=1), "take_along_axis": lambda: np.take_along_axis(few, many(0), 0),
        "too many bytes": lambda: np.ones((3, 10**6))[many(0)], "too many rows": lambda: np.broadcast_to(1.0, (3, N))[many(0)], "repeat": lambda: few.repeat(10**9), "tile": lambda: np.tile(few, 10**9),
        "add": lambda: many(1.0) + 1, "outer": lambda: np.multiply.outer(wide, wide), "zeros": lambda: np.zeros(N), "full": lambda: np.full(N, 2.0), "arange": lambda: np.arange(N),
        "concatenate": lambda: np.concatenate([many(1.0), many(1.0)]), "copy": lambda: many(1.0).copy(), "where": lambda: np.where(many(True), 1.0, many(2.0)), "cumsum": lambda: many(1.0).cumsum(),
        "matmul": lambda: wide[:, None] @ wide[None], "einsum": lambda: np.einsum("i,j->ij", wide, wide), "sum": lambda: np.broadcast_to(1.0, (2, N)).sum(0), "fft": lambda: np.fft.fft(many(1.0)),
        "overflow": lambda: np.zeros((10**10, 10**10)), "outer overflow": lambda: np.multiply.outer(many(1.0), many(1.0)), "repeat overflow": lambda: few.repeat(10**18)}.items():
    try:
        print(name, call().shape)
    except (MemoryError, ValueError) as error:
        print(name, type(error).__name__, error)
print(few[np.arange(60000)].sum())
'''


class TestHugeSizes(shim_runner.TestCase):
    def test_results_that_cannot_exist(self):
        self.assert_same(SCRIPT, timeout=90)


if __name__ == "__main__":
    shim_runner.main()
