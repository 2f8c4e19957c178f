# SPDX-License-Identifier: Apache-2.0
"""Code of other people round ours: what watches a program's Python code sees what it sees without gpushim, and who stands in
front of malloc and memcpy is not called by gpushim's threads.
"""
import os
import subprocess
import tempfile
import unittest

import shim_runner

WATCHED = '''
import builtins, os, sys, threading
import numpy as np
import numpy.ma
a = np.arange(300_000) * 1.0
seen, depth = [], [0]

def note(*event):
    if not depth[0]:
        depth[0] = 1
        seen.append(event)
        depth[0] = 0

def name_of(code):
    return os.path.basename(code.co_filename), code.co_name

def trace(frame, event, argument):
    note("trace", event, *name_of(frame.f_code), frame.f_lineno)
    return trace

def profile(frame, event, argument):
    note("profile", event, *name_of(frame.f_code), getattr(argument, "__name__", "") if event.startswith("c_") else "")

def replace(name):
    original = getattr(builtins, name)
    def recorder(*args, **kwargs):
        note("builtin", name)
        return original(*args, **kwargs)
    setattr(builtins, name, recorder)

def work():
    b = (a + 1).sum()
    for f in np.sum, np.mean, np.std, np.max, np.min, np.any, np.all, np.prod:
        b += float(f(a * 1e-9))
    c = a.reshape(300, 1000)
    c = np.where(c > 5, c, c.mean(axis=0))[np.arange(100)]
    c[c > 7] = 3
    c = np.concatenate([c, c @ np.ones((1000, 1000)), np.take(c, [1, 2], axis=0)]).round(2)
    d = np.linalg.inv(np.eye(50) * 2) + np.fft.fft(np.ones((50, 50))).real
    return b, c.sum(), d.sum(), np.einsum("ij->i", d).sum(), np.cumsum(d)[-1], np.add.reduceat(d, [0, 3]).sum()

kind = sys.argv[1]
if kind == "audit":
    sys.addaudithook(lambda event, arguments: note("audit", event))
elif kind == "builtins":
    for name in "len isinstance issubclass getattr max min sorted hasattr compile exec".split():
        replace(name)
elif kind == "trace":
    sys.settrace(trace)
elif kind == "profile":
    sys.setprofile(profile)
elif kind == "monitoring" and hasattr(sys, "monitoring"):
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(0, "test")
    watched = events.PY_START, events.PY_RETURN, events.CALL, events.C_RETURN, events.C_RAISE   # the last three go together
    for event in watched:
        sys.monitoring.register_callback(0, event, lambda code, *rest, event=event: note("monitoring", event, *name_of(code)))
    sys.monitoring.set_events(0, sum(watched))
result = work()
depth[0] = 1
sys.settrace(None)
sys.setprofile(None)
print(["%.9g" % x for x in result], len(seen))
for event in seen:
    print(*event)
'''

# As a profiler does that samples in these functions: with Python's global lock, which another thread may hold.
IN_FRONT = r'''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void __libc_free(void *);
extern int Py_IsInitialized(void) __attribute__((weak)), PyGILState_Check(void) __attribute__((weak));
extern int PyGILState_Ensure(void) __attribute__((weak));
extern void PyGILState_Release(int) __attribute__((weak));
static __thread int inside __attribute__((tls_model("initial-exec")));
static int is_on;
__attribute__((visibility("default"))) void sample_from_now(int on) { is_on = on; }
#ifdef IS_ALLOCATOR
int mallctl(void) { return 0; }
#endif
static void sample(void)
{
    if (!is_on || inside || !Py_IsInitialized || !Py_IsInitialized())
        return;
    inside = 1;
    if (!PyGILState_Check())
        PyGILState_Release(PyGILState_Ensure());
    inside = 0;
}
void *malloc(size_t size) { sample(); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { sample(); return __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { sample(); return __libc_realloc(memory, size); }
void *aligned_alloc(size_t alignment, size_t size) { sample(); return __libc_memalign(alignment, size); }
void free(void *memory) { sample(); __libc_free(memory); }
void *memcpy(void *to, const void *from, size_t size)
{
    sample();
    volatile char *at = to;
    for (size_t i = 0; i < size; i++)
        at[i] = ((const char *)from)[i];
    return to;
}
void *memmove(void *to, const void *from, size_t size)
{
    if ((const char *)to <= (const char *)from)
        return memcpy(to, from, size);
    sample();
    volatile char *at = to;
    while (size-- > 0)
        at[size] = ((const char *)from)[size];
    return to;
}
void *memset(void *to, int byte, size_t size)
{
    sample();
    volatile char *at = to;
    for (size_t i = 0; i < size; i++)
        at[i] = (char)byte;
    return to;
}
'''

SAMPLED = '''
import ctypes
import numpy as np
ctypes.PyDLL(None).sample_from_now(1)
def work(i):
    a = np.arange(300_000) * 1.0
    b = np.sqrt(a * 2 + i)
    total = float(b[7]) + b[::1000].sum()
    b[3] = 1
    c = np.add.reduce(b.reshape(300, 1000), axis=0)
    return total + sum(memoryview(c)[:10]) + np.frombuffer(b.tobytes()).sum()
for i in range(5):
    print("%.9g" % work(i))
ctypes.PyDLL(None).sample_from_now(0)
'''


class TestOthersCode(shim_runner.TestCase):
    def test_what_watches_python_code_sees_none_of_ours(self):
        for kind in "audit", "builtins", "trace", "profile", "monitoring":
            with self.subTest(kind):
                self.assert_same(WATCHED, args=(kind,))

    def run_behind(self, macros, script, shim):
        """Under a library in front of malloc and memcpy."""
        with tempfile.TemporaryDirectory(prefix="shim-front-") as folder:
            source, library = os.path.join(folder, "front.c"), os.path.join(folder, "front.so")
            with open(source, "w", encoding="utf-8") as stream:
                stream.write(IN_FRONT)
            compiler = shim_runner.find_tool("cc")
            subprocess.run([compiler, "-O1", "-fno-builtin", "-shared", "-fPIC", *macros, "-o", library, source], check=True)
            preload = library + ":" + shim_runner.LIBRARY if shim else library
            return shim_runner.run(script, shim, {"OPENBLAS_NUM_THREADS": "1", "GPUSHIM_HOST_THREADS": "2", "LD_PRELOAD": preload},
                                   timeout=60)

    def test_memory_functions_that_take_the_global_lock(self):
        """On a GPU they would be called by CUDA's libraries: it is left alone."""
        plain, shimmed = self.run_behind([], SAMPLED, False), self.run_behind([], SAMPLED, True)
        self.assertEqual(plain.returncode, 0, repr(plain))
        self.assertEqual((shimmed.returncode, shimmed.stdout), (0, plain.stdout), repr(shimmed))
        if shim_runner.DEVICE == "cuda":
            self.assertRegex(shimmed.stderr, r"^gpushim: .*malloc is that of /\S+/front.so")
        else:
            self.assert_on_device(shimmed, "sqrt")

    def test_addresses_of_arrays_that_are_gone(self):
        """Nobody has used the memory since: it holds what the array held."""
        result = self.assert_same("""
import ctypes
import numpy as np
libc = ctypes.CDLL(None, use_errno=True)
libc.mallopt(-1, 1 << 30), libc.mallopt(-3, 1 << 30)  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD: plain NumPy's memory stays
base = np.arange(30_000.0)
def interface(array):
    return array.__array_interface__["data"][0]
for address_of in (lambda array: array.ctypes.data), interface:
    for array in (lambda: base * 2), (lambda: (base * 2)[10_000:]), (lambda: np.sqrt(base).reshape(3, -1)):
        found = (ctypes.c_double * 5).from_address(address_of(array()) + 800)
        print("contents", list(found))
""")
        self.assert_on_device(result, "multiply")

    def test_the_kernel_reads_and_writes_arrays_that_are_gone(self):
        """In plain NumPy the allocator has its records at the beginning of such memory: there is no plain run."""
        result = shim_runner.run("""
import ctypes
import numpy as np
libc, base, text = ctypes.CDLL(None), np.arange(30_000.0), np.frombuffer(b"/dev/null".ljust(200_000, b"\\0"), np.uint8)
for address_of in (lambda array: array.ctypes.data), (lambda array: array.__array_interface__["data"][0]):
    print("read", libc.open(ctypes.c_void_p(address_of(text + np.uint8(0))), 0) > 0)
    print("written", libc.uname(ctypes.c_void_p(address_of(base * 3))))
print((base * 3)[:3])
""")
        self.assertEqual((result.returncode, result.stdout), (0, "read True\nwritten 0\n" * 2 + "[0. 3. 6.]\n"), repr(result))
        self.assert_on_device(result, "multiply")

    def test_addresses_that_numpy_asks_for(self):
        """Windows of an array keep it alive: its contents need not be fetched when both are gone."""
        result = shim_runner.run("""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
base = np.arange(30_000.0)
for _ in range(5):
    array = base * 2
    windows = sliding_window_view(array, 100)
    total = np.add(windows[:10], 1)
    del array, windows, total
""")
        self.assertEqual(result.returncode, 0, repr(result))
        self.assertLess(shim_runner.counter(result.report, "download_bytes"), 100_000)  # an array has 240,000
        self.assert_on_device(result, "multiply")

    def test_an_allocator_in_front(self):
        result = self.run_behind(["-DIS_ALLOCATOR"], SAMPLED.replace("sample_from_now(1)", "sample_from_now(0)"), True)
        self.assertEqual((result.returncode, result.stderr), (0, ""), repr(result))
        self.assert_on_device(result, "sqrt")


if __name__ == "__main__":
    shim_runner.main()
