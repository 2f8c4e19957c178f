# SPDX-License-Identifier: Apache-2.0
"""Floating-point errors of device calls: warnings, exceptions and callbacks as NumPy gives them, in the call with
GPUSHIM_FPERR=strict or under errstate "raise", "call" ..., at the next synchronisation by default, never when off.
"""
import unittest

import shim_runner

PRELUDE = """
import warnings
import numpy as np
from shim_script import dump
SIZE = 3000
np.seterr(under="ignore")
def filled(value, dtype="f8"):
    return np.full(SIZE, value, dtype)
def cases():
    one, zero, huge, inf = filled(1.0), filled(0.0), filled(1e308), filled(np.inf)
    nan = filled(np.nan)
    yield "1/0", lambda: one / zero
    yield "0/0", lambda: zero / zero
    yield "mixed", lambda: np.where(np.arange(SIZE) % 2, one, zero) / zero
    yield "overflow", lambda: huge * huge
    yield "inf-inf", lambda: inf - inf
    yield "f4 overflow", lambda: filled(3e38, "f4") + filled(3e38, "f4")
    yield "f2 overflow", lambda: filled(60000, "f2") + filled(60000, "f2")
    yield "in place", lambda: np.divide(filled(2.0), zero, out=filled(7.0))
    yield "cast of output", lambda: np.multiply(huge, 0.5, out=np.zeros(SIZE, "f4"), casting="unsafe")
    yield "where", lambda: np.divide(one, zero, where=np.arange(SIZE) > 5, out=np.zeros(SIZE))
    yield "where hides it", lambda: np.divide(one, zero, where=np.zeros(SIZE, "?"), out=np.zeros(SIZE))
    yield "reduce", lambda: np.add.reduce(huge)
    yield "reduce axis", lambda: np.add.reduce(huge.reshape(30, -1), axis=0)
    yield "accumulate", lambda: np.cumsum(huge)
    yield "reduce into f4", lambda: np.max(huge, out=np.zeros((), "f4"))
    yield "reduce axis into f4", lambda: huge.reshape(30, -1).max(1, out=np.zeros(30, "f4"))
    yield "accumulate into f4", lambda: np.maximum.accumulate(huge, out=np.zeros(SIZE, "f4"))
    yield "product", lambda: np.prod(huge)
    yield "product of zero first", lambda: np.prod(np.where(np.arange(SIZE) > 0, huge, zero))
    yield "product of zero last", lambda: np.prod(np.where(np.arange(SIZE) < SIZE - 1, huge, zero))
    yield "product f2", lambda: np.prod(np.where(np.arange(SIZE) < 4, filled(60000, "f2"), filled(1, "f2")))
    yield "reduce inf-inf", lambda: np.sum(np.where(np.arange(SIZE) % 2, inf, -inf))
    yield "nan to int", lambda: nan.astype("i4")
    yield "big to int", lambda: huge.astype("i8")
    yield "big to f4", lambda: huge.astype("f4")
    yield "big to f2", lambda: filled(1e6).astype("f2")
    def store():
        target = np.zeros(SIZE, "i4")
        target[...] = nan
        return target
    yield "stored nan", store
    yield "int//0", lambda: filled(7, "i8") // filled(0, "i8")
    yield "int%0", lambda: filled(7, "i4") % filled(0, "i4")
    yield "min//-1", lambda: filled(np.iinfo("i4").min, "i4") // filled(-1, "i4")
    yield "divmod", lambda: np.divmod(one, zero)
    yield "fmod", lambda: np.fmod(one, zero)
    yield "remainder", lambda: np.remainder(one, zero)
    yield "log 0", lambda: np.log(zero)
    yield "log -1", lambda: np.log(-one)
    yield "log1p -1", lambda: np.log1p(-one)
    yield "sqrt -1", lambda: np.sqrt(-one)
    yield "exp", lambda: np.exp(huge)
    yield "arcsin 2", lambda: np.arcsin(one * 2)
    yield "arctanh 1", lambda: np.arctanh(one)
    yield "power", lambda: np.power(zero, -one)
    yield "reciprocal", lambda: np.reciprocal(zero)
    yield "square", lambda: np.square(huge)
    yield "complex", lambda: filled(1 + 1j, "c16") / filled(0, "c16")
    yield "nan in", lambda: np.sqrt(nan) + nan * 2
    yield "compare nan", lambda: (nan < one, np.maximum(nan, one), np.isnan(nan))
    yield "clean", lambda: (np.sqrt(one), one + one, one / one)
"""

# A dumped list of one warning; NumPy 1.22 calls the ufunc true_divide.
ONE_DIVISION = r"""^\('list', \('object', 'str', "'divide by zero encountered in (true_)?divide'"\)\)$"""

IN_THE_CALL = PRELUDE + """
for name, call in cases():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            dump(name, call())
        except Exception as error:
            dump(name, error)
    dump("warnings of " + name, sorted((str(w.message), w.category.__name__) for w in caught))
"""

# NumPy from 1.25 on names an error by the ufunc where it has a loop for one dimension and nothing is cast, and all
# others "at".
AT = PRELUDE + """
SIZE = 300
def value(number, dtype):
    with np.errstate(all="ignore"):
        return np.array(number).astype(dtype)
def forms(number, dtype):
    one = value(number, dtype)
    yield "number", one.item()
    yield "scalar", one[()]
    yield "0-d array", one
    yield "array", np.full(1, one)
    yield "2-d array", np.full((1, 1), one)
    if abs(number) < 1e30:
        yield "array of f4", np.full(1, number, "f4")
TARGETS = {"1-d": lambda a: a.copy(), "2-d": lambda a: a.reshape(3, -1).copy(), "strided": lambda a: np.repeat(a, 2)[::2],
           "F": lambda a: np.asfortranarray(a.reshape(3, -1))}
OPS = {"divide": 0, "floor_divide": 0, "multiply": 1e300, "add": 1e308, "subtract": np.inf}
for dtype in ("f8", "f4", "f2", "c16", "i8", "i4"):
    for op, number in OPS.items():
        for target, make in TARGETS.items():
            for form, operand in forms(number, dtype):
                for shape, index in (("", [0, 1]), (" 2-d index", [[0, 1], [2, 1]])):
                    numbers = filled(np.inf if op == "subtract" else 1e308, "f8")
                    numbers[0] = 0
                    with np.errstate(all="ignore"):
                        a = make(numbers.astype(dtype) if dtype[0] != "i" else filled(7, dtype))
                    name = " ".join((dtype, op, target, form)) + shape
                    with warnings.catch_warnings(record=True) as caught:
                        warnings.simplefilter("always")
                        try:
                            getattr(np, op).at(a, np.array(index), operand)
                        except Exception as error:
                            dump("error of " + name, error)
                    dump("warnings of " + name, sorted(str(w.message) for w in caught))
                    dump(name, a)
"""

MODES = PRELUDE + """
class Log:
    def write(self, text):
        seen.append(text)
KINDS = ("divide", "over", "invalid")
settings = {mode: dict.fromkeys(KINDS, mode) for mode in ("raise", "call", "log", "ignore")}
settings.update({"only " + kind: dict(dict.fromkeys(KINDS, "ignore"), **{kind: "call"}) for kind in KINDS})
for mode, kinds in settings.items():
    for name, call in cases():
        seen = []
        with np.errstate(**kinds,
                         call=Log() if mode == "log" else lambda kind, flag: seen.append((kind, flag))):
            try:
                dump(mode + " " + name, call())
            except Exception as error:
                dump(mode + " " + name, error)
        dump("seen by %s %s" % (mode, name), sorted(map(str, seen)))
"""


class TestFloatingPointErrors(shim_runner.TestCase):
    ULP = {r"(exp|log|arc|power|sqrt|where|accumulate|reduce)": 6}

    def compare(self, script, env=None):
        plain, shimmed = shim_runner.run_plain(script), shim_runner.run(script, env=env)
        self.assertEqual((shimmed.returncode, shimmed.stderr), (plain.returncode, plain.stderr))
        self.assert_equal_values(shimmed, plain, ulp=self.ULP)
        self.assertGreater(shim_runner.device_calls(shimmed.report), 60)

    def test_strict(self):
        self.compare(IN_THE_CALL, {"GPUSHIM_FPERR": "strict"})

    def test_at(self):
        for env in ({"GPUSHIM_FPERR": "strict"}, {}):
            with self.subTest(env):
                self.compare(AT, env)

    def test_little_device_memory(self):
        """Without memory for what is found a call stays on the CPU."""
        refused = "gpushim: the device refused an operation; the CPU computed it\n"
        for limit in ("1", "1K", "50K", "100K", "150K"):
            for script in (IN_THE_CALL, MODES):
                with self.subTest(limit=limit, modes=script is MODES):
                    plain = shim_runner.run_plain(script)
                    shimmed = shim_runner.run(script, env={"GPUSHIM_FPERR": "strict", "GPUSHIM_MEM_LIMIT": limit})
                    self.assertEqual(shimmed.returncode, 0, shimmed)
                    self.assertEqual(shimmed.stderr.replace(refused, ""), plain.stderr)
                    self.assert_equal_values(shimmed, plain, ulp=self.ULP)

    def test_errstates_that_belong_to_the_call(self):
        self.compare(MODES)

    def test_deferred_warning_comes_with_the_values(self):
        result = shim_runner.run(PRELUDE + """
import sys
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    a = filled(1.0) / filled(0.0)
    float(a[0])
    for _ in range(10):
        pass
    dump("after reading", [str(w.message) for w in caught])
""", env={"GPUSHIM_FPERR": "late"})
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(sum(shim_runner.device_calls(result.report, name) for name in ("divide", "true_divide")), 1)
        self.assertRegex(str(result.values["after reading"]), ONE_DIVISION)

    def test_deferred_warning_in_the_constructor_of_an_exception(self):
        """The interpreter comes to the warning while NumPy makes the exception for a call that does not go: of the probe
        that asks which loop the call takes, or of the call itself."""
        result = self.assert_same("""
import warnings
import numpy as np
from shim_script import dump
def run(action):
    told, finite = [], np.zeros(1, "?")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        try:
            a = np.arange(64.0) % 5 - 2
            finite = np.isfinite(a / a)
            b = finite + 1
            b[0] = 4
            finite += 1
        except (TypeError, RuntimeWarning) as error:
            told.append(error)
        try:
            told.append(finite.sum())
        except RuntimeWarning as error:
            told.append(error)
    return told, [str(w.message) for w in caught]
dump("always", run("always"))
errors = run("error")[0]
dump("error", any(isinstance(error, RuntimeWarning) for error in errors))
""", env={"GPUSHIM_FPERR": "late"}, device="divide")
        self.assertIn("invalid value", str(result.values["always"]))

    def test_deferred_warnings_meet_the_filters_of_their_call(self):
        """What ran before catch_warnings began or ended is told there, whatever the filters are: recorded, ignored,
        raised; and names the line of the scope."""
        script = PRELUDE + """
warnings.simplefilter("always")
one, zero, inf = filled(1.0), filled(0.0), filled(np.inf)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ignored = np.log(-one)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    recorded = one / zero
    before = np.sqrt(-one)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ignored = inf - inf
dump("caught", sorted(str(w.message) for w in caught))
dump("files", sorted({w.filename == __file__ for w in caught}))
try:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raised = np.arcsin(one * 2)
except RuntimeWarning as warning:
    dump("raised", warning)
dump("restored", warnings.filters[0][0])
dump("values", [float(x[0]) for x in (ignored, recorded, before)])
"""
        plain, shimmed = shim_runner.run_plain(script), shim_runner.run(script, env={"GPUSHIM_FEED_MS": "0", "GPUSHIM_FPERR": "late"})
        self.assertEqual((plain.returncode, plain.stderr), (0, ""))
        self.assertEqual((shimmed.returncode, shimmed.stderr), (0, ""))
        self.assert_equal_values(shimmed, plain)
        self.assertGreater(shim_runner.device_calls(shimmed.report), 4)

    def test_deferred_warning_at_exit(self):
        script = "import numpy as np\nb = np.full(3000, -1.0)\nc = np.sqrt(b)\n"
        result = shim_runner.run(script)
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.stderr.count("invalid value encountered in sqrt"), 1, result)

    def test_deferred_warning_behind_many_calls(self):
        """More calls follow than the device has places for what they meet, and nothing waits in between."""
        result = shim_runner.run(PRELUDE + """
one, zero = filled(1.0), filled(0.0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    first = one / zero
    for _ in range(5000):
        last = one * 2.0
    float(last[0])
    for _ in range(10):
        pass
    dump("warnings", [str(w.message) for w in caught])
""", env={"GPUSHIM_FPERR": "late"})
        self.assertGreaterEqual(shim_runner.device_calls(result.report, "multiply"), 5000)
        self.assertRegex(str(result.values["warnings"]), ONE_DIVISION)

    def test_deferred_keeps_the_errstate_of_the_call(self):
        result = shim_runner.run(PRELUDE + """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    a = filled(1.0) / filled(0.0)
    with np.errstate(all="ignore"):
        b = filled(-1.0)
        c = np.sqrt(b)
        float(a[0]), float(c[0])
        for _ in range(10):
            pass
    dump("warnings", [str(w.message) for w in caught])
""", env={"GPUSHIM_FPERR": "late"})
        self.assertRegex(str(result.values["warnings"]), ONE_DIVISION)

    def test_filters_that_raise(self):
        """An exception comes out of the call, where it is caught; filters come and go, in lists and tuples whose memory
        others had."""
        script = PRELUDE + """
one, zero = filled(1.0), filled(0.0)
def outcome(function=np.sqrt, value=-one):
    try:
        result = function(value)
    except RuntimeWarning as warning:
        return str(warning)
    return type(result[0]).__name__
def many(actions, **how):
    told = []
    for action in actions:
        with warnings.catch_warnings():
            warnings.filterwarnings(action, **how)
            told.append(outcome())
    return told
dump("at first", outcome())
warnings.simplefilter("ignore")
dump("changing", many(["ignore", "error", "ignore", "error", "error", "ignore"] * 5))
dump("of others", many(["error"], category=DeprecationWarning))
dump("by message", many(["error"], message="invalid") + many(["error"], message="divide"))
dump("by module", many(["error"], module="__main__") + many(["error"], module="numpy"))
warnings.filterwarnings("error", append=True)
dump("behind", outcome())
warnings.filters.pop(0)
warnings._filters_mutated_lock_held() if hasattr(warnings, "_filters_mutated_lock_held") else warnings._filters_mutated()
dump("alone", [outcome(), outcome(lambda x: one / x, zero)])
warnings.resetwarnings()
warnings.simplefilter("ignore", RuntimeWarning)
dump("in the end", outcome())
"""
        for arguments in ([], ["-W", "error"], ["-W", "error::RuntimeWarning"], ["-W", "error::DeprecationWarning"]):
            with self.subTest(arguments):
                plain = shim_runner.run_plain(script, python_args=arguments)
                shimmed = shim_runner.run(script, python_args=arguments, env={"GPUSHIM_FEED_MS": "0"})
                self.assertEqual((plain.returncode, shimmed.returncode), (0, 0), shimmed)
                self.assert_equal_values(shimmed, plain)
                self.assertGreater(shim_runner.device_calls(shimmed.report, "sqrt"), 20)

    def test_filter_error(self):
        result = shim_runner.run("import numpy as np\na = np.full(3000, 1.0) / np.zeros(3000)\nprint('not reached')\n",
                                 python_args=["-W", "error"])
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("RuntimeWarning: divide by zero encountered in", result.stderr)
        self.assertNotIn("not reached", result.stdout)

    def test_warnings_is_not_imported(self):
        """The program's own import function sees NumPy's imports alone."""
        script = '''
import builtins
names, real = [], builtins.__import__
def spy(name, *args, **kwargs):
    names.append(name)
    return real(name, *args, **kwargs)
builtins.__import__ = spy
import numpy
print(names.count("warnings"))
'''
        plain, shimmed = shim_runner.run_plain(script), shim_runner.run(script)
        self.assertEqual(shimmed.stdout, plain.stdout)

    def test_off(self):
        result = shim_runner.run(IN_THE_CALL, env={"GPUSHIM_FPERR": "off"})
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.values["warnings of 1/0"], ("list",))

    def test_many_calls_give_one_line_each_filter(self):
        """The default filter shows a warning once for each line of the program."""
        script = ("import numpy as np\nzero = np.zeros(3000)\n"
                  "for _ in range(5000):\n    a = 1.0 / zero\nprint(a[0])\n")
        result = shim_runner.run(script)
        self.assertEqual((result.returncode, result.stdout), (0, "inf\n"), result)
        self.assertIn(result.stderr.count("divide by zero"), (1, 2), result)

    def test_forked_child_leaves_the_warning_to_its_parent(self):
        result = shim_runner.run("""
import os
import numpy as np
a = np.full(3000, 1.0) / np.zeros(3000)
pid = os.fork()
if pid == 0:
    float(a[0] + a[1])
    for _ in range(10): pass
    os._exit(0)
os.waitpid(pid, 0)
print(a[0])
""")
        self.assertEqual((result.returncode, result.stdout), (0, "inf\n"), result)
        self.assertEqual(result.stderr.count("divide by zero encountered in"), 1, result)

    def test_fork_between_calls_and_their_warnings(self):
        """The parent gets all of its own, the child what it meets itself, and neither waits for the other."""
        result = shim_runner.run("""
import os, signal, warnings
import numpy as np
one, zero = np.full(3000, 1.0), np.full(3000, 0.0)
a = one / zero
b = np.sqrt(-one)
c = a - a
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.log(zero)
        print([float(x[0]) for x in (a, b, c)])
        for _ in range(10):
            pass
    print([str(w.message) for w in caught], flush=True)
    os._exit(0)
print(os.waitpid(pid, 0)[1], [float(x[0]) for x in (a, b, c)])
""")
        values = "[inf, nan, nan]"
        self.assertEqual((result.returncode, result.stdout.splitlines()), (
            0, [values, "['divide by zero encountered in log']", "0 " + values]), result)
        for text in ("divide by zero encountered in", "encountered in sqrt", "encountered in subtract"):
            self.assertEqual(result.stderr.count(text), 1, result)
        self.assertGreaterEqual(shim_runner.device_calls(result.report), 3)

    def test_worker_threads(self):
        result = shim_runner.run("""
import threading
import numpy as np
def work():
    for _ in range(50):
        float((np.full(3000, 1.0) / np.zeros(3000))[0])
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
print("done")
""")
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result)
        self.assertIn("divide by zero encountered in", result.stderr)

    def test_loops_of_nan(self):
        """What this thread computes in the device's place must leave no flags behind."""
        self.assert_same("""
import numpy as np, warnings
from shim_script import dump
class Sub(np.ndarray): pass
values = np.arange(3000.0); values[7] = np.nan
calls = {"subclass": lambda: (values * 1).view(Sub) + 1.0, "list": lambda: np.add(list(values), 1.0),
         "large": lambda: values + 1e300}
for name, call in calls.items():
    for state in "warn", "raise":
        with warnings.catch_warnings(record=True) as caught, np.errstate(invalid=state):
            warnings.simplefilter("always")
            dump(name + " " + state, np.asarray(call()))
        dump(name + " warnings " + state, [str(w.message) for w in caught])
""")

    def test_loops_tell_poles_from_overflows(self):
        """Of a call that reaches the device by its loop too the warning names what NumPy's own loop meets."""
        self.assert_same("""
import numpy as np
from shim_script import attempt
class Sub(np.ndarray): pass
for dtype in "efdFD":
    for value in (-1, 0, 1, 2, 1e4, np.inf):
        a = np.full(3000, value).astype(dtype).view(Sub)
        for name in "log log1p arctanh exp expm1 sinh sqrt arcsin reciprocal square spacing".split():
            if dtype in "efd" or name != "spacing":
                attempt("%s %s %s" % (dtype, name, value), lambda: getattr(np, name)(a).dtype)
        for name in "divide power multiply floor_divide remainder fmod logaddexp ldexp".split():
            for other in (-1, 0, 0.5, 1e4, np.inf):
                if dtype in "FD" and name not in ("divide", "multiply"):
                    continue
                if name == "ldexp":
                    b = np.full(3000, int(min(other, 1e4)), "i4")
                else:
                    b = np.full(3000, other).astype(dtype)
                attempt("%s %s %s %s" % (dtype, name, value, other), lambda: getattr(np, name)(a, b).dtype)
""", env={"GPUSHIM_ARENA_MIN": "1"}, device="log1p")

    def test_warning_told_inside_a_loop_of_python_functions(self):
        """Telling it leaves no flags behind, which the loop would take for its own."""
        self.assert_same("""
import numpy as np, warnings
from shim_script import dump
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    a = np.arange(30.0)
    b = a / a
    c = np.frompyfunc(lambda x: x + 1, 1, 1)(a)
dump("warnings", [str(w.message) for w in caught])
""")

    def test_product_of_matrices_behind_recorded_calls(self):
        """What was recorded runs when the BLAS is called, whose flags NumPy looks at."""
        self.assert_same("""
import numpy as np, warnings
from shim_script import dump, on_device
class Sub(np.ndarray): pass
for name, kind in (("array", np.ndarray), ("subclass", Sub)):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        a = on_device(np.arange(31.0))
        b = np.arcsin(a)
        m = np.arange(4.0).reshape(2, 2).view(kind)
        dump(name, np.asarray(np.dot(m, m)))
    dump(name + " warnings", [str(w.message) for w in caught])
""", env={"GPUSHIM_ARENA_MIN": "1", "GPUSHIM_FEED_MS": "0"}, device="arcsin")

    def test_scalars_that_are_too_small(self):
        self.assert_same("""
import numpy as np, warnings
from shim_script import attempt, dump
def store(function, value, dtype):
    a = np.ones(3000, dtype)
    with np.errstate(under="raise"):
        function(a, value)
    return a
def assign(a, value): a[:] = value
def fill(a, value): a.fill(value)
for dtype in "e", "f", "F":
    for value in (1e-300, np.float64(-1e-300), 1e-40, 1e-6, 0.0, -0.0, 0.25, 1e-300j, 2 + 1e-300j):
        for function in (assign, fill, np.copyto):
            if dtype == "F" or not isinstance(value, complex):
                attempt("%s %r %s" % (dtype, value, function.__name__), store, function, value, dtype)
""")


if __name__ == "__main__":
    unittest.main()
