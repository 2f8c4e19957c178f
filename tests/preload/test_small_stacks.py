# SPDX-License-Identifier: Apache-2.0
"""Python threads with stacks of 64 KiB, in which all kinds of calls are made, and results looked at; but
for products of matrices and LAPACK, for which OpenBLAS itself needs more."""
import unittest

import shim_runner

SCRIPT = '''
import threading
import numpy as np
from shim_script import dump
count = %d
values = np.random.default_rng(5).random(count) + 0.5
square = values[:10000].reshape(100, 100) + 10.0 * np.eye(100)
chosen = values > 1.0
places = (np.arange(1000) * 7919) %% count
def in_thread(name, function):
    def body():
        try:
            made[:] = [function()]
        except BaseException as error:
            made[:] = [repr(error)]
    made = []
    thread = threading.Thread(target=body)
    thread.start(); thread.join()
    dump(name, made[0])
threading.stack_size(64 << 10)
a = values
CALLS = {
    "chain": lambda: np.sqrt(a * 2.0 + 1.0) - a / 3.0 + np.minimum(a, 1.0),
    "compare": lambda: (a > 0.7) & (a <= 1.2) | ~chosen,
    "integers": lambda: (a * 1000).astype(np.int32) // 7 %% 5,
    "complex": lambda: (a[:1000] * (1 + 2j)) ** 2,
    "sum": lambda: round(float((a * 1.0).sum()), 3),
    "sums": lambda: [round(float(a.mean()), 9), float(a.max()), int(a.argmin()), float(a.prod() < 1e-300), bool((a > 0).all())],
    "axis": lambda: (a[:100000].reshape(100, 10, 100) * 2.0).sum(axis=1),
    "std": lambda: float(np.round(a.std(), 6)),
    "cumsum": lambda: np.round(np.cumsum(a[:5000]), 6),
    "reduceat": lambda: np.maximum.reduceat(a, [0, 10, 500, 1000]),
    "where": lambda: np.where(chosen, a, -a),
    "mask": lambda: a[chosen] * 2.0,
    "nonzero": lambda: np.nonzero(chosen)[0][:100],
    "take": lambda: a[places] + np.take(a, places),
    "assign": lambda: np.concatenate([a[:100] * 2.0, np.zeros(10)]),
    "dot": lambda: round(float(np.dot(a[:1000], a[:1000])), 6),
    "einsum": lambda: np.round(np.einsum("ij,jk->ik", square, square), 6),
    "sort": lambda: np.sort(a * 1.0)[::100],
    "fft": lambda: np.round(np.abs(np.fft.fft(a[:4096])), 6),
    "histogram": lambda: np.histogram(a, bins=10)[0],
    "outer": lambda: np.add.outer(a[:100], a[:100]),
    "clip": lambda: np.clip(a, 0.6, 0.9).astype(np.float32),
    "draws": lambda: [round(float(getattr(np.random.default_rng(7), draw)(size=count).sum()), 3) for draw in ("random", "normal", "exponential")],
    "warns": lambda: np.isnan(np.log(a[:1000] - 10.0)).sum(),
}
import warnings
warnings.simplefilter("ignore")
for name, function in CALLS.items():
    in_thread(name, function)
'''


class SmallStackTest(shim_runner.TestCase):
    def test_calls(self):
        self.assert_same(SCRIPT % 20000, rtol=1e-9)

    def test_large_arrays(self):
        for env in ({}, {"GPUSHIM_MODE": "auto"}, {"GPUSHIM_MODE": "auto", "GPUSHIM_DEVICE": "cpu", "GPUSHIM_HOST_THREADS": "2"}):
            with self.subTest(env):
                self.assert_same(SCRIPT % 2000000, env=env, device=not env, rtol=1e-9)


if __name__ == "__main__":
    unittest.main()
