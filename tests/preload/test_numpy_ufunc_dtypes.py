# SPDX-License-Identifier: Apache-2.0
"""Every numeric ufunc of NumPy on every numeric dtype, pairs of them, scalars and special values.

Values and dtypes are NumPy's; what the device has a loop for ran there. Each pair of dtypes is a kernel of its own to
a GPU, which takes a tenth of a second to compile: there a dtype meets itself and one other, which changes from ufunc to
ufunc. The host device runs all pairs.
"""
import unittest

import shim_runner

# Not bit for bit: what NumPy itself computes by approximations.
APPROXIMATE = (r"^(power|float_power|cbrt|exp|exp2|expm1|log|log2|log10|log1p|sin|cos|tan|arcsin|"
               r"arccos|arctan|sinh|cosh|tanh|arcsinh|arccosh|arctanh|arctan2|hypot|logaddexp|"
               r"logaddexp2|acos|acosh|asin|asinh|atan|atanh|atan2|pow|vecdot|matvec|vecmat|matmul)\b")
# Complex square roots, moduli and directions go through hypot; 1.x multiplies without FMA.
COMPLEX = r"^(sqrt|abs|absolute|sign|multiply|square|divide|true_divide|reciprocal)\b.*[FD]"
# Which of two zeros is the smaller one NumPy decides otherwise in the middle and at the end of an
# array.
ZEROS = r"^(fmin|fmax|minimum|maximum|clip)\b"
RTOL = {APPROXIMATE + ".*e": 4e-3, APPROXIMATE: 4e-6, COMPLEX: 1e-5, ZEROS: 0}
# A part of a complex power is as exact as the whole, down to the smallest numbers.
SUBNORMAL = shim_runner.off_host({r"^(float_)?power .*F": 1e-42, r"^(float_)?power ": 1e-320})

PAIRS = "few" if shim_runner.DEVICE == "cuda" else "all"
PRELUDE = """
import sys
import warnings
import numpy as np
from shim_script import record, share
warnings.simplefilter("ignore")
np.seterr(all="ignore")
DTYPES = "?bhilBHILefdFD"
UFUNCS = {n: f for n, f in vars(np).items() if isinstance(f, np.ufunc) and not f.signature}
UFUNCS["clip"] = (np.core if np.__version__ < "2" else np._core).umath.clip


def array(dtype, n=23, seed=0):
    random = np.random.RandomState(seed)
    values = random.randint(0 if dtype in "BHIL" else -30, 30, n)
    if dtype in "efd":
        return np.array(values / 7, dtype)
    if dtype in "FD":
        return np.array(values / 7 + 1j * random.randint(-30, 30, n) / 5, dtype)
    return np.array(values > 0) if dtype == "?" else values.astype(dtype)
"""


class TestDtypes(shim_runner.TestCase):
    def test_unary(self):
        result = self.assert_same(PRELUDE + """
for name, f in sorted(UFUNCS.items()):
    for d in DTYPES if f.nin == 1 else "":
        record("%s %s" % (name, d), f, array(d))
""", rtol=RTOL)
        for name in ("modf", "frexp", "isnan", "signbit", "invert", "spacing", "conjugate"):
            self.assert_on_device(result, name)

    @shim_runner.in_shares(4)
    def test_binary(self, share):
        result = self.assert_same(PRELUDE + """
def partners(number, at):
    return DTYPES if sys.argv[3] == "all" else DTYPES[at] + DTYPES[(at + 1 + number % 13) % 14]

binary = [name for name, f in sorted(UFUNCS.items()) if f.nin == 2]
for number, name in share(enumerate(binary)):
    f = UFUNCS[name]
    print(name)
    for at, d in enumerate(DTYPES):
        for e in partners(number, at):
            a, b = array(d, 11), array(e, 11, seed=1)
            record("%s %s%s" % (name, d, e), f, a, np.abs(b) if name == "power" else b)
""", args=share + (PAIRS,), rtol=RTOL)
        for name in {"divmod", "ldexp", "gcd", "left_shift", "logical_xor", "fmax", "heaviside", "nextafter",
                     "copysign", "power", "less"} & set(result.stdout.split()):
            self.assert_on_device(result, name)

    @shim_runner.in_shares(2)
    def test_clip(self, share):
        result = self.assert_same(PRELUDE + """
clip = UFUNCS["clip"]
for d in share(DTYPES):
    for e in DTYPES:
        a, low, high = array(d), array(e, seed=1), array(d, seed=2)
        record("clip %s%s" % (d, e), clip, a, low, high)
        record("clip %s%s scalars" % (d, e), clip, a, low[3], high[5])
    for low, high in [(-3, 5), (None, 4), (2, None), (-2.5, 300), (-1000, 2**40), (np.nan, 1),
            (5, -3)]:
        record("np.clip %s %s %s" % (d, low, high), np.clip, array(d), low, high)
        record("clip method %s %s %s" % (d, low, high), lambda: array(d).clip(low, high))
""", args=share)
        self.assert_on_device(result, "clip")

    @shim_runner.in_shares(4)
    def test_python_scalars(self, share):
        self.assert_same(PRELUDE + """
scalars = [True, 0, 1, 3, -1, 127, 128, 255, 256, -129, 40000, 2**31, -2**31 - 1, 2**53 + 1,
        2**63 - 1,
           2**63, 2**64, -2**63, 0.0, -0.0, 2.5, 1e-3, 70000.0, 1e39, np.inf, np.nan, 1j, 2.5 - 1j]
for name in share(["add", "subtract", "multiply", "floor_divide", "remainder", "power", "maximum", "fmin",
                   "less", "equal", "greater_equal", "bitwise_and", "left_shift", "logical_and", "gcd",
                   "copysign", "ldexp", "divmod", "float_power"]):
    f = UFUNCS[name]
    for d in DTYPES:
        a = array(d, 9)
        for i, s in enumerate(scalars):
            if name == "power" and type(s) is int and s >= 2**63:
                continue  # a power of Python ints that never ends
            record("%s %s %d" % (name, d, i), f, a, s)
            record("%s %d %s" % (name, i, d), f, s, a)
""", args=share, rtol=RTOL, atol=SUBNORMAL)

    @shim_runner.in_shares(2)
    def test_numpy_scalars(self, share):
        self.assert_same(PRELUDE + """
scalars = [np.dtype(d).type(v) for d in DTYPES for v in (3, 0)]
scalars += [np.int8(-5), np.uint8(200), np.int64(2**40), np.float64(1e300), np.float32(0.1),
        np.float16(0.1),
            np.float64(np.nan), np.complex64(1 + 2j), np.array(2.5), np.array(7, "u1"),
                    np.array(True),
            np.array(-3), np.array(1j, "F"), np.longdouble(2), np.longlong(3)]
for name in share(["add", "subtract", "maximum", "less", "floor_divide", "right_shift", "logical_or",
                   "true_divide"]):
    f = UFUNCS[name]
    for d in DTYPES:
        a = array(d)
        for i, s in enumerate(scalars):
            record("%s %s %d" % (name, d, i), f, a, s)
            record("%s %d %s" % (name, i, d), f, s, a)
""", args=share, rtol=RTOL)

    @shim_runner.in_shares(2)
    def test_special_values(self, share):
        self.assert_same(PRELUDE + """
def special(d):
    if d == "?":
        return np.array([True, False])
    if d in "efd":
        i = np.finfo(d)
        return np.array([0.0, -0.0, 1, -1, 0.5, -1.5, 2.5, np.inf, -np.inf, np.nan, i.max, i.min,
                i.tiny,
                         i.smallest_subnormal, -i.smallest_subnormal, i.eps], d)
    if d in "FD":
        parts = np.array([0.0, -0.0, 1.5, -2, np.inf, -np.inf, np.nan], "d")
        return np.array(
            [complex(x, y) for x in parts for y in parts], d)
    i = np.iinfo(d)
    return np.array([i.min, i.min + 1, 0, 1, 2, 7, i.max - 1, i.max] + [-1] * (i.min < 0), d)


for name, f in share(sorted(UFUNCS.items())):
    if np.__version__ < "1.23" and name in ("remainder", "mod", "fmod"):
        continue  # NumPy itself dies of the lowest integer modulo -1
    for d in DTYPES:
        a = special(d)
        if f.nin == 1:
            record("%s %s" % (name, d), f, a)
        elif f.nin == 2 and d not in "FD":
            record("%s %s" % (name, d), f, a[:, None],
                    np.abs(a) if name == "power" and d in "bhil" else a)
for name in share(["add", "subtract", "equal", "less", "greater_equal", "maximum", "fmin", "logical_and"]):
    for d in "FD":
        record("%s %s" % (name, d), UFUNCS[name], special(d)[:, None], special(d))
""", args=share, rtol=RTOL)


if __name__ == "__main__":
    unittest.main()
