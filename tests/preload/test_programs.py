# SPDX-License-Identifier: Apache-2.0
"""Whole programs (bench/numpy_programs.py), in small: everything that the device can do is done there, call after call,
and the answers are plain NumPy's. None of them follows a path that a last bit decides."""
import os

import shim_runner

SIZES = {"heat": (100, 30), "nbody": (40, 5), "asian_option": (2000, 10), "k_means": (500, 4, 3), "logistic_regression": (400, 6, 10),
         "mandelbrot": (60, 12), "page_rank": (120,), "edges": (50, 2), "poisson": (64, 4), "network": (64, 32, 4), "life": (40, 6),
         "correlations": (300, 8), "statistics": (5000,), "orbit": (50,), "row_by_row": (30, 200)}
SCRIPT = '''
import sys
sys.path.insert(0, %r)
import numpy as np
import numpy_programs
from shim_script import dump
for name, sizes in %r.items():
    dump(name, np.asarray(getattr(numpy_programs, name)(np, *sizes)))
'''


class TestPrograms(shim_runner.TestCase):
    def check(self, device=True, **env):
        script = SCRIPT % (os.path.join(shim_runner.ROOT, "bench"), SIZES)
        return self.assert_same(script, env=env, device=device, rtol={"network": 1e-4, "": 1e-9}, atol={"network": 1e-5, "": 1e-12})

    def test_answers(self):
        result = self.check()
        for name in ("add", "multiply", "exp", "matmul", "where", "sum", "maximum"):
            self.assertGreater(shim_runner.device_calls(result.report, name), 0, name)

    def test_answers_without_groups(self):
        self.check(GPUSHIM_FUSION="0")

    def test_answers_where_calls_are_weighed(self):
        self.check(device=False, GPUSHIM_MODE="auto")


if __name__ == "__main__":
    shim_runner.main()
