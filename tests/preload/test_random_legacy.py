# SPDX-License-Identifier: Apache-2.0
"""Draws of numpy.random.RandomState and of the functions of np.random on the device: NumPy's bits, NumPy's state, and an array that
stays there."""
import unittest

import shim_runner

DRAWS = """
import numpy as np
from shim_script import attempt, dump, residency, share
N = 20011
FORMS = [("random_sample", ()), ("uniform", ()), ("uniform", (-2, 5.5)), ("uniform", (5, 2)), ("standard_normal", ()),
    ("normal", ()), ("normal", (1.5, 2)), ("normal", (1, 0)), ("standard_exponential", ()), ("exponential", (2.5,)),
    ("exponential", (0.0,)), ("gumbel", ()), ("gumbel", (1, 2)), ("laplace", ()), ("laplace", (1, 2)), ("logistic", ()),
    ("logistic", (1, 3)), ("standard_cauchy", ()), ("triangular", (0, 0.3, 1)), ("binomial", (10, 0.3)), ("binomial", (7, 0.9)),
    ("poisson", (3.0,)), ("poisson", (0.1,)), ("tomaxint", ()), ("randint", (0, 1000)), ("randint", (1000,)), ("randint", (1024,)),
    ("randint", (-5, 2**40)), ("randint", (0, 2**32)), ("randint", (0, 2**32 + 1)), ("randint", (-2**62, 2**62 + 5)),
    ("standard_gamma", (2.5,)), ("gamma", (2,)), ("gamma", (1, 3)), ("gamma", (1e6, 0.5)), ("gamma", (1.0001,)), ("chisquare", (3,)),
    ("beta", (2, 3)), ("beta", (1, 3)), ("beta", (3, 1)), ("f", (3, 4)), ("f", (2, 2)), ("f", (2, 5)), ("standard_t", (3,)), ("standard_t", (2,)),
    ("noncentral_chisquare", (3, 1)), ("noncentral_chisquare", (4.5, 30)), ("noncentral_f", (3, 4, 1)), ("noncentral_f", (5, 2, 1)),
    ("wald", (1, 1)), ("wald", (3, 0.1)), ("gamma", (0.5,)), ("beta", (0.5, 0.5)), ("noncentral_chisquare", (1, 1)),
    ("lognormal", ()), ("lognormal", (1, 2)), ("lognormal", (0, 0)), ("lognormal", (300, 200)), ("pareto", (3,)), ("pareto", (0.01,)),
    ("weibull", (2,)), ("weibull", (1,)), ("weibull", (0.05,)), ("weibull", (30,)), ("power", (3,)), ("power", (0.5,)), ("geometric", (0.3,)),
    ("geometric", (0.5,)), ("geometric", (1e-3,)), ("geometric", (1,)), ("hypergeometric", (10, 20, 5)), ("hypergeometric", (20, 10, 10)),
    ("hypergeometric", (10, 10, 1)), ("hypergeometric", (3, 20, 5)), ("logseries", (0.5,)), ("logseries", (0.01,)), ("logseries", (0.99,)),
    ("zipf", (3,)), ("zipf", (2.75,)), ("zipf", (50,)), ("rayleigh", (2,)), ("vonmises", (0, 1)), ("negative_binomial", (5, 0.5)),
    ("dirichlet", ([1.0, 2.0, 3.0],)), ("dirichlet", ((1, 1),)), ("dirichlet", ([1, 1, 2.5, 1],)), ("multinomial", (20, [0.2, 0.8])),
    ("multinomial", (40, (0.5, 0.2, 0.3))), ("multinomial", (1, [0.1, 0.2, 0.3, 0.4])), ("multinomial", (3, [1 / 6] * 6))]
REFUSED = [("normal", (0, -1)), ("normal", (0, np.nan)), ("normal", ([1, 2], 1)), ("normal", (None,)), ("uniform", (0, np.inf)),
    ("exponential", (-1,)), ("exponential", (-0.0,)), ("triangular", (0, 2, 1)), ("triangular", (1, 1, 1)), ("triangular", (0, 1)),
    ("binomial", (10.5, 0.5)), ("binomial", (-1, 0.5)), ("binomial", (10, 1.5)), ("binomial", (1000, 0.4)), ("poisson", (-1,)),
    ("poisson", (50,)), ("poisson", ([1, 2],)), ("gamma", (-1,)), ("gamma", (2, -1)), ("gamma", (2, -0.0)), ("gamma", ()), ("gamma", ([1, 2],)),
    ("standard_gamma", (0,)), ("beta", (0, 1)), ("f", (0, 1)), ("noncentral_f", (3, 4, -1)), ("noncentral_f", (3, 4, np.nan)), ("wald", (0, 1)),
    ("lognormal", (0, -1)), ("lognormal", (0, -0.0)), ("pareto", (0,)), ("weibull", (-1,)), ("weibull", (0,)), ("power", (0,)), ("geometric", (0,)),
    ("geometric", (1e-9,)), ("geometric", (1.5,)), ("hypergeometric", (10.0, 20, 5)), ("hypergeometric", (10, 20, 40)), ("hypergeometric", (10, 20, 0)),
    ("hypergeometric", (10, -1, 5)), ("hypergeometric", (100, 200, 20)), ("logseries", (0,)), ("logseries", (1,)), ("logseries", (0.9999,)),
    ("zipf", (1,)), ("zipf", (1.1,)), ("zipf", (1000,)), ("zipf", (np.nan,)), ("zipf", ()),
    ("dirichlet", ([0.5, 1],)), ("dirichlet", ([1, -1],)), ("dirichlet", ([],)), ("dirichlet", ([2],)), ("dirichlet", (2,)), ("dirichlet", ([1, np.nan],)),
    ("dirichlet", (np.array([1.0, 2.0]),)), ("dirichlet", ([[1, 2], [3, 4]],)), ("multinomial", (20, [0.5, 0.6])), ("multinomial", (20.0, [0.2, 0.8])),
    ("multinomial", (20, [0.5, 0.6, 0.1])), ("multinomial", (100, [0.2, 0.8])), ("multinomial", (0, [0.2, 0.8])), ("multinomial", (-1, [0.2, 0.8])),
    ("multinomial", (5, [0, 1])), ("multinomial", (5, [1.0, 0])), ("multinomial", (5, [0.2, 1.5])), ("multinomial", (5, [0.2, 0.1])), ("multinomial", (5,)),
    ("randint", (5, 5)), ("randint", (5, 2)), ("randint", (7, 8)), ("randint", ("a",)),
    ("randint", (0, 2**64)), ("randint", ([1, 2], 5)), ("randint", ()), ("random_sample", (5, 5))]
# On both sides of the limits between the ways that numpy/random/src takes to a number
BRANCHES = [("standard_gamma", (1,)), ("standard_gamma", (0.3,)), ("standard_gamma", (1 - 1e-16,)), ("gamma", (0,)), ("gamma", (1e-3, 2)),
    ("chisquare", (1,)), ("chisquare", (2,)), ("chisquare", (0.5,)), ("beta", (0.2, 0.9)), ("beta", (0.5, 2)), ("beta", (2, 0.5)), ("beta", (1, 1)),
    ("beta", (1e-4, 1e-4)), ("f", (1, 1)), ("standard_t", (1,)), ("standard_t", (0.5,)), ("noncentral_chisquare", (0.5, 2)),
    ("noncentral_chisquare", (3, 0)), ("noncentral_f", (1, 1, 0)), ("poisson", (0,)), ("poisson", (9.99,)), ("poisson", (10,)), ("poisson", (1e4,)),
    ("binomial", (0, 0.5)), ("binomial", (10, 0)), ("binomial", (10, 1)), ("binomial", (60, 0.49)), ("binomial", (62, 0.5)), ("binomial", (62, 0.51)),
    ("binomial", (10**6, 1e-6)), ("hypergeometric", (30, 40, 9)), ("hypergeometric", (30, 40, 10)), ("hypergeometric", (30, 40, 11)),
    ("hypergeometric", (30, 40, 60)), ("hypergeometric", (0, 40, 5)), ("hypergeometric", (40, 0, 5)), ("zipf", (1.5,)), ("zipf", (2,)), ("zipf", (1000.5,)),
    ("geometric", (1 / 3,)), ("geometric", (0.3333,)), ("geometric", (0.334,)), ("logseries", (0.9,)), ("negative_binomial", (0.3, 0.9)),
    ("negative_binomial", (50, 0.1)), ("vonmises", (0, 1e-9)), ("vonmises", (1, 1e-6)), ("vonmises", (-3, 50)), ("vonmises", (0, 1e7)),
    ("rayleigh", (0,)), ("wald", (1e-3, 1e3)), ("wald", (1e3, 1e-3)), ("triangular", (0, 0, 1)), ("triangular", (0, 1, 1)), ("laplace", (0, 0)),
    ("gumbel", (0, 0)), ("logistic", (0, 0)), ("multinomial", (63, [0.49, 0.51])), ("dirichlet", ([0.1, 0.2],))]
def state_of(rs):
    name, key, at, has_gauss, gauss = rs.get_state()
    return [name, key.tobytes().hex()[:400], at, has_gauss, gauss]
"""


class TestRandomLegacy(shim_runner.TestCase):
    def test_every_draw(self):
        result = self.assert_same(DRAWS + """
rs = np.random.RandomState(5)
for name, parameters in share(FORMS):
    for size in (N, (N // 7, 7), 60):
        dump("%s %s %s" % (name, parameters, size), getattr(rs, name)(*parameters, size=size))
    dump("%s %s state" % (name, parameters), state_of(rs))
a = rs.standard_normal(N)
dump("own memory", [a.base is None, a.flags.owndata, a.flags.writeable])
""", device="random_sample")
        for name in ("random_sample", "uniform", "standard_normal", "normal", "exponential", "gumbel", "laplace", "logistic",
                     "standard_cauchy", "triangular", "binomial", "poisson", "tomaxint", "randint", "standard_gamma", "gamma", "chisquare", "beta", "f",
                     "standard_t", "noncentral_chisquare", "noncentral_f", "wald", "lognormal", "pareto", "weibull", "power", "geometric",
                     "hypergeometric", "logseries", "zipf", "dirichlet", "multinomial"):
            if not shim_runner.is_emulated():
                self.assert_on_device(result, name)

    @unittest.skipIf(shim_runner.is_emulated(), "composed calls do not differ, and many kernels would be compiled")
    def test_every_branch(self):
        self.assert_same(DRAWS + """
rs = np.random.RandomState(15)
for name, parameters in share(BRANCHES):
    for size in (N, 61):
        attempt("%s %s %s" % (name, parameters, size), lambda: getattr(rs, name)(*parameters, size=size))
    dump("%s %s state" % (name, parameters), state_of(rs))
""", device="poisson")

    def test_dtypes_of_integers(self):
        self.assert_same(DRAWS + """
rs = np.random.RandomState(6)
for dtype in share(("b", "B", "h", "H", "i", "I", "l", "L", "q", "?", ">i4", int, np.int32, np.dtype("i2"), "f8", None)):
    for low, high in ((0, 2), (0, 100), (-100, 27), (-128, 128), (0, 256), (0, 65536), (-2**31, 2**31), (0, 2**32), (3, 2**63)):
        attempt("%s %s %s" % (dtype, low, high), lambda: rs.randint(low, high, N, dtype=dtype))
        attempt("%s %s %s by names" % (dtype, low, high), lambda: rs.randint(low=low, size=(N,), dtype=dtype, high=high))
    dump("%s state" % dtype, state_of(rs))
""", device="randint")

    def test_what_numpy_refuses(self):
        self.assert_same(DRAWS + """
rs = np.random.RandomState(7)
for name, parameters in share(REFUSED):
    attempt("%s %s" % (name, parameters), lambda: getattr(rs, name)(*parameters, size=N))
    dump("%s %s state" % (name, parameters), state_of(rs))
for size in (-1, (N, -1), 2.5, (), None, [N], "a"):
    attempt("size %s" % (size,), lambda: rs.standard_normal(size))
    attempt("size %s of integers" % (size,), lambda: rs.randint(0, 9, size))
class Sub(np.random.RandomState):
    pass
attempt("subclass", lambda: Sub(3).standard_normal(N))
attempt("other stream", lambda: np.random.RandomState(np.random.PCG64(1)).standard_normal(N))
""", device="standard_normal")

    def test_mixed_with_the_cpu(self):
        """Calls of random sizes, scalars and short draws between them, the normal number that is kept, pickles and states set by hand."""
        self.assert_same(DRAWS + """
import pickle
order = np.random.default_rng(11)
rs = np.random.RandomState(8)
for step in share(range(90)):
    name, parameters = FORMS[order.integers(len(FORMS))]
    dump("%d %s %s" % (step, name, parameters), getattr(rs, name)(*parameters, size=int(order.integers(16384, 40000))))
    if step % 3 == 0:
        dump("%d scalars" % step, [rs.rand(), rs.randn(), rs.randint(7), rs.random_sample()])
    if step % 15 == 0:
        rs = pickle.loads(pickle.dumps(rs))
    if step % 20 == 0:
        state = rs.get_state()
        rs.standard_normal(30001)
        rs.set_state(state)
    dump("%d state" % step, state_of(rs))
""", device="random_sample")

    def test_global_functions(self):
        self.assert_same(DRAWS + """
np.random.seed(4)
for step in range(3):
    dump("rand %d" % step, np.random.rand(200, 101))
    dump("randn %d" % step, np.random.randn(30001))
    dump("more %d" % step, [np.random.random(N), np.random.uniform(-1, 1, N), np.random.normal(size=N, scale=2), np.random.randint(9, size=N)])
    dump("choice %d" % step, np.random.choice(np.arange(1000.0), N))
    dump("one %d" % step, [np.random.rand(), np.random.randn(), np.random.randint(10)])
dump("state", state_of(np.random.mtrand._rand))
""", device="random_sample")

    def test_the_number_that_is_kept(self):
        """The first number takes the normal number of the call before, or leaves it; it is refused there, or the last one of the call is kept."""
        self.assert_same(DRAWS + """
for name, parameters in share([("gamma", (1.05,)), ("gamma", (1,)), ("beta", (1.1, 1.2)), ("beta", (1, 2.5)), ("f", (2, 4)),
                               ("standard_t", (2.1,)), ("noncentral_f", (3.1, 2.5, 2)), ("wald", (1, 1))]):
    for seed in range(12):
        rs = np.random.RandomState(seed)
        rs.standard_normal(seed % 3)
        dump("%s %s %d" % (name, parameters, seed), getattr(rs, name)(*parameters, size=16384 + seed))
        dump("%s %s %d state" % (name, parameters, seed), state_of(rs) + [rs.standard_normal(), rs.random_sample()])
for kept in (-30.0, 3.0, 0.0):  # a normal number that is far out: the first number is made of the next one
    rs = np.random.RandomState(3)
    rs.set_state(rs.get_state()[:3] + (1, kept))
    dump("kept %s" % kept, rs.gamma(1.5, size=N))
    dump("kept %s state" % kept, state_of(rs))
""", device="gamma")

    def test_at_the_ends_of_blocks(self):
        """The state is behind the last word of a block, its first and its second."""
        self.assert_same(DRAWS + """
for words in (0, 1, 2, 622, 623):
    for count in (16536, 16537, 16848):  # 53 blocks, a number more, 54 blocks
        rs = np.random.RandomState(9)
        rs.bytes(4 * words)
        dump("%d %d" % (words, count), rs.random_sample(count))
        dump("%d %d state" % (words, count), state_of(rs) + [rs.randint(2**31)])
""", device="random_sample")

    def test_the_array_stays_there(self):
        result = self.assert_same("""
import numpy as np
from shim_script import dump, residency
rs = np.random.RandomState(1)
a, b = rs.standard_normal((300, 400)), rs.uniform(-1, 1, 120000)
where = residency(a), residency(b)
dump("where", set(where) <= {"device", "plain"})
dump("out", [a, b])
""", device="standard_normal")
        self.assertLess(shim_runner.counter(result.report, "upload_bytes"), 200000)

    def test_threads(self):
        """Two threads draw from one RandomState: each number once."""
        self.assert_same("""
import numpy as np, threading
from shim_script import dump
rs, drawn = np.random.RandomState(3), []
def draw():
    for _ in range(10):
        drawn.append(rs.random_sample(20000))
threads = [threading.Thread(target=draw) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
first = {float(a[0]): a for a in drawn}
plain = np.random.RandomState(3)
again = [plain.random_sample(10000) for _ in range(40)]
again = [np.concatenate(again[i:i + 2]) for i in range(0, 40, 2)]
dump("same", [bool((first[float(a[0])] == a).all()) for a in again])
""", device="random_sample")


if __name__ == "__main__":
    unittest.main()
