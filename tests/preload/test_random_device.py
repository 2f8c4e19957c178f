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
    "integers u1": lambda g, n: g.integers(0, 200, n, dtype="u1"), "integers bool": lambda g, n: g.integers(0, 2, n, dtype=bool),
    "rayleigh": lambda g, n: g.rayleigh(2.5, n), "standard_cauchy": lambda g, n: g.standard_cauchy(n),
    "triangular": lambda g, n: g.triangular(-1, 0.5, 3, n), "geometric": lambda g, n: g.geometric(0.1, n),
    "geometric 0.4": lambda g, n: g.geometric(0.4, n), "binomial": lambda g, n: g.binomial(10, 0.3, n),
    "poisson": lambda g, n: g.poisson(3.5, n), "poisson 0.1": lambda g, n: g.poisson(0.1, n), "gumbel": lambda g, n: g.gumbel(1.5, 2, n),
    "laplace": lambda g, n: g.laplace(1.5, 2, n), "logistic": lambda g, n: g.logistic(-1.5, 2, n),
    "binomial 0.9": lambda g, n: g.binomial(7, 0.9, n),
    "gamma": lambda g, n: g.gamma(2, 1.5, n), "gamma 1": lambda g, n: g.standard_gamma(1, n), "chisquare": lambda g, n: g.chisquare(3, n),
    "beta": lambda g, n: g.beta(2, 3, n), "f": lambda g, n: g.f(3, 4, n), "standard_t": lambda g, n: g.standard_t(3, n),
    "noncentral_chisquare": lambda g, n: g.noncentral_chisquare(3, 1, n), "noncentral_f": lambda g, n: g.noncentral_f(3, 4, 1, n),
    "wald": lambda g, n: g.wald(3, 2, n), "weibull": lambda g, n: g.weibull(1.7, n), "logseries": lambda g, n: g.logseries(0.6, n), "zipf": lambda g, n: g.zipf(3, n),
    "dirichlet": lambda g, n: g.dirichlet([1, 2.0, 3.5], n), "multinomial": lambda g, n: g.multinomial(30, [0.1, 0.6, 0.3], n),
    "hypergeometric": lambda g, n: g.hypergeometric(10, 20, 5, n), "hypergeometric 3": lambda g, n: g.hypergeometric(17, 15, 3, n),
    "binomial rare": lambda g, n: g.binomial(10**6, 3e-6, n)}
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

    def test_numbers_made_of_others(self):
        """rayleigh, standard_cauchy, triangular, geometric, binomial, poisson: every form of the arguments, and where the numbers are."""
        result = self.assert_same("""
import numpy as np
from shim_script import attempt, dump, residency, share
rng = np.random.default_rng(1)
n = 40000
FORMS = [("rayleigh", ()), ("rayleigh", (0.0,)), ("rayleigh", (-0.0,)), ("rayleigh", (1e308,)), ("rayleigh", (np.float64(2),)),
    ("rayleigh", ([1.0, 2.0],)), ("rayleigh", (np.nan,)), ("rayleigh", (None,)), ("rayleigh", (np.inf,)), ("rayleigh", (-1,)),
    ("gumbel", ()), ("gumbel", (1.5,)), ("gumbel", (0, -1)), ("laplace", ()), ("laplace", (1, 0.0)), ("laplace", (0, -0.0)),
    ("logistic", ()), ("logistic", (1e300, 1e300)), ("logistic", (None, 2)), ("logistic", ([1, 2], 2)),
    ("gamma", (1,)), ("gamma", (1 + 1e-15,)), ("gamma", (0.5,)), ("gamma", (1e6, 1e-3)), ("gamma", (-1,)), ("gamma", (2, -1)), ("gamma", (2, 0)),
    ("standard_gamma", (2.5,)), ("chisquare", (0.5,)), ("chisquare", (2,)), ("beta", (1, 1)), ("beta", (1, 3)), ("beta", (0.5, 3)), ("f", (2, 9)),
    ("standard_t", (1,)), ("standard_t", (40,)), ("noncentral_chisquare", (3, 0)), ("noncentral_chisquare", (7.5, 30)), ("noncentral_f", (5, 2, 0.1)),
    ("wald", (1e-3, 1e3)), ("wald", (1e3, 1e-3)), ("wald", (0, 1)), ("dirichlet", ([1.0, 2.0],)), ("dirichlet", ((1, 1, 1),)), ("dirichlet", ([0.05, 0.01],)),
    ("dirichlet", ([1, -1],)), ("dirichlet", ([],)), ("dirichlet", (2,)), ("dirichlet", (np.array([1.0, 2.0]),)), ("multinomial", (20, [0.2, 0.8])),
    ("multinomial", (40, (0.5, 0.2, 0.3))), ("multinomial", (2, [0.25] * 4)), ("multinomial", (20, [0.5, 0.6, 0.1])), ("multinomial", (20.0, [0.2, 0.8])),
    ("multinomial", (100, [0.2, 0.8])), ("multinomial", (0, [0.2, 0.8])), ("multinomial", (5, [0, 1])), ("multinomial", (5, [0.2, 1.5])),
    ("multinomial", (5, [[0.2, 0.8], [0.5, 0.5]])), ("multinomial", ([1, 2], [0.2, 0.8])),
    ("weibull", (1,)), ("weibull", (0.05,)), ("weibull", (0,)), ("weibull", (-1,)), ("weibull", (30.0,)), ("logseries", (0.01,)), ("logseries", (0.99,)),
    ("logseries", (0.9999,)), ("logseries", (0,)), ("logseries", (1,)), ("zipf", (2.75,)), ("zipf", (50,)), ("zipf", (1.1,)), ("zipf", (1,)),
    ("zipf", (1000,)), ("pareto", (3,)), ("power", (3,)),
    ("hypergeometric", (9, 9, 9)), ("hypergeometric", (10**6, 5 * 10**8, 4)), ("hypergeometric", (3, 20, 5)), ("hypergeometric", (10.0, 20, 5)),
    ("hypergeometric", (10, 20, 0)), ("hypergeometric", (10, 20, 31)), ("hypergeometric", (-1, 20, 5)), ("hypergeometric", (100, 200, 20)),
    ("standard_cauchy", ()), ("triangular", (0, 0, 1)), ("triangular", (0, 1, 1)), ("triangular", (1, 1, 1)),
    ("triangular", (0, 2, 1)), ("triangular", (2, 1, 3)), ("triangular", (-1e308, 0, 1e308)), ("triangular", (0, 1)),
    ("geometric", (1,)), ("geometric", (1.0,)), ("geometric", (1 / 3,)), ("geometric", (np.nextafter(1 / 3, 0),)),
    ("geometric", (1e-9,)), ("geometric", (1e-15,)), ("geometric", (0,)), ("geometric", (1.5,)), ("geometric", ()),
    ("binomial", (1, 0.5)), ("binomial", (40, 0.7)), ("binomial", (40, 0.75)), ("binomial", (41, 0.5)), ("binomial", (10, 0)),
    ("binomial", (10, 1)), ("binomial", (0, 0.5)), ("binomial", (10.0, 0.5)), ("binomial", (10.5, 0.5)), ("binomial", (-1, 0.5)),
    ("binomial", (10, 1.5)), ("binomial", (10, np.nan)), ("binomial", (1 << 40, 1e-12)), ("binomial", (np.int64(12), 0.25)),
    ("binomial", ([1, 2], 0.5)), ("poisson", ()), ("poisson", (0,)), ("poisson", (1e-9,)), ("poisson", (9.99,)), ("poisson", (10,)),
    ("poisson", (-1,)), ("poisson", (np.nan,)), ("poisson", ([1, 2],))]
for name, parameters in share(FORMS):
    for size in (n, (n // 4, 4), n // 40):
        attempt("%s %s %s" % (name, parameters, size), lambda: getattr(rng, name)(*parameters, size=size))
    attempt("%s %s without" % (name, parameters), lambda: getattr(rng, name)(*parameters))
    dump("%s %s state" % (name, parameters), str(rng.bit_generator.state))
class Sub(np.random.Generator):
    pass
attempt("by name", lambda: [getattr(rng, name)(scale=2.5, size=n) for name in ("gumbel", "laplace", "logistic", "rayleigh")])
attempt("subclass", lambda: Sub(np.random.PCG64(1)).binomial(10, 0.3, n))
attempt("MT19937", lambda: np.random.Generator(np.random.MT19937(1)).binomial(10, 0.3, n))
for name, *parameters in (("rayleigh", 2), ("standard_cauchy",), ("gumbel", 1), ("gamma", 2), ("beta", 2, 3), ("f", 3, 4), ("standard_t", 3),
        ("noncentral_f", 3, 4, 1), ("wald", 1, 1), ("weibull", 2), ("logseries", 0.5), ("zipf", 3), ("dirichlet", [1, 2]), ("multinomial", 9, [0.2, 0.8]), ("hypergeometric", 9, 7, 4),
        ("laplace", 1), ("logistic", 1), ("triangular", 0, 1, 2),
        ("geometric", 0.2), ("geometric", 0.5),
        ("binomial", 9, 0.2), ("binomial", 9, 0.7), ("poisson", 2)):
    where = residency(getattr(rng, name)(*parameters, size=n))
    assert where in ("device", "plain"), (name, where)
""", device="random", args=SHARE)
        self.assertEqual(result.returncode, 0, result)

    @unittest.skipIf(shim_runner.is_emulated(), "composed calls do not differ, and many kernels would be compiled")
    def test_arrays_of_parameters(self):
        result = self.assert_same("""
import numpy as np
from shim_script import attempt, dump, on_device, report
rng = np.random.default_rng(1)
n = 40000
x = on_device(np.arange(n) % 97 - 40.0)
table = x.reshape(200, 200)
SHIFTS = {"x": x, "ints": x.astype("l"), "f4": x.astype("f4"), "number": -2.5, "table": table, "column": table[:, :1], "turned": table.T,
    "strided": x[::2], "nan": np.where(x == 0, np.nan, x), "complex": x * 1j, "list": [1.0, 2.0], "0-d": np.array(2.0),
    "empty": x[:0], "bools": x > 0, "None": None}
SCALES = {"positive": x + 41, "zeros": x * 0, "negative": x, "number": 2, "table": table + 41, "nan": np.where(x == 0, np.nan, 1.0),
    "infinite": np.where(x == 0, np.inf, 1.0), "ints": (x + 41).astype("l")}
for text, shift in SHIFTS.items():
    for name, scale in SCALES.items():
        for method in ("normal", "uniform"):
            attempt("%s %s %s" % (method, text, name), lambda: getattr(rng, method)(shift, scale))
    for size in (None, n, (n,), [200, 200], (200, 200), (2, n), n + 1):
        attempt("normal %s %s" % (text, size), lambda: rng.normal(shift, 1.5, size))
        attempt("exponential %s %s" % (text, size), lambda: rng.exponential(abs(shift), size))
    dump("%s state" % text, str(rng.bit_generator.state))
attempt("keywords", lambda: [rng.normal(loc=x), rng.normal(scale=x + 41), rng.uniform(high=x + 41), rng.exponential(scale=x + 41)])
class Sub(np.random.Generator):
    def standard_normal(self, *args):
        return 1
attempt("subclass", lambda: Sub(np.random.PCG64(1)).normal(x, 1.0))
before = report()
rng.normal(x, 1.0), rng.uniform(x, 90), rng.exponential(x + 41)
if before:
    moved = report()["counters"]["download_bytes"] - before["counters"]["download_bytes"]
    assert moved < 20000, moved
""", device="random")
        self.assertEqual(result.returncode, 0, result)

    @unittest.skipIf(shim_runner.is_emulated(), "composed calls do not differ, and many kernels would be compiled")
    def test_choice_with_probabilities(self):
        result = self.assert_same("""
import numpy as np
from shim_script import attempt, dump, on_device, report
n = 30000
weights = np.arange(n) % 97 + 0.5
p, items = on_device(weights / weights.sum()), on_device(np.arange(n) * 1.5)
PLACES = {"p": p, "strided": on_device(np.repeat(p, 2))[::2], "twice": p * 2, "near": p * (1 + 1e-9), "less near": p * (1 + 1.2e-8), "too far": p * (1 + 1e-7),
    "negative": np.where(items == 3, -p, p), "nan": np.where(items == 3, np.nan, p), "short": p[1:], "f4": p.astype("f4"), "list": [0.25, 0.75],
    "table": p.reshape(2, -1), "zeros": p * 0, "None": None}
for g in np.random.default_rng(1), np.random.RandomState(1), np.random.Generator(np.random.MT19937(1)):
    kind = type(getattr(g, "bit_generator", g)).__name__
    for name, place in PLACES.items():
        for i, a in enumerate((n, items, items.astype("i4"), items.reshape(n, 1), list(range(n)), 2, n + 0.5)):
            attempt("%s %s %d" % (kind, name, i), lambda: g.choice(a, n, p=place))
        attempt("%s %s shape" % (kind, name), lambda: g.choice(items, (n // 5, 5), True, place))
        attempt("%s %s some" % (kind, name), lambda: g.choice(n, 20, False, place))
        attempt("%s %s all" % (kind, name), lambda: g.choice(a=items, replace=True, size=n, p=place))
    for size in (), None, (n, -1), 2.5, [n]:
        attempt("%s %s" % (kind, size), lambda: g.choice(n, size, p=p))
    attempt("%s axis" % kind, lambda: g.choice(items, n, True, p, 0))
    attempt("%s state" % kind, lambda: g.random())
before = report()
np.random.default_rng(2).choice(items, n, p=p), np.random.choice(items, n, p=p)
if before:
    moved = report()["counters"]["download_bytes"] - before["counters"]["download_bytes"]
    assert moved < 20000, moved
""", device="random")
        self.assertEqual(result.returncode, 0, result)

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
