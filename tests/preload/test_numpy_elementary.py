# SPDX-License-Identifier: Apache-2.0
"""sqrt, exp and logarithms of doubles of every kind, alone and in groups of calls: within their bounds, the same bits
in both."""
import unittest

import shim_runner

PRELUDE = """
import numpy as np
from shim_script import dump
np.seterr(all="ignore")
rng = np.random.default_rng(5)
ordinary = [rng.integers(0, 1 << 64, 4000, np.uint64).view("f8"), rng.uniform(-750, 750, 4000), rng.uniform(-1, 2, 4000),
            1 + rng.normal(0, 1, 2000) * 2.0 ** rng.integers(-60, 0, 2000), rng.uniform(705, 760, 1000) * rng.choice([-1, 1], 1000)]
special = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-310, 1e-300, 1.7976931348623157e308,
           709.782712893384, 710.0, -745.1332191019412, -746.0, -1.0, -0.9999999999999999, 1.0, 2.0**1022, 2.0**-970, 1e-17, -1e-17]
FUNCTIONS = [np.sqrt, np.exp, np.log, np.log1p, np.log2, np.log10]
"""


class TestElementary(shim_runner.TestCase):
    BOUNDS = {r"^(exp|log|log1p|log2|log10)\b": 5}

    def test_alone_and_together(self):
        """Special values among ordinary ones, and ordinary ones alone: a group has a fast path for these."""
        self.assert_same(PRELUDE + """
for kind, x in (("mixed", np.concatenate(ordinary + [special])), ("ordinary", ordinary[2] + 1.5), ("odd", np.array(special * 50))):
    for f in FUNCTIONS:
        alone = f(x)
        dump(f"{f.__name__} {kind}", alone)
        together = -f(x)
        dump(f"{f.__name__} {kind} negated", together)
        numbers = ~np.isnan(alone)
        dump(f"bits of {f.__name__} {kind}", (-alone)[numbers].tobytes() == together[numbers].tobytes())
""", ulp=self.BOUNDS)

    def test_powers_of_the_base(self):
        """Programs count digits by them."""
        self.assert_same("""
import numpy as np
from shim_script import dump
dump("log2", np.log2(np.array([2.0 ** k for k in range(-1074, 1024)])))
dump("log2 of float32", np.log2(np.array([2.0 ** k for k in range(-126, 128)], "f4")))
dump("log10", np.log10(np.array([10.0 ** k for k in range(-300, 300)])))
""")

    def test_passing_on(self):
        """An infinity or a NaN met on the way must be found although only a later result is looked at."""
        self.assert_same(PRELUDE + """
x = np.concatenate([ordinary[2], special])
y = x[::-1].copy()
dump("chain", np.sqrt(np.sqrt(np.abs(x)) * np.sqrt(np.abs(y)) + np.maximum(x, y)))
dump("chosen", np.where(x > 0, np.sqrt(x) + y, np.sqrt(y) - x))
dump("hidden", np.maximum(np.sqrt(x) * y, 3.0) / np.sqrt(y))
""")

    def test_warnings(self):
        self.assert_same("""
import warnings
import numpy as np
from shim_script import dump
x = np.linspace(1, 2, 5000)
x[1234], x[4321] = 0, -1
for f in (np.sqrt, np.log, np.log1p):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dump(f.__name__ + " sum", np.isnan((f(x) * 2.0 + 1.0).tolist()).sum())
        dump(f.__name__ + " warnings", sorted({str(w.message) for w in caught}))
""")


if __name__ == "__main__":
    unittest.main()
