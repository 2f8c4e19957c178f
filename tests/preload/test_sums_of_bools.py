# SPDX-License-Identifier: Apache-2.0
"""Sums and means of bools that the CPU computes: as NumPy's to the bit and the type, and counted where the array is whole."""
from parallel_case import BESIDE, CORES
import shim_runner

SUMS = """
import sys
import numpy as np
core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
count_nonzero, counted = core.count_nonzero, []

def counting(array):
    counted.append(array.shape)
    return count_nonzero(array)

core.count_nonzero = counting
rng = np.random.default_rng(3)
for shape in ((20000,), (100, 200), (20, 30, 50), (1000,)):
    for share in (0.3, 0.0, 1.0):
        a = rng.random(shape) < share
        odd = (a * np.uint8(200)).view(bool)
        for name, b in {"C": a, "F": np.asfortranarray(a), "odd": odd, "part": a[1:], "steps": a[..., ::2], "back": a[::-1], "none": a[:0]}.items():
            for call in (np.sum, np.mean, np.add.reduce, lambda x: x.sum(), lambda x: x.sum(dtype="i4"), lambda x: x.sum(dtype="f4"), lambda x: x.mean(dtype="f4"),
                         lambda x: x.sum(axis=0), lambda x: x.sum(keepdims=True), lambda x: x.sum(initial=3), lambda x: x.sum(where=x), lambda x: np.sum(x, axis=tuple(range(x.ndim))),
                         lambda x: np.sum(x, out=np.zeros((), "l")), lambda x: x.prod(), lambda x: x.any(), lambda x: x.view(np.uint8).sum(), lambda x: np.var(x), lambda x: np.ma.array(x).sum()):
                with np.errstate(all="ignore"):
                    made = call(b) if b.size else b.sum()
                print(name, shape, share, type(made).__name__, getattr(made, "dtype", None), np.asarray(made).tobytes().hex()[:64])
print(len(counted) >= LEAST, file=sys.stderr)
"""


class TestSumsOfBools(shim_runner.TestCase):
    def compare(self, env, least):
        plain = shim_runner.run_plain(SUMS.replace("LEAST", "0"))
        result = shim_runner.run(SUMS.replace("LEAST", str(least)), env=env)
        self.assertEqual((plain.returncode, result.returncode), (0, 0), result)
        self.assertEqual(result.stdout, plain.stdout)
        self.assertEqual(result.stderr, "True\n")

    def test_without_a_device(self):
        self.compare(CORES, 40)

    def test_beside_a_device(self):
        self.compare(BESIDE, 40)
