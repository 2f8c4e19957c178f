# SPDX-License-Identifier: Apache-2.0
"""scipy.signal's recursive filters, lfilter and sosfilt and what calls them, against plain SciPy, bit for bit; any NaN equals any other.
Skipped where there is no SciPy."""
import importlib.util
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
from scipy import signal
from shim_script import attempt, dump, moved_by, on_device, share
rng = np.random.default_rng(5)

def numbers(shape, dtype, spread=3.0):
    values = rng.standard_normal(shape) * spread
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape) * spread
    return on_device(values.astype(dtype))

def plain(results):
    """Arrays whose NaNs are alike, and their strides."""
    results = results if isinstance(results, tuple) else (results,)
    made = []
    for result in results:
        parts = [np.array(result.real), np.array(result.imag)]
        for part in parts:
            part[np.isnan(part)] = np.nan
        made += [result.dtype.str, result.strides, *parts]
    return made

def check(name, function, *operands, **keywords):
    attempt(name, lambda: plain(function(*operands, **keywords)))

def stays(name, function, *operands, **keywords):
    """The result, and whether the operands stayed on the device."""
    values = []
    moved = moved_by(lambda: values.append(function(*operands, **keywords)))
    dump(name, plain(values[0]))
    dump("stays " + name, moved["download_bytes"] < 32768)

def stable(order, dtype):
    """A filter, mostly one whose results are bounded; of no function that the device rounds otherwise."""
    a = np.concatenate([[1.7], rng.standard_normal(order) * (0.5 / order)])
    if np.dtype(dtype).kind == "c":
        a = a + 1j * np.concatenate([[0.4], rng.standard_normal(order) * (0.5 / order)])
    return rng.standard_normal(order + 1).astype(dtype), a.astype(dtype)

SOS = np.array([[0.25, 0.5, 0.25, 1, -0.75, 0.375], [1, -2, 1, 1, -0.5, 0.125], [0.5, 0.25, 0, 1, 0.25, 0.5]])
'''
ON_DEVICE = {"scipy.signal.lfilter", "scipy.signal.sosfilt"}


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipyFilters(shim_runner.TestCase):
    def compare(self, script, *wanted, **tolerances):
        result = self.assert_same(PRELUDE + script, **tolerances)
        ran = {row["name"].split()[0] for row in result.report["operations"] if row["device_calls"]}
        self.assertLessEqual(set(wanted), ran)

    def test_upfirdn(self):
        self.compare('''
for dtype in "f", "d", "F", "D":
    for up, down in (1, 1), (1, 3), (3, 1), (2, 3), (4, 6), (5, 2):
        for taps in 1, 2, 5, 12:
            h = rng.standard_normal(taps).astype(dtype)
            for length in 1, 4, 30001:
                (stays if length * up > 16384 * down else check)("%s %d %d %d %d" % (dtype, up, down, taps, length), signal.upfirdn, h, numbers((length,), dtype), up, down)
    x = numbers((30, 27, 40), dtype)
    for axis in 0, 1, -1:
        stays("%s axis %d" % (dtype, axis), signal.upfirdn, h, x, 3, 2, axis)
        check("%s strided %d" % (dtype, axis), signal.upfirdn, h, x[::2, ::-1, 1:].swapaxes(0, 1), 2, 5, axis)
    stays("poly " + dtype, signal.resample_poly, numbers((60000,), dtype), 2, 3, window=h)
    x = numbers((60,), dtype)
    x[[3, 20, 41, 59]] = np.nan, np.inf, -0.0, -np.inf
    check("special " + dtype, signal.upfirdn, h, x, 3, 2)
    for value in np.inf, np.nan:
        check("weight %s %s" % (value, dtype), signal.upfirdn, np.array([1, value, 2], dtype), x, 3, 2)
check("zeros", signal.upfirdn, [-1.0, 0.0, -0.0], on_device(-np.zeros(50)), 2, 1)
check("none", signal.upfirdn, h, on_device(np.zeros((0, 5))), 2, 1)
x = numbers((50,), "d")
for mode in "symmetric", "wrap", "edge":
    check(mode, signal.upfirdn, h, x, 2, 3, mode=mode)
check("value", signal.upfirdn, h, x, 2, 3, cval=1.5)
check("complex", signal.upfirdn, h, numbers((50,), "D"), 2, 3)
check("integers", signal.upfirdn, [1, 2, 3], on_device(np.arange(50)), 2, 3)
check("many", signal.upfirdn, rng.standard_normal(600), x, 7, 3)
check("bad", signal.upfirdn, h, x, 0, 3)
''')

    def test_lfilter(self):
        self.compare('''
for dtype, orders in {"f": (1, 32), "d": (1, 3, 8, 32, 33), "F": (2,), "D": (1, 4)}.items():
    for order in orders:
        b, a = stable(order, dtype)
        for shape in ((1, 20000), (150, 160), (160, 150, 2), (20000, 1), (3, 7000), (40000,)):
            x = numbers(shape, dtype)
            for axis in range(-1, len(shape) - 1):
                name = "%s %d %s %d" % (dtype, order, shape, axis)
                check(name, signal.lfilter, b, a, x, axis)
                states = list(shape)
                states[axis] = order
                zi = numbers(states, dtype)
                check(name + " zi", signal.lfilter, b, a, x, axis, zi)
''', "scipy.signal.lfilter")

    def test_layouts_and_dtypes(self):
        self.compare('''
b, a = stable(3, "d")
x = numbers((200, 300), "d")
for name, view in {"F": np.asfortranarray(x), "T": x.T, "reversed": x[::-1, ::-1], "part": x[3:, 5:250:2], "broadcast": np.broadcast_to(x[0], (150, 300)),
                   "volume": x.reshape(20, 10, 300).transpose(2, 0, 1)}.items():
    for axis in range(view.ndim):
        check("%s %d" % (name, axis), signal.lfilter, b, a, view, axis)
zi = numbers((200, 3), "d")
check("states for many lines", signal.lfilter, b, a, x, zi=zi[:1])
check("states of F", signal.lfilter, b, a, x, zi=np.asfortranarray(zi))
check("shorter", signal.lfilter, b[:2], a, x, zi=zi)
check("longer", signal.lfilter, b, a[:2], x, zi=zi)
dtypes = "?bBhHiIlLqQefdFDgG"
for of_filter in dtypes:
    for of_x in dtypes:
        check("%s %s" % (of_filter, of_x), signal.lfilter, (b * 3).astype(of_filter), np.array([1, 1, 0], of_filter), x.astype(of_x))
    check("states %s" % of_filter, signal.lfilter, b, a, x.astype("f"), zi=zi.astype(of_filter))
''', "scipy.signal.lfilter")

    def test_special_numbers(self):
        self.compare('''
for dtype in "fdFD":
    b, a = stable(4, dtype)
    x = numbers((60, 500), dtype)
    flat = x.reshape(-1)
    for place, value in enumerate((np.inf, -np.inf, np.nan, -0.0, 0.0, 1e300, 5e-324)):
        flat[place * 3000 + 100] = value
        if np.dtype(dtype).kind == "c":
            flat[place * 3000 + 1600] = complex(1, value)
    sos = np.tile(np.array([0.2, -0.0, 0.1, 1, -0.3, 0.2], dtype), (3, 1))
    for axis in (0, 1):
        check("%s %d" % (dtype, axis), signal.lfilter, b, a, x, axis)
        check("%s %d sos" % (dtype, axis), signal.sosfilt, sos, x, axis)
    for value in (0.0, -0.0, np.inf, np.nan, 5e-324, 1e-30, 1e30, -2.0, 1j, complex(0, np.nan)):
        if not (np.iscomplexobj(value) and dtype in "fd"):
            check("%s a[0] %s" % (dtype, value), signal.lfilter, b, np.array([value, 0.5, 0.25], dtype), x)
    for value in (np.inf, np.nan):
        check("%s b %s" % (dtype, value), signal.lfilter, np.array([1, value], dtype), a, x)
''', *ON_DEVICE)

    def test_sosfilt(self):
        self.compare('''
for dtype, numbers_of in {"f": (1, 16), "d": (1, 2, 5, 16, 17), "F": (2,), "D": (1, 3)}.items():
    for sections in numbers_of:
        sos = (rng.standard_normal((sections, 6)) * 0.4).astype(dtype)
        sos[:, 3] = 1
        for shape in ((1, 20000), (150, 160), (160, 150, 2), (20000, 1), (40000,)):
            x = numbers(shape, dtype)
            for axis in range(-1, len(shape) - 1):
                name = "%s %d %s %d" % (dtype, sections, shape, axis)
                check(name, signal.sosfilt, sos, x, axis)
                states = [sections, *shape]
                states[axis if axis < 0 else axis + 1] = 2
                zi = numbers(states, dtype)
                check(name + " zi", signal.sosfilt, sos, x, axis, zi)
from scipy.signal._sosfilt import _sosfilt
sos, x, zi = (np.array(part) for part in (sos.real, numbers((300, 200), "d"), numbers((300, 17, 2), "d")))
sos = sos[:3].copy()
zi = zi[:, :3].copy()
for name, arrays in {"itself": (sos, x, zi), "keywords": (sos, x[:, ::2], zi), "dtypes": (sos, x.astype("f"), zi), "few": (sos, x, zi[:5])}.items():
    if name != "few":  # which reads beyond the states
        attempt(name, _sosfilt, *arrays)
        dump(name + " x", x)
        dump(name + " zi", zi)
x.flags.writeable = False
attempt("read-only", _sosfilt, sos, x, zi)
attempt("by names", _sosfilt, sos=sos, x=x.copy(), zi=zi)
''', "scipy.signal.sosfilt")

    def test_invalid(self):
        self.compare('''
b, a = stable(3, "d")
x = numbers((200, 300), "d")
zi = numbers((200, 3), "d")
check("there", signal.lfilter, b, a, x)
for name, operands in {"axis": (b, a, x, 2), "low axis": (b, a, x, -3), "axis of float": (b, a, x, 1.0), "no b": ([], a, x), "no a": (b, [], x), "zero": (b, [0, 1], x),
                       "zi": (b, a, x, 1, zi[:, :2]), "zi lines": (b, a, x, 1, zi[:7]), "flat zi": (b, a, x, 1, zi[0]), "table": (b[None], a, x),
                       "objects": (b.astype(object), a, x), "words": (b, a, np.full((200, 300), "x")), "0-d": (b, a, np.float64(3)),
                       "empty": (b, a, x[:0]), "empty lines": (b, a, x[:, :0]), "integers": ([1, 2], [1, 1], x.astype(int)), "long": (np.ones(40), np.ones(50), x)}.items():
    check(name, signal.lfilter, *operands)
sos = SOS
for name, operands in {"axis": (sos, x, 2), "sos": (sos[:, :5], x), "first": (sos * 2, x), "zi": (sos, x, 1, zi), "empty": (sos, x[:0]), "empty lines": (sos, x[:, :0]),
                       "objects": (sos.astype(object), x[:5, :5]), "float16": (sos.astype("e"), x.astype("e"))}.items():
    check("sos " + name, signal.sosfilt, *operands)
class Kin(np.ndarray):
    pass
check("kin", signal.lfilter, b, a, x.view(Kin))
check("masked", signal.lfilter, b, a, np.ma.masked_array(x, x > 1))
check("no writing", signal.lfilter, b, a, np.broadcast_to(x, (200, 300)))
''', "scipy.signal.lfilter")

    def test_callers(self):
        self.compare('''
(b, a), sos = stable(4, "d"), SOS
x = numbers((300, 400), "d")
y = on_device(rng.standard_normal((300, 400)).astype("f"))
stays("lfilter", signal.lfilter, b, a, x)
stays("lfilter float", signal.lfilter, b.astype("f"), a.astype("f"), y)
stays("columns", signal.lfilter, b, a, x, 0)
stays("mixed", signal.lfilter, b, a, y)
stays("sosfilt", signal.sosfilt, sos, x)
stays("columns sosfilt", signal.sosfilt, sos, x, 0)
stays("states", signal.lfilter, b, a, x, zi=numbers((300, 4), "d"))
stays("filtfilt", signal.filtfilt, b, a, x)
stays("filtfilt columns", signal.filtfilt, b, a, x, 0)
stays("sosfiltfilt", signal.sosfiltfilt, sos, x)
stays("decimate", signal.decimate, x, 4, ftype=signal.dlti(b, a))
check("gust", signal.filtfilt, b, a, x, method="gust")
check("deconvolve", lambda: signal.deconvolve(x[0].copy(), [1.0, 2.0, 3.0])[0])
check("lfiltic", signal.lfiltic, b, a, x[0, :4], x[1, :4])
twice = signal.lfilter(b, a, signal.lfilter(b, a, x))
dump("twice", twice)
part = signal.lfilter(b, a, x)[:, 100:]
dump("part", part + 1)
''', *ON_DEVICE, rtol={"^gust": 1e-9})  # which also calls matmul

    def test_random_calls(self):
        self.compare('''
for number in range(150):
    dtype, of_filter = rng.choice(list("fdFDlhi")), rng.choice(list("fdFD"))
    ndim = int(rng.integers(1, 4))
    shape = [int(extent) for extent in rng.integers(1, 80 if ndim > 1 else 5000, ndim)]
    axis, order, sections = int(rng.integers(-ndim, ndim)), int(rng.choice([1, 2, 5])), int(rng.integers(1, 3))
    x = numbers(shape, dtype)
    if rng.random() < 0.5:
        x = np.asfortranarray(x)
    if rng.random() < 0.3:
        x = x[::-1]
    b, a = (rng.standard_normal(int(rng.choice([2, order + 1]))).astype(of_filter) * 0.5 for side in range(2))
    states = list(shape)
    states[axis] = max(len(a), len(b)) - 1
    zi = numbers(states, dtype) if rng.random() < 0.5 else None
    if zi is not None and ndim > 1 and rng.random() < 0.4:
        zi = zi.take([0], axis=(axis + 1) % ndim)
    check("lfilter %d" % number, signal.lfilter, b, a, x, axis, zi)
    sos = (rng.standard_normal((sections, 6)) * 0.5).astype(of_filter)
    sos[:, 3] = 1
    states[axis] = 2
    check("sosfilt %d" % number, signal.sosfilt, sos, x, axis, numbers([sections, *states], dtype) if rng.random() < 0.5 else None)
''', *ON_DEVICE)


# A module in the place of SciPy's, whose loop rounds as SciPy's, or by FACTOR otherwise. The path of SciPy's own is opened as
# SciPy opens it.
OTHER_BUILD = '''
import ctypes, importlib.util, os, sys, types
import numpy as np
from shim_script import dump
FACTOR = %s

def loop(b, a, x):
    order, results = len(a) - 1, np.zeros(x.shape)
    b, a = ([float(number) / float(a[0]) for number in table] for table in (b, a))
    for line, result in zip(x.tolist(), results):
        z = [0.0] * (order + 1)
        for i, number in enumerate(line):
            y = z[0] + b[0] * number
            for n in range(order):
                z[n] = (z[n + 1] + number * b[n + 1] - y * a[n + 1]) if n < order - 1 else number * b[order] - y * a[order]
            result[i] = y * FACTOR
    return results

class Definition(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p)]

called = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)(lambda self, args: loop(*args))
definition = Definition(b"_linear_filter", ctypes.cast(called, ctypes.c_void_p).value, 1, None)
create = ctypes.pythonapi.PyCFunction_NewEx
create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
module = types.ModuleType("scipy.signal._sigtools")
module._linear_filter = create(ctypes.addressof(definition), None, None)
sys.modules[module.__name__] = module
folder = os.path.join(importlib.util.find_spec("scipy").submodule_search_locations[0], "signal")
ctypes.CDLL(os.path.join(folder, next(name for name in os.listdir(folder) if name.startswith("_sigtools.") and name.endswith(".so"))))
for turn in range(1000):  # the hook is installed between two bytecodes
    pass
x = np.arange(9000.0).reshape(90, 100) / 7
dump("y", module._linear_filter(np.array([0.3, 0.7, 0.1]), np.array([1.7, 0.3, 0.2]), x))
'''


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestOtherBuilds(shim_runner.TestCase):
    def calls(self, factor):
        report = self.assert_same(OTHER_BUILD % factor, device=None).report
        return sum(row["device_calls"] for row in report["operations"] if row["name"] == "scipy.signal.lfilter")

    def test_a_loop_with_the_same_bits_is_taken(self):
        self.assertEqual(self.calls("1.0"), 1)

    def test_another_one_is_left_alone(self):
        self.assertEqual(self.calls("1 + 2.0 ** -52"), 0)


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestPrice(shim_runner.TestCase):
    """A GPU takes longer for a step than the CPU, so it takes many lines to pay."""

    def calls(self, shape):
        result = shim_runner.run('''
import numpy as np
from scipy import signal
x = np.zeros(%s)
x += 1
for turn in range(30):  # the kernel may be compiled beside the first ones
    signal.lfilter([0.5, 0.25, 0.125], [1.0, -0.5, 0.25], x)
''' % (shape,), env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"})
        self.assertEqual(result.returncode, 0, result)
        row, = (row for row in result.report["operations"] if row["name"] == "scipy.signal.lfilter")
        return row["device_calls"], row["host_calls"]

    def test_few_lines_stay_on_the_cpu(self):
        self.assertEqual(self.calls((2, 150000)), (0, 30))

    def test_many_lines_do_not(self):
        self.assertGreater(self.calls((6000, 500))[0], 0)


if __name__ == "__main__":
    unittest.main()
