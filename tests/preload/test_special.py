# SPDX-License-Identifier: Apache-2.0
"""scipy.special's ufuncs against plain SciPy: results within the bounds of kernels/ops_special.def over all magnitudes, special
values, forms of calls, and SciPy's errors. Skipped where there is no SciPy."""
import importlib.util
import os
import re
import unittest

import shim_runner

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRELUDE = '''
import warnings
import numpy as np
import scipy.special as special
from shim_script import attempt, dump, on_device, report, residency
rng = np.random.default_rng(7)
SPECIALS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, -0.5, 0.5, -33.0, -34.0, -35.0, -170.5, 171.6, 1e308]

def numbers(dtype, count=2000):
    """Of all magnitudes and both signs, and those near which formulas change."""
    parts = [np.array(SPECIALS), np.arange(-60, 180) / 2]
    for low, high in ((0, 1), (0, 12), (12, 1000), (-200, 0)):
        parts.append(rng.uniform(low, high, count))
    exponents = rng.integers(-1000, 1000, count) if dtype == "f8" else rng.integers(-120, 127, count)
    parts += [np.ldexp(rng.uniform(0.5, 1, count), exponents), -np.ldexp(rng.uniform(0.5, 1, count), exponents)]
    with np.errstate(over="ignore"):
        return np.concatenate(parts).astype(dtype)

def moderate(dtype, count=8000):
    """Where no terms multiply errors: of zeta, which is slow where they do, whole x and positive q too."""
    return np.concatenate([np.arange(-12, 13) / 2, rng.uniform(0, 20, count), rng.uniform(-20, 0, count // 8),
                           rng.integers(1, 20, count)]).astype(dtype)
'''


def rows():
    """{ufunc: (inputs, ulps of float32, of float64, whether ulps are those of 1, whether the bound is open, the row's label)}."""
    with open(os.path.join(ROOT, "kernels", "ops_special.def"), encoding="utf-8") as stream:
        text = stream.read()
    found = {}
    for label, name, nin, ulps, flags in re.findall(
            r'"(\w+)", "scipy\.special\.(\w+)", (\d), .*?(?:NONE|SAME), (GSH_EXACT|GSH_ULPS\([^)]*\)), [\d.]+, (.*),$', text, re.M):
        _, single, wide, _ = map(int, re.findall(r"\d+", ulps) or "0000")
        found[name] = int(nin), single, wide * (64 if "COARSE" in flags else 1), "OF_ONE" in flags, "OPEN" in flags, label
    return found


ROWS = rows()


def tolerances():
    """The arguments of assert_same for values whose names begin with FUNCTION f4 or FUNCTION f8."""
    ulp, near = {}, {}
    for name, (_, single, wide, is_of_one, _, _) in ROWS.items():
        for dtype, bound, eps in (("f4", single, 2.0**-23), ("f8", wide, 2.0**-52)):
            if is_of_one:
                near["^%s %s" % (name, dtype)] = bound * eps
            else:
                ulp["^%s %s" % (name, dtype)] = bound
    near["^kl_div f8"] = 1e-12  # a difference of terms
    del ulp["^kl_div f8"]
    ulp["^riemann f8"], ulp["^zeta f8"] = ROWS["_riemann_zeta"][2], ROWS["_zeta"][2]
    ulp["^polygamma f8"], ulp["^comb f8"] = ROWS["_zeta"][2] + ROWS["gamma"][2] + 2, ROWS["binom"][2]
    return {"ulp": ulp, "rtol": near, "atol": near}


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestSpecial(shim_runner.TestCase):
    def judge(self, script, device=("special_erf",), **options):
        options.setdefault("env", {"GPUSHIM_ARENA_MIN": "1"})
        result = self.assert_same(PRELUDE + script, device=False, **tolerances(), **options)
        for name in device:
            self.assert_on_device(result, name)
        return result

    def test_table(self):
        self.assertGreater(len(ROWS), 40)
        self.assertEqual(ROWS["erf"][:2], (1, 1))

    def values(self, functions):
        return self.judge('''
for dtype in ("f4", "f8"):
    with np.errstate(all="ignore"):
        x = numbers(dtype)
    near = (x * rng.uniform(0.25, 4, x.size)).astype(dtype)
    for name, nin, is_open in %r:
        function = getattr(special._ufuncs, name, None)
        if function is not None and is_open:
            a, b = moderate(dtype), moderate(dtype)
            b = np.where(a < 0, b, np.abs(b)) if name == "_zeta" else b
            attempt("%%s %%s" %% (name, dtype), function, on_device(a), on_device(rng.permutation(b)))
        elif function is not None and function.types[0][0] == "l":
            orders = on_device(rng.integers(-100, 100, x.size))
            attempt("%%s %%s" %% (name, dtype), function, orders, on_device(x))
        elif function is not None:
            attempt("%%s %%s" %% (name, dtype), function, *[on_device(a) for a in (x, near, x[::-1].copy())[:nin]])
            if nin > 1 and not is_open and function.types[0][0] != "l":
                attempt("%%s %%s apart" %% (name, dtype), function, *[on_device(a) for a in (x, np.roll(x, 777), near)[:nin]])
''' % [(name, ROWS[name][0], ROWS[name][4] and name != "kl_div") for name in functions], device=())

    def test_values(self):
        result = self.values(sorted(ROWS))
        computed = {row["name"] for row in result.report["operations"] if row["device_calls"]}
        self.assertTrue({"special_erf", "special_gamma", "special_xlogy", "special_huber"} <= computed, computed)

    def test_all_rows_agree(self):
        """But for what SciPy 1.18 computes in another way that is not known here, no row is left to SciPy."""
        import scipy
        from scipy.special import _ufuncs as special
        changed = {"sindg"} if int(scipy.__version__.split(".")[1]) >= 18 else set()
        functions = [(name, row[0]) for name, row in sorted(ROWS.items())
                     if hasattr(special, name) and getattr(special, name).types[0][0] != "l"]
        result = self.judge('''
for name, nin in %r:
    attempt(name + " f8", getattr(special._ufuncs, name), *[on_device(np.linspace(0.1, 0.9, 30000))] * nin)
''' % functions, device=())
        left = {name for name, _ in functions if all(shim_runner.device_calls(result.report, ROWS[name][5] + variant) == 0
                                                     for variant in ("", "_of_sum"))}
        self.assertLessEqual(left, changed)

    def test_whole_orders(self):
        result = self.judge('''
x = on_device(rng.uniform(0, 9, 50000))
orders = on_device(rng.integers(0, 60, x.size))
attempt("expn f8 of a number", special.expn, 2, x)
attempt("expn f8 of a number, single", special.expn, 2, x.astype("f4"))
attempt("expn f8 of integers", special.expn, orders, x)
attempt("expn f8 of floats", special.expn, orders * 1.0, x)
attempt("expn f8 of fractions", special.expn, (orders * 1.5)[:300], x[:300])
for dtype in "bhiIlQ":
    attempt("expn f8 of " + dtype, special.expn, orders.astype(dtype), x)
    attempt("expn f8 of singles and " + dtype, special.expn, orders.astype(dtype), x.astype("f4"))
for n in (-3, 0, 1, 2**31 - 1, 2**31, -2**31, 2**62):
    attempt("expn f8 of %d" % n, special.expn, n, x)
attempt("expn f8 out", special.expn, orders, x, out=on_device(np.zeros(x.size)))
attempt("expn f4 narrow", special.expn, 0, x * 1e-40, out=on_device(np.zeros(x.size, "f4")), casting="same_kind")
''', device=("special_expn",))
        self.assertGreater(shim_runner.device_calls(result.report, "special_expn"), 10)

    def test_two_results(self):
        result = self.judge('''
for name, a in (("f8", on_device(rng.uniform(-9, 9, (300, 170)))), ("f4", on_device(rng.uniform(-9, 9, 50000).astype("f4")))):
    attempt("sici %s" % name, special.sici, a)
    attempt("fresnel %s transposed" % name, special.fresnel, a.T)
    outs = on_device(np.full(a.shape, 7, a.dtype)), on_device(np.full(a.shape, 7, a.dtype))
    attempt("shichi %s out" % name, special.shichi, a, out=outs)
    attempt("shichi %s one out" % name, special.shichi, a, out=(None, outs[0]))
    attempt("sici %s itself" % name, special.sici, outs[0], out=(outs[0], outs[1]))
narrow = on_device(np.zeros((300, 170), "f4"))
attempt("sici f4 narrow", special.sici, on_device(rng.uniform(1, 9, (300, 170))), out=(None, narrow), casting="same_kind")
''', device=("special_sici", "special_fresnel", "special_shichi"))
        self.assertGreater(shim_runner.device_calls(result.report, "special_shichi"), 3)

    def test_composed(self):
        """What SciPy computes by them in Python."""
        self.judge('''
x = on_device(rng.uniform(0.5, 30, 50000))
attempt("riemann f8", special.zeta, x)
attempt("zeta f8", special.zeta, x + 1, x)
attempt("zeta f8 of a number", special.zeta, 2, x)
attempt("polygamma f8", special.polygamma, 3, x)
attempt("comb f8", special.comb, np.floor(x) + 20, np.floor(x))
''', device=("special_zeta", "special_riemann_zeta", "special_binom"))

    def test_stays_and_is_fused(self):
        result = self.judge('''
x = on_device(rng.uniform(-3, 3, 1 << 18))
y = np.exp(special.erf(x * 2) + 1)
dump("resident", residency(x) in ("plain", "device") and residency(y) in ("plain", "device"))
dump("erf f8 exp", y)
''', env={"GPUSHIM_ARENA_MIN": "1", "GPUSHIM_BACKGROUND": "0"})
        groups = [row["name"] for row in result.report["operations"] if "special_erf" in row["name"] and "exp" in row["name"]]
        self.assertTrue(groups, result.report["operations"])

    def test_forms(self):
        self.judge('''
x = on_device(rng.uniform(-3, 3, (300, 41)))
single = on_device(x.astype("f4"))
mask = on_device(rng.uniform(0, 1, x.shape) < 0.5)
for name, a in (("f8", x), ("f4", single)):
    attempt("erf %s transposed" % name, special.erf, a.T)
    attempt("erf %s stepped" % name, special.erf, a[::-2, ::3])
    out = on_device(np.full(a.shape, 7, a.dtype))
    attempt("erf %s out" % name, special.erf, a, out=out)
    attempt("erf %s itself" % name, special.erf, out, out=out)
    # not erf: loops of SciPy 1.17 that are written in C++ move the pointers of NumPy's masked loop, and write elsewhere
    attempt("entr %s masked" % name, special.entr, a, out=on_device(np.full(a.shape, 7, a.dtype)), where=mask)
    attempt("xlogy %s scalar" % name, special.xlogy, 2, np.abs(a))
    attempt("xlogy %s row" % name, special.xlogy, a, np.abs(a[0]))
    attempt("erf %s element" % name, special.erf, a[3, 4])
    attempt("erf %s none" % name, special.erf, a[:0])
    attempt("erf %s 0-d" % name, special.erf, np.array(a[3, 4]))
for dtype in "?bhilBHILe":
    attempt("erf f8 of " + dtype, special.erf, on_device(np.arange(50000).astype(dtype)))
for dtype in "gFDO":
    attempt("of %s" % dtype, special.expit if dtype == "g" else special.erf, np.linspace(-2, 2, 9).astype(dtype))
attempt("erf f4 dtype", special.erf, x, dtype="f4", casting="same_kind")
attempt("erf f4 narrow", special.erf, x, out=on_device(np.zeros(x.shape, "f4")), casting="same_kind")
for name, function, number in (("erf", special.erf, 1), ("exp2", special.exp2, 500)):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        large = on_device(np.full(50000, number, "f8"))
        attempt(name + " f4 overflow", function, large, out=on_device(np.zeros(50000, "f4")), casting="same_kind")
        dump(name + " overflow", [str(each.message) for each in caught])
attempt("xlogy outer", special.xlogy.outer, np.arange(4.0), np.arange(1.0, 5.0))
attempt("wrong", special.erf, x, x, x)
attempt("wrong shapes", special.xlogy, x, x[:7])
dump("names", [special.erf.__name__, special.erf.types, repr(special.erf)])
''')

    def test_errors_are_scipys(self):
        """Under another action than `ignore` SciPy computes, raises and warns; NumPy's errstate asks nothing."""
        self.judge('''
x = on_device(np.concatenate([np.arange(-1000.0, 1000.0), rng.uniform(1, 2, 50000)]))
with np.errstate(all="raise"):
    attempt("gamma f8 numpy", special.gamma, x)
with special.errstate(all="raise"):
    attempt("raised", special.gamma, x)
    attempt("erf f8 raised", special.erf, on_device(np.linspace(-2, 2, 50000)))
with special.errstate(singular="warn"), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    attempt("gamma f8 warned", special.gamma, x)
    dump("warnings", [(each.category.__name__, str(each.message)) for each in caught])
attempt("gamma f8 after", special.gamma, x)
attempt("erf f8", special.erf, x)
''', device=("special_gamma", "special_erf"))

    def test_another_result_is_left_to_scipy(self):
        """A loop that does not compute what ours does keeps its calls."""
        result = self.judge('''
import ctypes
class Head(ctypes.Structure):  # of PyUFuncObject
    _fields_ = [("count", ctypes.c_ssize_t), ("type", ctypes.c_void_p), ("nin", ctypes.c_int), ("nout", ctypes.c_int),
                ("nargs", ctypes.c_int), ("identity", ctypes.c_int), ("functions", ctypes.POINTER(ctypes.c_void_p)),
                ("data", ctypes.POINTER(ctypes.c_void_p))]
j0, erfc = Head.from_address(id(special.j0)), Head.from_address(id(special.erfc))
def set_loops(loops):
    for i, (function, data) in enumerate(loops):
        j0.functions[i], j0.data[i] = function, data
own, others = [[(head.functions[i], head.data[i]) for i in range(2)] for head in (j0, erfc)]
set_loops(others)
x = on_device(rng.uniform(-3, 3, 50000))
attempt("erfc f8 as j0", special.j0, x)
attempt("erf f8", special.erf, x)
set_loops(own)  # SciPy 1.18 frees the data of each ufunc when the interpreter ends
''')
        self.assertEqual(shim_runner.device_calls(result.report, "special_j0"), 0)


if __name__ == "__main__":
    unittest.main()
