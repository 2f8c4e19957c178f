# SPDX-License-Identifier: Apache-2.0
"""numpy.vectorize of functions that are computed on arrays, and of those that are not: results, exceptions and the number of calls
are plain NumPy's. NumPy 1.25 and later."""
import unittest

import numpy
import shim_runner

PRELUDE = '''
import builtins, functools, math
import numpy as np
from shim_script import attempt, dump, moved_by, on_device
N = 30000
x, y = on_device(np.linspace(-3.0, 5.0, N)), on_device(np.linspace(7.0, 0.5, N))
SCALE, OFFSET = 2.5, 3

def check(name, function, *operands, **options):
    attempt(name, lambda: np.vectorize(function, **options)(*operands))

def stays(name, function, *operands, **options):
    """Also whether the operands stay on the device."""
    values = []
    moved = moved_by(lambda: values.append(np.vectorize(function, **options)(*operands)))
    dump(name, values[0])
    dump("stays " + name, moved["download_bytes"] < 4096)
'''
TRACED = '''
def with_locals(a, b):
    c = a * b
    d, e = c - 1, c + 1
    c = d
    c += e * SCALE
    return -c
def early(a, b):
    if a > b:
        return a - b
    return a + b
def nested(a, b):
    if a < 0:
        if b > 6.5:
            r = -a
        else:
            r = a * a
    elif a <= 1.0:
        r = b / (a + 10)
    else:
        r = a - b
    return r * 2
def guarded(a):
    return 1 / a if a != 0 else 0.0
def rooted(a):
    return math.sqrt(a) if a >= 0 else -math.sqrt(-a)
def chained(a):
    return a if 0 < a <= 2.5 < 3 * a else 1.5
def both(a, b):
    return a - b if a > 0 and b < 5 or a < -2 else 1.0 if not a < -1 else b
def mixed(a):
    return a if a > 2 else 0
def closed(factor, power):
    return lambda a: factor * a ** power
stays("line", lambda a: a * 2 + 1, x)
stays("two", lambda a, b: (a - b) * (a + b), x, y)
stays("number", lambda a, b: a * b - 1, x, 4.0)
stays("int", lambda a, b: a * b - 1, x, 4)
stays("rows", lambda a, b: a + b, x.reshape(100, 300), y[:300])
stays("outer", lambda a, b: a * b, x[:200, None], y[:300])
stays("locals", with_locals, x, y)
stays("early", early, x, y)
stays("nested", nested, x, y)
stays("guarded", guarded, on_device(np.arange(-100.0, N)))
stays("rooted", rooted, x)
stays("chained", chained, x)
stays("both", both, x, y)
stays("mixed", mixed, x, otypes="d")
stays("closed", closed(3, 2), y)
stays("globals", lambda a: a * SCALE + OFFSET, x)
stays("constants", lambda a: a * math.pi / 2 - np.e, x)
stays("otypes", lambda a: a * 2, x, otypes=[float])
stays("cache", lambda a: a * 2, x, cache=True)
stays("min", lambda a, b: min(a, b) - max(a, 1.5 * b, b), x, y)
FACTOR = np.float64(1.75)
stays("float64", lambda a, b: a * FACTOR - b, x, np.float64(2.5))
stays("payoff", lambda a: max(0.0, min(a - 1, 2.5)), x)
stays("absolute", lambda a: abs(a) + math.fabs(a), x)
stays("functions", lambda a: math.exp(-a) * math.sin(a) + np.cos(a) ** 2 + math.log1p(math.atan2(a, 3)), y)
stays("numpy", lambda a, b: np.maximum(a, b) - np.hypot(a, b), x, y)
'''
# Of each, the function is called as often as by plain NumPy.
CALLED = '''
calls = []
def counted(function):
    def called(a):
        calls.append(1)
        return function(a)
    return called
def loop(a):
    for _ in range(2):
        a = a + 1
    return a
def flags(a):
    return 1 if a > 2 else 0
def mixed(a):
    return a if a > 2 else 0
with_zero = on_device(np.linspace(-1.0, 1.0, N) * (np.arange(N) != 17))
check("counted", counted(lambda a: a + 1), x)
dump("calls", len(calls))
check("special", lambda a, b: a * b - a, on_device(np.where(np.arange(N) % 3 == 0, np.inf, x)), on_device(np.where(np.arange(N) % 5 == 0, np.nan, -0.0)))
check("not a number", lambda a: a if a > 2 else -a, on_device(np.where(np.arange(N) % 5 == 0, np.nan, x)))
check("beyond", lambda a: a * 1e308, x)
check("zero divided", lambda a: 1 / a, with_zero)
check("zero to", lambda a: a ** -1, with_zero)
check("zero guarded wrongly", lambda a: 1 / a if a != 0.5 else 1.0, with_zero)
check("logarithm", lambda a: math.log(a), with_zero)
check("root", lambda a: math.sqrt(a), x)
check("overflow", lambda a: math.exp(a * 1000), x)
check("complex", lambda a: a ** 0.5, x)
for function in loop, flags, mixed, abs, math.floor, np.sin, str:
    check(str(getattr(function, "__name__", function)), function, x)
check("int of max", lambda a: max(a, 0), x)
check("bound", functools.partial(early_default := (lambda a, b=1.0: a + b)), x)
check("default", early_default, x)
check("default given", early_default, x, y)
attempt("keywords", lambda: np.vectorize(lambda a: a + 1)(a=x))
attempt("excluded", lambda: np.vectorize(lambda a, b: a + b, excluded=[1])(x, 2.0))
attempt("signature", lambda: np.vectorize(lambda a: a + 1, signature="(n)->(n)")(x))
attempt("too many", lambda: np.vectorize(lambda a: a + 1)(x, y))
check("single", lambda a: a * 2 + 1, on_device(np.arange(N, dtype="f")))
check("integers", lambda a: a * 2 + 1, on_device(np.arange(N)))
check("integral", lambda a: a * 2, x, otypes=[int])
check("pair", lambda a: (a, a + 1), x)
check("same", lambda a: a, x)
check("constant", lambda a: 3.5, x)
check("unused", lambda a, b: a + 1, x[:100, None], y[:300])
class Own(np.vectorize):
    def __call__(self, *args):
        return "own"
attempt("subclass", lambda: Own(lambda a: a + 1)(x))
class Inherits(np.vectorize):
    pass
attempt("inherits", lambda: Inherits(lambda a: a + 1)(x))
def without_builtins():
    names = {"__builtins__": {"abs": lambda a: a * 100}}
    exec("def function(a): return abs(a)", names)
    return names["function"]
check("other builtins", without_builtins(), x)
import sys
seen = []
sys.setprofile(lambda frame, event, what: seen.append(1) if frame.f_code.co_name == "<lambda>" and event == "call" else None)
result = np.vectorize(lambda a: a + 1)(x)
sys.setprofile(None)
dump("profiled", [len(seen), result])
with np.errstate(under="raise"):
    check("underflow", lambda a: a * 1e-308, x)
SCALE = "text"
check("text", lambda a: a * SCALE, x)
check("missing", lambda a: a * missing, x)
np.vectorize.__call__ = lambda self, *args: "replaced"
attempt("replaced", lambda: np.vectorize(lambda a: a + 1)(x))
'''

RANDOM = '''
import vectorize_programs
x = on_device(np.linspace(-2.5, 3.5, 400) * (np.arange(400) != 7))
y = on_device(np.linspace(4.0, 0.25, 400))
for seed in range(400):
    names = {"math": math, "np": np, "K": 2.25}
    exec(vectorize_programs.program(seed), names)
    check("program %d" % seed, names["function"], x, y)
'''


@unittest.skipIf(tuple(map(int, numpy.__version__.split(".")[:2])) < (1, 25), "NumPy before 1.25 has no dispatchers")
class TestVectorize(shim_runner.TestCase):
    def test_traced(self):
        result = self.assert_same(PRELUDE + TRACED, rtol=1e-13, atol=1e-13)
        for name in "multiply", "where", "less", "exp", "hypot", "power", "divide":
            self.assert_on_device(result, name)

    def test_random_functions(self):
        """Their exceptions and warnings, too."""
        result = self.assert_same(PRELUDE + RANDOM, rtol=1e-9, atol=1e-12)
        self.assert_on_device(result, "where")

    def test_called(self):
        self.assert_same(PRELUDE + CALLED, rtol=1e-13, atol=1e-13)


if __name__ == "__main__":
    shim_runner.main()
