# SPDX-License-Identifier: Apache-2.0
"""Other users of CUDA in the process, on arrays in every state: on emulated CUDA libraries by the driver's own
functions, which there refuse memory that is closed (tests/emulation), on a GPU by the libraries that people use.
"""
import functools
import importlib.util
import unittest

import shim_runner

PRELUDE = '''
import ctypes, os, sys
import numpy as np
shim, cu = ctypes.CDLL(None), ctypes.CDLL("libcuda.so.1")
P, Z, D, U = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ulonglong, ctypes.c_uint
def call(function, *arguments, wanted=0):
    function = getattr(cu, function) if isinstance(function, str) else function
    got = function(*arguments)
    assert got == wanted, (function, got)
def where(a): return shim.gpushim_residency(P(a.ctypes.data))
def at(a): return P(a.ctypes.data)
context = P()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
def memory(size):
    p = D()
    call("cuMemAlloc_v2", ctypes.byref(p), Z(size))
    return p
def stream():
    s = P()
    call("cuStreamCreate", ctypes.byref(s), 1)
    return s
def proc(name, version=13000, flags=0):
    f, status = P(), U()
    call("cuGetProcAddress_v2", name.encode(), ctypes.byref(f), version, D(flags), ctypes.byref(status))
    return ctypes.CFUNCTYPE(ctypes.c_int)(f.value)
def on_device(n, pending=False):
    a = np.sqrt(np.arange(n) * 1.5 + 1) * 2
    if not pending: shim.gpushim_synchronize()
    assert where(a) == 3, where(a)
    return a
def wanted(n): return np.sqrt(np.arange(n) * 1.5 + 1) * 2
def what_is_at(p, n):
    data = (ctypes.c_double * n)()
    call("cuMemcpyDtoH_v2", data, p, Z(8 * n))
    return np.frombuffer(data, count=n).copy()
SIZES = 6000, 1 << 18
def check(name, got, want):
    if not np.array_equal(got, want): print(name, "differs:", got[:3], got[-3:], want[-3:])
'''


def script(body):
    return PRELUDE + body + '\nprint("done")\n'


def only_emulated(test):
    @functools.wraps(test)
    def run(self):
        if not shim_runner.is_emulated():
            self.skipTest("runs on the emulated CUDA libraries (GPUSHIM_DEVICE=cuda, LD_LIBRARY_PATH)")
        test(self)
    return run


class TestDriverFunctions(shim_runner.TestCase):

    def check(self, body, env=None):
        result = self.shim_run(script(body), env={"EMULATED_DEFAULT_STREAM": "1", **(env or {})})
        self.assertEqual(result.stdout, "done\n", repr(result))
        return result

    @only_emulated
    def test_copies_from_arrays(self):
        """From resident and pending arrays the copy stays within the device, and the array where it is."""
        result = self.check('''
s = stream()
copies = {
    "cuMemcpyHtoD_v2": lambda p, a: call("cuMemcpyHtoD_v2", p, at(a), Z(a.nbytes)),
    "cuMemcpyHtoD_v2_ptds": lambda p, a: call("cuMemcpyHtoD_v2_ptds", p, at(a), Z(a.nbytes)),
    "cuMemcpyHtoDAsync_v2": lambda p, a: call("cuMemcpyHtoDAsync_v2", p, at(a), Z(a.nbytes), s),
    "cuMemcpy": lambda p, a: call("cuMemcpy", p, at(a), Z(a.nbytes)),
    "cuMemcpyAsync": lambda p, a: call("cuMemcpyAsync", p, at(a), Z(a.nbytes), s),
    "by address": lambda p, a: call(proc("cuMemcpyHtoD"), p, at(a), Z(a.nbytes)),
    "of a stream by address": lambda p, a: call(proc("cuMemcpyHtoDAsync", flags=2), p, at(a), Z(a.nbytes), s),
    "by an address by address": lambda p, a: call(through(), p, at(a), Z(a.nbytes)),
}
def through():
    f, status = P(), U()
    call(proc("cuGetProcAddress"), b"cuMemcpyHtoD", ctypes.byref(f), 12000, D(0), ctypes.byref(status))
    return ctypes.CFUNCTYPE(ctypes.c_int)(f.value)
for n in SIZES:
    for pending in (False, True):
        for name, copy in copies.items():
            a, p = on_device(n, pending), memory(8 * n)
            copy(p, a)
            if where(a) != 3: print(name, "fetched the array")
            call("cuStreamSynchronize", s)
            check(name, what_is_at(p, n), wanted(n))
            a, p = on_device(n, pending), memory(8 * n)
            copy(p, a[5:-7])
            call("cuStreamSynchronize", s)
            check(name + " of a view", what_is_at(p, n)[:n - 12], wanted(n)[5:-7])
''')
        self.assertGreater(shim_runner.counter(result.report, "device_copy_bytes"), 64 * 8 * 6000)

    @only_emulated
    def test_what_is_written_meanwhile_is_not_copied(self):
        """An asynchronous copy has read its array when it returns, whoever writes to it next."""
        self.check('''
s = stream()
writes = {
    "the host": lambda a: a.fill(7),
    "an element": lambda a: a.__setitem__(-1, 7),
    "the device": lambda a: np.multiply(a, 0, out=a),
    "a part": lambda a: np.add(a[9:], 1, out=a[9:]),
    "a part and the device": lambda a: (a.__setitem__(3, 7), np.sqrt(a)),
    "nobody any more": lambda a: None,
}
for n in SIZES:
    for name, write in writes.items():
        for turn in range(4):
            a, p = on_device(n, turn % 2), memory(8 * n)
            call("cuMemcpyHtoDAsync_v2", p, at(a), Z(a.nbytes), s)
            write(a); b = np.sqrt(a); del a; c = on_device(n); shim.gpushim_synchronize()
            call("cuStreamSynchronize", s)
            check(name, what_is_at(p, n), wanted(n))
        a, p = np.ones(n) * 2, memory(8 * n)      # on both sides, and page-locked
        np.sqrt(a); a[:] = 5; np.sqrt(a); shim.gpushim_synchronize(); memoryview(a)[0] = 5
        call("cuMemcpyHtoDAsync_v2", p, at(a), Z(a.nbytes), s)
        a[:] = 6
        call("cuStreamSynchronize", s)
        check(name + ", of the host", what_is_at(p, n), np.full(n, 5.0))
''')

    @only_emulated
    def test_copies_into_arrays(self):
        """They have arrived when the call returns, and the device's copy is dropped."""
        self.check('''
s = stream()
copies = {
    "cuMemcpyDtoH_v2": lambda a, p: call("cuMemcpyDtoH_v2", at(a), p, Z(a.nbytes)),
    "cuMemcpyDtoHAsync_v2": lambda a, p: call("cuMemcpyDtoHAsync_v2", at(a), p, Z(a.nbytes), s),
    "cuMemcpyAsync": lambda a, p: call("cuMemcpyAsync", at(a), p, Z(a.nbytes), s),
    "cuMemcpy": lambda a, p: call("cuMemcpy", at(a), p, Z(a.nbytes)),
    "by address": lambda a, p: call(proc("cuMemcpyDtoHAsync", flags=2), at(a), p, Z(a.nbytes), s),
}
makes = {
    "resident": on_device, "pending": lambda n: on_device(n, True), "blank": np.empty, "zero": np.zeros,
    "on both sides": lambda n: (lambda a: (a[0], a)[1])(on_device(n)),
}
for n in SIZES:
    p, source = memory(8 * n), np.arange(float(n))
    call("cuMemcpyHtoD_v2", p, at(source), Z(8 * n))
    for name, copy in copies.items():
        for state, make in makes.items():
            a = make(n)
            copy(a, p)
            b = a + 1
            check(name + " into " + state, b, np.arange(1.0, n + 1))
            check(name + " into " + state, a, np.arange(float(n)))
            a = make(n)
            copy(a[5:-7], p)
            check(name + " into a part of " + state, a[5:-7] * 1, np.arange(float(n - 12)))
            if state in ("resident", "pending"): check("around", a[-7:], wanted(n)[-7:])
    call("cuMemsetD8_v2", at(a), 0, Z(a.nbytes))
    check("set", a * 2, np.zeros(n))
''')

    @only_emulated
    def test_rows_and_batches(self):
        self.check('''
class Side(ctypes.Structure):
    _fields_ = [("x", Z), ("y", Z), ("type", U), ("host", P), ("device", D), ("array", P), ("pitch", Z)]
class Copy2D(ctypes.Structure):
    _fields_ = [("src", Side), ("dst", Side), ("width", Z), ("height", Z)]
s = stream()
for pending in (False, True):
    for run in (lambda c: call("cuMemcpy2D_v2", ctypes.byref(c)), lambda c: call("cuMemcpy2DAsync_v2", ctypes.byref(c), s)):
        a = on_device(1 << 18, pending).reshape(512, 512); p = memory(a.nbytes)
        c = Copy2D(Side(16, 3, 1, at(a), 0, None, 4096), Side(0, 0, 2, None, p, None, 800), 800, 500)
        run(c)
        call("cuStreamSynchronize", s)
        check("rows", what_is_at(p, 50000).reshape(500, 100), wanted(1 << 18).reshape(512, 512)[3:503, 2:102])
        b = on_device(1 << 18, pending).reshape(512, 512)
        run(Copy2D(Side(0, 0, 2, None, p, None, 800), Side(16, 3, 4, None, b.ctypes.data, None, 4096), 800, 500))
        want = wanted(1 << 18).reshape(512, 512)
        check("rows back", b * 1, want)
a, b = on_device(1 << 18), on_device(6000, True); c = on_device(1 << 18)
p, q = memory(a.nbytes), memory(b.nbytes)
numbers = lambda *values: (D * len(values))(*values)
call("cuMemcpyBatchAsync_v2", numbers(p.value, q.value, c.ctypes.data), numbers(a.ctypes.data, b.ctypes.data, p.value),
     numbers(a.nbytes, b.nbytes, c.nbytes), Z(3), None, None, Z(0), s)
call("cuStreamSynchronize", s)
check("batch", what_is_at(p, 1 << 18), wanted(1 << 18)); check("batch", what_is_at(q, 6000), wanted(6000))
check("batch", c * 1, wanted(1 << 18))
''')

    @only_emulated
    def test_captured_copies_stay_valid(self):
        """A copy that a stream captures runs when its graph is launched, and reads what the array holds then."""
        self.check('''
for n in SIZES:
    s, a, p = stream(), on_device(n), memory(8 * n)
    cu.emulatedCapture(s)
    call("cuMemcpyAsync", p, at(a), Z(a.nbytes), s)
    cu.emulatedCapture(None)
    cu.emulatedLaunch()
    check("captured", what_is_at(p, n), wanted(n))
    np.multiply(a, 2, out=a); b = a + 1
    cu.emulatedLaunch()
    check("captured", what_is_at(p, n), wanted(n) * 2)
    a[:] = 3; b = a + 1
    cu.emulatedLaunch()
    check("captured", what_is_at(p, n), np.full(n, 3.0))
''')

    @only_emulated
    def test_page_locking_by_others(self):
        """What they page-lock stays on the host until they unlock it, also where it is page-locked already; to them arrays are
        not otherwise."""
        self.check('''
kind = lambda a: (lambda v: (cu.cuPointerGetAttribute(ctypes.byref(v), 2, at(a)), v.value))(U())
for n in SIZES:
    a = on_device(n); b = a[0]; a[1] = 1; c = a + 1; shim.gpushim_synchronize()
    assert kind(a) == (1, 0), kind(a)
    for turn in range(3):
        want = a * 2
        call("cuMemHostRegister_v2", at(a), Z(a.nbytes), 1)
        assert kind(a) == (0, 1), kind(a)
        np.multiply(a, 2, out=a)
        assert where(a) in (0, 1), where(a)
        check("page-locked", np.frombuffer((ctypes.c_double * n).from_address(a.ctypes.data)), want)
        call("cuMemHostUnregister", at(a))
        assert kind(a) == (1, 0), kind(a)
        call("cuMemHostUnregister", at(a), wanted=1)
    np.multiply(a, 2, out=a)
    assert where(a) == 3
''')

    @only_emulated
    def test_others_get_memory_that_arrays_do_not_use(self):
        self.check('''
xs = [np.arange(4_000_000) * (1.0 + i) for i in range(6)]; s = [float(x.sum()) for x in xs]
p = D()
assert cu.cuMemAlloc_v2(ctypes.byref(p), Z(390_000_000)) == 2
del xs
call("cuMemAlloc_v2", ctypes.byref(p), Z(250_000_000))
call(proc("cuMemFree"), p)
call(proc("cuMemAlloc"), ctypes.byref(p), Z(250_000_000))
''', {"EMULATED_OTHERS_BYTES": "350000000"})

    @only_emulated
    def test_the_current_context_stays(self):
        self.check('''
import threading
def other():
    current, a = P(1), on_device(1 << 18)
    call("cuCtxSetCurrent", None)
    cu.cuMemcpyPeer(D(0), None, D(a.ctypes.data), None, Z(a.nbytes))      # fetches the array, whatever it says
    assert where(a) in (1, 2), where(a)
    call("cuCtxGetCurrent", ctypes.byref(current)); assert current.value is None, current
t = threading.Thread(target=other); t.start(); t.join()
''')

    @only_emulated
    def test_device_pointer(self):
        """The contents of the call's moment, until they are released, whatever becomes of the array."""
        self.check('''
shim.gpushim_device_pointer.restype = D
point = lambda a: shim.gpushim_device_pointer(at(a), Z(a.nbytes))
for n in SIZES:
    for pending in (False, True):
        a = on_device(n, pending)
        p, q, r = point(a), point(a[3:]), point(a)
        assert p and r == p and q == p + 24, (p, q, r)
        check("pointer", what_is_at(D(p), n), wanted(n))
        np.multiply(a, 2, out=a); a[5] = 1; b = np.sqrt(a); np.add(a[9:], 1, out=a[9:]); shim.gpushim_synchronize()
        check("after writes", what_is_at(D(p), n), wanted(n))
        del a; c = [on_device(n) for _ in range(20)]; shim.gpushim_synchronize()
        check("after the array", what_is_at(D(q), n - 3), wanted(n)[3:])
        assert [shim.gpushim_device_release(D(x)) for x in (p, q, r, p, 0)] == [1, 1, 1, 0, 0]
h = np.fromiter(range(1 << 18), "f8")  # on the CPU
assert point(h) == 0 and shim.gpushim_device_pointer(None, Z(8)) == 0 and shim.gpushim_device_pointer(at(c[0]), Z(0)) == 0
assert shim.gpushim_device_pointer(at(c[0]), Z(1 << 40)) == 0
''')

    @only_emulated
    def test_many_threads(self):
        self.check('''
import threading
bad = []
def work(seed):
    call("cuCtxSetCurrent", context)
    s, p = stream(), memory(8 * 50000)
    for i in range(40):
        a = np.arange(50000) * 1.0 + seed + i
        call("cuMemcpyHtoDAsync_v2", p, at(a), Z(a.nbytes), s)
        a += 1
        b = np.empty(50000)
        call("cuMemcpyDtoHAsync_v2", at(b), p, Z(b.nbytes), s)
        if b[-1] != 49999 + seed + i or float(a[-1]) != 50000 + seed + i: bad.append((seed, i, b[-1], a[-1]))
ts = [threading.Thread(target=work, args=(1000 * k,)) for k in range(4)]
for t in ts: t.start()
for t in ts: t.join()
if bad: print(bad[:5])
''')


class TestOpening(shim_runner.TestCase):
    """Who opens the driver: what is to be had, and what is not."""

    def test_without_a_driver_nothing_is_different(self):
        if shim_runner.DEVICE != "host":
            self.skipTest("is about machines without a driver (GPUSHIM_DEVICE=host)")
        self.assert_same('''
import ctypes, numpy as np
for name in ("libcuda.so.1", "libcuda.so", "/nowhere/libcuda.so.1", "libcuda.so.2"):
    try: ctypes.CDLL(name); print(name, "is there")
    except OSError as error: print(name, error)
print(hasattr(ctypes.CDLL(None), "cuInit"), hasattr(ctypes.CDLL(None), "cuMemcpyHtoD_v2"))
''', device=False)

    @only_emulated
    def test_the_driver_is_found_behind_it(self):
        result = self.shim_run('''
import ctypes, os
os.chdir("/")
cu = ctypes.CDLL("libcuda.so.1")
again = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
print(cu._handle == again._handle, hasattr(cu, "cuStreamCreate"), hasattr(cu, "cuNoSuchFunction"))
print(any("libgpushim_cuda" in line for line in open("/proc/self/maps")))
''')
        self.assertEqual(result.stdout, "True True False\nTrue\n", repr(result))

    @only_emulated
    def test_switched_off_it_is_the_driver_itself(self):
        result = self.shim_run('''
import ctypes
cu = ctypes.CDLL("libcuda.so.1")
print(any("libgpushim_cuda" in line for line in open("/proc/self/maps")))
''', env={"GPUSHIM_MODE": "off"})
        self.assertEqual(result.stdout, "False\n", repr(result))


LIBRARIES = {
    "cupy": '''
import cupy
def put(a): return cupy.asarray(a)
def get(g): return g.get()
def into(a, value): cupy.full(a.shape, value).get(out=a)
''',
    "torch": '''
import torch
def put(a): return torch.from_numpy(a).cuda()
def get(g): return g.cpu().numpy()
def into(a, value): torch.from_numpy(a).copy_(torch.full(a.shape, value, dtype=torch.float64, device="cuda"))
c = np.arange(1 << 18) * 2.0
t = torch.from_numpy(c)
p = t.pin_memory(); c[...] = 0
assert not t.is_pinned() and float(p[-1]) == 2 * ((1 << 18) - 1)
''',
    "numba": '''
from numba import cuda
def put(a): return cuda.to_device(a)
def get(g): return g.copy_to_host()
def into(a, value): cuda.to_device(np.full(a.shape, value)).copy_to_host(a)
''',
    "jax": '''
import jax
jax.config.update("jax_enable_x64", True)
def put(a): return jax.device_put(a)
def get(g): return np.asarray(g)
def into(a, value): a[...] = np.asarray(jax.numpy.full(a.shape, value))
''',
}


class TestLibraries(shim_runner.TestCase):
    """CuPy, PyTorch, numba and JAX on a GPU: arrays in all states, small and large, changed right after the copy."""

    def check(self, name):
        if shim_runner.DEVICE != "cuda" or shim_runner.is_emulated():
            self.skipTest("needs a GPU")
        if importlib.util.find_spec(name) is None:
            self.skipTest("%s is not installed" % name)
        for mode in ("force", "auto"):
            result = self.shim_run('''
import ctypes, numpy as np
shim = ctypes.CDLL(None)
''' + LIBRARIES[name] + '''
def make(n, state):
    a = np.sqrt(np.arange(n) * 1.5 + 1) * 2
    if state == "resident": shim.gpushim_synchronize()
    if state == "both": memoryview(a)[0]
    if state == "host": memoryview(a)[0] = a[0]
    return a
for n in (1, 700, 6000, 1 << 18, (1 << 20) + 3):
    want = make(n, "host").copy(); want[0] = want[0]
    for state in ("resident", "pending", "both", "host"):
        g = put(make(n, state))
        if not np.array_equal(get(g), want): print("copy", n, state)
        a = make(n, state); g = put(a[n // 3:]); b = a * 2
        if not np.array_equal(get(g), want[n // 3:]): print("view", n, state)
        a = make(n, state); into(a, 3.5)
        if float(a.sum()) != 3.5 * n or not (a * 2 == 7).all(): print("into", n, state)
print("done")
''', env={"GPUSHIM_MODE": mode}, timeout=100)
            self.assertEqual(result.stdout, "done\n", repr(result))

    def test_cupy(self):
        self.check("cupy")

    def test_torch(self):
        self.check("torch")

    def test_numba(self):
        self.check("numba")

    def test_jax(self):
        self.check("jax")


if __name__ == "__main__":
    shim_runner.main()
