# SPDX-License-Identifier: Apache-2.0
"""Ufunc calls: promotion, out= and casting, keywords, layouts, operands NumPy itself must judge.

Each script records results (or exceptions, with their text) case by case; plain NumPy is the judge.
"""
import unittest

import shim_runner

TRANSCENDENTAL = {r"^(exp|log|sin|cos|tanh)\b": 5}
PRODUCTS = {r"matmul|vecdot|@|form 49": 1e-6}  # a sum in another order


def sum_bound(count, eps):
    """32 units in the last place of the sum of the magnitudes of numbers as array() makes them."""
    return 32 * eps * count * 50 / 7


RUNNING_SUMS = shim_runner.off_host({
    "^accumulate f4": sum_bound(5000, 2.0**-23), "^accumulate add into out.* f4": sum_bound(100, 2.0**-23),
    "^accumulate f8": sum_bound(5000, 2.0**-52), "^accumulate add into out.* f8": sum_bound(100, 2.0**-52)})

PRELUDE = """
import warnings
import numpy as np
from shim_script import dump, record
warnings.simplefilter("ignore")
DTYPES = ["?", "i4", "i8", "f4", "f8"]
UNARY = [np.negative, np.absolute, np.sqrt, np.exp, np.log, np.sin, np.cos, np.tanh]
BINARY = [np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.equal,
          np.not_equal, np.less,
          np.less_equal, np.greater, np.greater_equal]


def array(dtype, n=37, seed=0):
    values = np.random.RandomState(seed).randint(-50, 50, n)
    if dtype == "?":
        return np.array(values > 0)
    return np.array(values / 7 if dtype[0] == "f" else values, dtype)
"""


class TestPromotion(shim_runner.TestCase):
    def test_arrays(self):
        self.assert_same(PRELUDE + """
for f in UNARY:
    for d in DTYPES:
        record("%s %s" % (f.__name__, d), f, np.abs(array(d)) if d != "?" else array(d))
for f in BINARY:
    for d in DTYPES:
        for e in DTYPES:
            record("%s %s %s" % (f.__name__, d, e), f, array(d), array(e, seed=1))
""", ulp=TRANSCENDENTAL)

    def test_special_values(self):
        self.assert_same(PRELUDE + """
special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.7e308, 1e-40, 3e38,
           2.0**31, -2.0**63]
for d in ["f4", "f8"]:
    a = np.array(special, d)
    for f in UNARY:
        with np.errstate(all="ignore"):
            record("%s %s" % (f.__name__, d), f, a)
    for f in BINARY:
        with np.errstate(all="ignore"):
            record("%s %s" % (f.__name__, d), f, a[:, None], a)
for d in ["i4", "i8"]:
    limits = np.iinfo(d)
    a = np.array([limits.min, limits.min + 1, -1, 0, 1, limits.max - 1, limits.max], d)
    for f in [np.negative, np.absolute]:
        record("%s %s" % (f.__name__, d), f, a)
    for f in BINARY:
        record("%s %s" % (f.__name__, d), f, a[:, None], a)
""", ulp=TRANSCENDENTAL)

    def test_scalars(self):
        self.assert_same(PRELUDE + """
zero_d = [np.array(3.5), np.array(2, "i4"), np.array(True), np.array(1.5, "f4"), np.array(7)]
scalars = [True, False, 0, 3, -1, 127, 128, 300, -129, 40000, 2**31 - 1, 2**31, -2**31,
           -2**31 - 1, 2**40, 2**53 + 1,
           2**63 - 1, 2**63, 2**64, -2**63, -2**63 - 1, 10**30, 0.0, -0.0, 1.5, 0.1, 1e-3, 1e38,
           1e39, 1e300, np.inf,
           np.nan, 1j, np.bool_(True), np.int32(5), np.int64(5), np.int64(2**40), np.float32(0.1),
           np.float64(0.1),
           np.float64(1e300), np.int8(5), np.uint8(200), np.float16(1.5), np.longlong(4),
           np.longdouble(0.1),
           np.complex64(2)] + zero_d
for f in [np.add, np.multiply, np.divide, np.maximum, np.less, np.equal]:
    for d in DTYPES:
        a = array(d)
        for i, s in enumerate(scalars):
            with np.errstate(all="ignore"):
                record("%s %s %d" % (f.__name__, d, i), f, a, s)
                record("%s %d %s" % (f.__name__, i, d), f, s, a)
""")

    def test_operators(self):
        self.assert_same(PRELUDE + """
for d in DTYPES:
    a, b = array(d), array(d, seed=1)
    for e in ["a + b", "a * b", "a - b", "a / b", "-a", "abs(a)", "a < b", "a == b", "a != b",
              "a ** 2", "a // 3", "a % 3",
              "2 * a + 1", "1 / (a + 0.5)", "a @ b", "a & b", "~a", "a + 1 > b", "a == None",
              "a < 'x'", "a == 'x'",
              "a + [1] * 37", "a * range(37)", "+a", "divmod(a, 3)", "a << 1",
              "(a + a + a + a) * (a - a / 2)"]:
        record("%s: %s" % (d, e), lambda: eval(e))
    for statement in ["c += b", "c *= 2", "c -= 1.5", "c /= 2", "c += True", "c *= b[0]",
                      "c[::2] += 1", "c[3:] += c[:-3]",
                      "c[:-3] += c[3:]", "c += c[::-1]", "c[5] += 1", "c **= 2", "c[b > 0] += 1"]:
        def run():
            c = a.copy()
            exec(statement, {"c": c, "b": b})
            return c
        record("%s; %s" % (d, statement), run)
big = np.arange(100000.0)
record("elision", lambda: big * 2 + big * 3 - (big + 1) / (big + 2) * big)
""", rtol=PRODUCTS)


class TestOutput(shim_runner.TestCase):
    def test_out(self):
        self.assert_same(PRELUDE + """
for d in DTYPES:
    for e in DTYPES:
        for casting in [None, "same_kind", "unsafe", "safe", "no", "equiv", "wrong"]:
            keywords = {} if casting is None else {"casting": casting}
            for f in [np.add, np.divide, np.less]:
                out = np.full(37, 1).astype(e) + np.zeros(37, e)
                r = record("%s %s %s %s" % (f.__name__, d, e, casting), f, array(d), array(d,
                seed=1), out=out, **keywords)
                print(f.__name__, d, e, casting, r is out)
                dump("%s %s %s %s out" % (f.__name__, d, e, casting), out)
""")

    def test_forms(self):
        self.assert_same(PRELUDE + """
a, b = array("f8"), array("f8", seed=1)
fresh = lambda: np.zeros(37) + 0
for i, call in enumerate([
        lambda o: np.add(a, b, o), lambda o: np.add(a, b, out=o), lambda o: np.add(a, b, out=(o,)),
        lambda o: np.add(a, b, None), lambda o: np.add(a, b, out=None), lambda o: np.add(a, b,
        out=(None,)),
        lambda o: np.add(a, b, o, out=o), lambda o: np.add(a, b, out=(o, o)), lambda o: np.add(a,
        b, out=()),
        lambda o: np.add(a, b, out=[o]), lambda o: np.add(a, b, out=o, subok=False),
        lambda o: np.add(a, b, out=o, subok=True),
        lambda o: np.add(a, b, out=o, dtype=None), lambda o: np.add(a, b, out=o, dtype="f8"),
        lambda o: np.add(a, b, out=o, dtype="f4"), lambda o: np.add(a, b, out=o, where=True),
        lambda o: np.add(a, b, out=o, where=a > 0), lambda o: np.add(a, b, out=o, where=False),
        lambda o: np.add(a, b, out=o, order="F"), lambda o: np.add(a, b, order="K"),
        lambda o: np.add(a, b, order="x"),
        lambda o: np.add(a, b, out=o, signature="dd->d"), lambda o: np.add(a, b, sig="ff->f"),
        lambda o: np.add(a, b, out=o, extra=1), lambda o: np.add(a), lambda o: np.add(),
        lambda o: np.add(a, b, o, o),
        lambda o: np.add(x1=a, x2=b), lambda o: np.sqrt(a, b, o), lambda o: np.add(2.0, 3.0, out=o),
        lambda o: np.multiply(a[:1], 2, out=o), lambda o: np.add(a, b, out=o[:5]),
        lambda o: np.add(a, b, out=o[None]),
        lambda o: np.add(a, b, out=np.zeros((3, 37)) + 0), lambda o: np.add(a[:, None], b, out=o),
        lambda o: np.add(a, b, out=np.zeros(1) + 0), lambda o: np.add(a, 1, out=np.zeros(()) + 0),
        lambda o: np.add(1, 1, out=np.array(0.0)), lambda o: np.true_divide(o, 4, out=o,
        casting="unsafe", subok=False),
        lambda o: np.add(o, o, out=o), lambda o: np.add(o[1:], o[:-1], out=o[1:]),
        lambda o: np.add(o[1:], o[:-1], out=o[:-1]),
        lambda o: np.negative(o[::-1], out=o), lambda o: np.add(o.reshape(1, 37), o.reshape(37,
        1)[:1], out=o.reshape(1, 37)),
        lambda o: np.less(a, b, out=o.view("?")[:37]), lambda o: np.add(a, b, out=o[::-1]),
        lambda o: np.add(a, b, out=np.broadcast_to(o, (37,))), lambda o: np.add(a, b, out="x"),
        lambda o: np.add(a, b, out=np.lib.stride_tricks.as_strided(o, (37,), (0,))),
        lambda o: np.matmul(a, b), lambda o: np.vecdot(a, b) if hasattr(np, "vecdot") else 0,
        lambda o: np.modf(a)]):
    o = fresh() + np.arange(37)
    r = record("form %d" % i, call, o)
    print(i, r is o)
    dump("form %d out" % i, o)
o = fresh()
o.flags.writeable = False
record("read-only", np.add, a, b, o)
for f in [np.add, np.negative]:
    o = np.zeros(38 * 8, "u1")[1:1 + 37 * 8].view("f8")
    record("unaligned %s" % f.__name__, f, *[a] * f.nin, out=o)
    dump("unaligned result %s" % f.__name__, o.copy())
""", rtol=PRODUCTS)


class TestOperands(shim_runner.TestCase):
    def test_layouts(self):
        self.assert_same(PRELUDE + """
n = np.arange(24 * 5, dtype="f8")
views = {"c": n.reshape(2, 3, 4, 5), "f": n.reshape(2, 3, 4, 5).T, "reverse": n[::-1].reshape(2,
3, 4, 5),
         "negative": n.reshape(2, 3, 4, 5)[:, ::-1, ::-1], "slice": n.reshape(2, 3, 4, 5)[:, 1:,
         ::2, 1:4],
         "broadcast": np.broadcast_to(n[:5], (4, 5)), "swap": n.reshape(2, 3, 4, 5).swapaxes(1, 2),
         "diagonal": n.reshape(12, 10).diagonal(), "unit": n.reshape(1, 120, 1), "empty": n[:0],
         "empty 2-d": n[:0].reshape(0, 4),
         "0-d": n[5:6].reshape(()), "many": n[:16].reshape((2,) * 4 + (1,) * 10),
         "17-d": n[:2].reshape((2,) + (1,) * 16),
         "overlapping": np.lib.stride_tricks.as_strided(n, (10, 10), (8, 8)), "step": n[1::3]}
for name, v in views.items():
    for f in [np.negative, np.sqrt]:
        record("%s %s" % (f.__name__, name), f, v)
    record("add %s" % name, np.add, v, v)
    record("multiply scalar %s" % name, np.multiply, v, 2)
    record("row %s" % name, lambda: v + v[..., :1])
    record("inplace %s" % name, lambda: v.__iadd__(1))
for a, b in [("c", "f"), ("c", "step"), ("empty", "c"), ("17-d", "17-d"), ("f", "0-d")]:
    record("pair %s %s" % (a, b), np.add, views[a], views[b])
""")

    def test_lists_of_numbers(self):
        """NumPy makes an array of a list; beside an array on the device that is one launch, and nothing is moved but the list."""
        script = PRELUDE + """
LISTS = {"ints": [1, 2, 3], "floats": (1.5, -2.0, 0.5), "bools": [True, False, True], "complex": [1j, 2.0, 3], "mixed": [1, 2.5, True],
         "table": [[1, 2, 3]], "column": [[1.0], [2.0]] * 500, "large": [2**63, 1, 2], "objects": [2**70, 1, 2], "none": [None, 1, 2],
         "text": ["a", "b", "c"], "empty": [], "ragged": [[1, 2, 3], [1]], "wrong": [1, 2]}
for dtype in DTYPES:
    x = array(dtype, 3000).reshape(1000, 3)
    for name, numbers in LISTS.items():
        for ufunc in (np.add, np.greater, np.maximum):
            record("%s %s %s" % (dtype, name, ufunc.__name__), lambda: ufunc(x, numbers))
            record("%s %s %s 2" % (dtype, name, ufunc.__name__), lambda: ufunc(numbers, x))
x = array("f8", 3000).reshape(1000, 3)
x += [1, 2, 3]
dump("in place", x)
dump("clip", np.clip(x, [-1, -2, -3], [1, 2, 3]))
dump("product", x @ [1.0, 2.0, 4.0])
"""
        self.assert_same(script)
        program = "import numpy as np\nx = np.ones((100000, 3))\ny = x * %s\nprint(y.sum())\n"
        of_list, of_array = (shim_runner.run(program % factor).report for factor in ("[1.0, 2.0, 3.0]", "np.array([1.0, 2.0, 3.0])"))
        self.assertEqual(shim_runner.counter(of_list, "launches"), shim_runner.counter(of_array, "launches"))
        self.assertLess(shim_runner.counter(of_list, "upload_bytes"), shim_runner.counter(of_array, "upload_bytes") + 1000)

    def test_lists_of_arrays(self):
        """NumPy stacks them; what is on the device is stacked there."""
        script = PRELUDE + """
class Own(np.ndarray):
    pass


for dtype in DTYPES:
    x, y = array(dtype, 3000), array(dtype, 3000)[::-1]
    lists = {"pair": [x, y], "tuple": (x, y, x), "nested": [[x, y], [y, x]], "numbers": [x, [1] * 3000], "mixed": [x, y.astype(np.float32)],
             "scalars": [x[0], x[1]], "ragged": [x, y[:5]], "objects": [x, y.astype(object)], "own": [x, y.view(Own)]}
    for name, arrays in lists.items():
        record("%s %s add" % (dtype, name), lambda: np.add(arrays, 1))
        record("%s %s less" % (dtype, name), lambda: np.less(arrays, x[0]))
        record("%s %s beside" % (dtype, name), lambda: np.maximum(x, arrays))
x = array("f8", 3000)
record("operator", lambda: x * [x, x + 1])
record("where", lambda: np.sqrt([x, -x], where=[x > 0, x < 0], out=np.ones((2, 3000))))
"""
        self.assert_same(script)
        program = "import numpy as np\nx = np.ones(100000)\nx = x * 2\ny = np.multiply(%s, 2.0)\nprint(y.shape, y.sum())\n"
        of_list, of_array = (shim_runner.run(program % operand).report for operand in ("[x, x]", "np.stack([x, x])"))
        for name in ("faults_read", "download_bytes"):
            self.assertEqual(shim_runner.counter(of_list, name), shim_runner.counter(of_array, name))

    def test_unmanaged(self):
        self.assert_same(PRELUDE + """
import array as array_module
import ctypes
import decimal
import mmap


class Plain(np.ndarray):
    pass


class Finalised(np.ndarray):
    def __array_finalize__(self, other):
        self.tag = getattr(other, "tag", "new")

    def __array_wrap__(self, out, context=None, return_scalar=False):
        return ("wrapped", context[0].__name__ if context else None, np.asarray(out))


class Override(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ("override", ufunc.__name__, method, len(inputs), sorted(kwargs))


class Refuses:
    __array_ufunc__ = None

    def __radd__(self, other):
        return "refused"


class Priority:
    __array_priority__ = 100

    def __array__(self, dtype=None, copy=None):
        return np.ones(37)

    def __radd__(self, other):
        return "priority"


a = array("f8")
for name, b in {
        "subclass": a.view(Plain), "finalised": a.view(Finalised), "override": a.view(Override),
        "refuses": Refuses(),
        "priority": Priority(), "matrix": np.asmatrix(a), "masked": np.ma.array(a, mask=a > 1),
        "list": list(range(37)),
        "tuple": (1.5,) * 37, "range": range(37), "array module": array_module.array("d",
        range(37)), "memoryview":
        memoryview(a), "ctypes": (ctypes.c_double * 37)(*range(37)), "none": None,
        "string": "abc", "object": a.astype(object),
        "complex": a + 1j, "half": a.astype("f2"), "longdouble": a.astype("g"),
        "i1": array("i4").astype("i1"), "u8":
        np.abs(array("i8")).astype("u8"), "longlong": array("i8").astype("q"),
        "big": a.astype(">f8"), "datetime":
        np.arange(37).astype("M8[D]"), "timedelta": np.arange(37).astype("m8[D]"),
        "structured": np.zeros(37, "i4,f8"), "bytes":
        np.array([b"x"] * 37), "decimal": decimal.Decimal(2), "unaligned": np.zeros(297,
        "u1")[1:].view("f8"),
        "memmap": np.frombuffer(mmap.mmap(-1, 37 * 8), "f8"), "metadata": a.astype(np.dtype("f8",
        metadata={"x": 1})),
        "recarray": np.rec.array(a)}.items():
    for f in [np.add, np.multiply, np.less, np.maximum]:
        with np.errstate(all="ignore"):
            record("%s %s" % (f.__name__, name), f, a, b)
            record("%s reversed %s" % (f.__name__, name), f, b, a)
            record("%s out %s" % (f.__name__, name), f, a, a, out=b)
    record("operator %s" % name, lambda: a + b)
    record("negative %s" % name, np.negative, b)
    record("metadata %s" % name, lambda: (a + b).dtype.metadata)
fields = np.zeros(4, np.dtype((np.int32, {"a": ("i2", 0), "b": ("i2", 2)})))
record("integer with fields", lambda: (repr(fields), repr(fields + fields), repr(fields + 1)))
""")

    def test_loops(self):
        result = self.assert_same(PRELUDE + """
class Plain(np.ndarray):
    pass


a = array("f8", 5000)
for d in DTYPES:
    b, c = array(d, 5000).view(Plain), array(d, 5000, seed=1).view(Plain)
    for f in UNARY[:3] + BINARY:
        with np.errstate(all="ignore"):
            record("%s %s" % (f.__name__, d), f, *[b, c][:f.nin])
            record("%s strided %s" % (f.__name__, d), f, *[b[::-3], c[::-3]][:f.nin])
            record("%s scalar %s" % (f.__name__, d), f, *[b, 2][:f.nin])
    record("mixed %s" % d, np.add, b, a)
    record("two-d %s" % d, np.add, b.reshape(50, 100), b[:100])
    record("transposed %s" % d, np.add, b.reshape(50, 100).T, c.reshape(100, 50))
    target = b.copy()
    record("at %s" % d, np.add.at, target, np.arange(4000) % 7, c[:4000])
    dump("at result %s" % d, target)
    record("where %s" % d, np.add, b, c, out=np.zeros(5000, d), where=np.asarray(c) > 0)
    record("accumulate %s" % d, np.add.accumulate, np.asarray(c))
    for f in [np.add, np.maximum]:  # the loop reads its own output, one element behind
        out = np.zeros((50, 100), d) + array(d, 5000).reshape(50, 100)
        for axis in [0, 1]:
            record("accumulate %s into out, axis %d %s" % (f.__name__, axis, d), f.accumulate,
                   np.asarray(c).reshape(50, 100), axis, None, out)
    record("reduceat %s" % d, np.maximum.reduceat, np.asarray(c), [0, 10, 5, 4000])
    record("outer %s" % d, np.multiply.outer, np.asarray(c)[:60], np.asarray(b)[:50])
record("masked", lambda: (np.ma.array(a, mask=a > 1) * 2 + 1).filled(0))
""", rtol={"^(accumulate|reduceat) f": 1e-5}, atol=RUNNING_SUMS)
        self.assert_on_device(result, "add")

    def test_python_code_in_the_constructor_of_an_exception(self):
        """What runs while NumPy makes an exception computes as ever, also where the call is a probe of the loop that NumPy
        takes, whose loops are not to run."""
        self.assert_same("""
import gc, sys
import numpy as np
from shim_script import dump
seen = set()
def compute(*unused):
    seen.add((float(np.add(np.array(1.0), np.array(2.0))), float(np.sqrt(np.array(9.0)))))
def calls_that_do_not_go():
    b = np.zeros(100, "?")
    for dtype in "bBhHiIlLqQfd":
        try:
            b += np.ones(100, dtype)
        except TypeError:
            pass
def profile(frame, event, argument):
    if event == "call":
        compute()
sys.setprofile(profile)
calls_that_do_not_go()
sys.setprofile(None)
dump("profiler", sorted(seen)); seen.clear()
gc.callbacks.append(compute)
for count in range(20):
    gc.set_threshold(1 + count % 4)
    calls_that_do_not_go()
gc.callbacks.clear()
dump("collector", sorted(seen))
""", device=False)

    def test_error_state(self):
        self.assert_same(PRELUDE + """
a = array("f8") * 0
seen = []
for kind in ["raise", "call", "print", "log", "ignore"]:
    with np.errstate(all=kind, call=lambda *x: seen.append(x) if kind == "call" else None):
        record("divide %s" % kind, np.divide, a + 1, a)
        record("sqrt %s" % kind, np.sqrt, a - 1)
print(seen)
""")

    def test_no_device_call_where_numpy_must_report(self):
        """Subclasses and sequences reach NumPy's own loops and BLAS, extobj= is a state of one
        call: none of them may be computed where NumPy does not see the error."""
        script = """
import numpy as np
from shim_script import dump, report

class Sub(np.ndarray):
    pass

def device_calls():
    live = report()
    return live and sum(row["device_calls"] for row in live["operations"])

plain = np.full((200, 200), 1.5)
a = (plain + np.zeros(1)).view(Sub)
target = plain.copy().view(Sub)
sequence = [1.5] * 40000
calls = [lambda: np.multiply(a, a), lambda: np.multiply(sequence, sequence),
         lambda: np.multiply(a, a, out=(target,)),
         lambda: np.multiply.reduce(a, axis=0), lambda: np.multiply.accumulate(a),
         lambda: a @ a, lambda: np.dot(a, a), lambda: a.dot(a), lambda: np.inner(a, a),
         lambda: np.inner(plain, plain), lambda: np.dot(b=a, a=a)]
before = device_calls()
with np.errstate(all="raise"):
    for i, call in enumerate(calls):
        dump("call %d" % i, call())
if np.__version__ < "2":
    dump("extobj", np.multiply(plain, plain, extobj=[8192, 0o2222, None]))
assert device_calls() == before, (before, report())
np.multiply(a, a)
assert before is None or MODE == "auto" or device_calls() > before
"""
        for mode in ("force", "auto"):
            self.assert_same("MODE = %r" % mode + script, device=False, rtol=1e-12,
                             env={"GPUSHIM_MODE": mode, "GPUSHIM_START_MS": "0"})


class TestAuto(shim_runner.TestCase):
    def test_small_calls_are_declined(self):
        result = self.assert_same(PRELUDE + """
a = np.arange(10.0)
for i in range(200):
    a = a + a * 1e-3
dump("a", a)
b = np.arange(100000.0)
dump("b", b * 2 + 1)
""", env={"GPUSHIM_MODE": "auto"}, device=False)
        add = [row for row in result.report["operations"] if row["name"] == "add"]
        self.assertGreaterEqual(sum(row["host_calls"] for row in add), 200)

    def test_off(self):
        result = self.assert_same("import numpy as np; print((np.arange(9.0) * 2).sum())\n",
                                  env={"GPUSHIM_MODE": "off"}, device=False)
        self.assertEqual(result.stderr, "")

    def test_doctor(self):
        result = self.shim_run("import numpy\n", env={"GPUSHIM_DOCTOR": "1"})
        self.assertIn("state: active", result.stderr)
        self.assertNotIn("NOT LIVE", result.stderr)
        self.assertNotIn("not installed", result.stderr)


if __name__ == "__main__":
    unittest.main()
