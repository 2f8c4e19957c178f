# SPDX-License-Identifier: Apache-2.0
"""Draws of a numpy.random.Generator on the device: NumPy's bits, NumPy's state, and an array that stays there."""
import unittest

import shim_runner

DRAWS = """
import numpy as np
from shim_script import dump, residency, share
DRAWS = {
    "random": lambda g, n: g.random(n), "random f4": lambda g, n: g.random(n, dtype="f4"),
    "uniform": lambda g, n: g.uniform(-1, 2.5, n), "standard_normal": lambda g, n: g.standard_normal(n),
    "standard_normal f4": lambda g, n: g.standard_normal(n, dtype="f4"), "normal": lambda g, n: g.normal(1.5, 2, n),
    "standard_exponential": lambda g, n: g.standard_exponential(n), "exponential": lambda g, n: g.exponential(0.3, n),
    "lognormal": lambda g, n: g.lognormal(0.1, 0.7, n), "integers": lambda g, n: g.integers(0, 1000, n),
    "integers 2^40": lambda g, n: g.integers(-5, 2**40, n), "integers i4": lambda g, n: g.integers(-5, 2**30 + 7, n, dtype="i4"),
    "integers u1": lambda g, n: g.integers(0, 200, n, dtype="u1"), "integers bool": lambda g, n: g.integers(0, 2, n, dtype=bool)}
"""
# Of the generators: emulated kernels are compiled for seconds.
SHARE = ("0", "3") if shim_runner.is_emulated() else ()


class TestRandomDevice(shim_runner.TestCase):
    def test_every_draw(self):
        result = self.assert_same(DRAWS + """
for kind in share(("PCG64", "PCG64DXSM", "Philox")):
    rng = np.random.Generator(getattr(np.random, kind)(3))
    for name, draw in DRAWS.items():
        a = draw(rng, 50021)
        dump(kind + " " + name, a)
        dump(kind + " " + name + " state", str(rng.bit_generator.state))
""", device="random", args=SHARE)
        for name in ("uniform", "standard_normal", "normal", "standard_exponential", "exponential", "lognormal", "integers"):
            self.assert_on_device(result, name)

    def test_mixed_with_the_cpu(self):
        """Calls of random sizes, scalars and short draws between them, a pickle, a spawned generator, and the state set by hand."""
        self.assert_same(DRAWS + """
import pickle
order = np.random.default_rng(11)
for kind in share(("PCG64", "Philox")):
    rng = np.random.Generator(getattr(np.random, kind)(5))
    for step in range(60):
        name = list(DRAWS)[order.integers(len(DRAWS))]
        if step % 4 == 0:
            dump("%s %d scalars" % (kind, step), [rng.random(), int(rng.integers(7)), float(rng.random(dtype="f4"))])
        if step % 15 == 0:
            rng = pickle.loads(pickle.dumps(rng))
        if step % 20 == 0:
            state = rng.bit_generator.state
            rng.standard_normal(30000)
            rng.bit_generator.state = state
        a = DRAWS[name](rng, int(order.integers(1, 70000)))
        dump("%s %d %s" % (kind, step, name), a)
    dump(kind + " state", str(rng.bit_generator.state))
""", device="random", args=SHARE)

    def test_the_array_stays_there(self):
        result = self.assert_same("""
import numpy as np
from shim_script import dump, residency
rng = np.random.default_rng(1)
a = rng.standard_normal((300, 400))
where = residency(a)
b = rng.random(120000) * 2 - 1
total = (a.reshape(-1) * b).max()
dump("where", where in ("device", "plain"))
dump("total", total)
dump("out", a)
""", device="standard_normal")
        self.assertLess(shim_runner.counter(result.report, "upload_bytes"), 100000)

    def test_out(self):
        self.assert_same("""
import numpy as np
from shim_script import attempt
rng = np.random.default_rng(1)
whole, part, wrong = np.zeros(60000), np.zeros((60000, 2)), np.zeros(60000, "f4")
attempt("whole", rng.random, out=whole)
attempt("same", lambda: whole)
attempt("normal", rng.standard_normal, out=whole)
attempt("column", rng.random, out=part[:, 1])
attempt("half", rng.standard_normal, out=whole[:30000])
attempt("again", lambda: whole)
attempt("wrong", rng.random, out=wrong)
attempt("both", rng.random, 60000, out=whole)
attempt("state", lambda: str(rng.bit_generator.state))
""", device="random")


if __name__ == "__main__":
    unittest.main()
