# SPDX-License-Identifier: Apache-2.0
"""Who reads and writes arrays without a page fault: the program's own changes of pages, the kernel behind io_uring and
Linux's asynchronous I/O, /proc/self/mem, other processes. Output as plain.
"""
import os
import subprocess
import tempfile
import unittest
import unittest.mock

import shim_runner

PAGES = '''
import ctypes, mmap
import numpy as np
from shim_script import dump as dump_once, on_device
libc = ctypes.CDLL(None, use_errno=True)
libc.mremap.restype = ctypes.c_void_p
PAGE, READ, WRITE, DONTNEED = 4096, 1, 2, 4
def dump(name, value): dump_once("%s %s" % (name, shared), value)
def fresh(shared):
    a = on_device(np.arange(float(1 << 18))) + 1.0
    if shared: float(a[0])
    return a
def pages(a):
    """Two whole pages of the array: their address, the index of their first element."""
    skip = -a.ctypes.data % PAGE
    return ctypes.c_void_p(a.ctypes.data + skip), ctypes.c_size_t(2 * PAGE), skip // 8
for shared in (False, True):
    a = fresh(shared); at, size, i = pages(a)
    dump("read-only", libc.mprotect(at, size, READ)); dump("sum", float((a + 1.0).sum()))
    dump("open", libc.mprotect(at, size, READ | WRITE))
    a[i] = 100.0; dump("written", [a[i], (a + 1.0)[i], a[-1]]); a[i] = 101.0; dump("again", (a * 2.0)[i])
    a += 1.0; dump("in place", [a[i], a[1], a[-1]])
    b = fresh(shared); at, size, i = pages(b)
    dump("advice", libc.madvise(at, size, DONTNEED)); dump("dropped", [b[i], (b + 1.0)[i], b[-1]])
    c = fresh(shared); at, size, i = pages(c)
    moved = libc.mremap(at, size, size, 1 | 4, None)   # MAYMOVE, DONTUNMAP
    dump("moved", [ctypes.c_double.from_address(moved).value - i, c[i], (c + 1.0)[i], c[-1]])
    libc.munmap(ctypes.c_void_p(moved), size)
    d = fresh(shared); at, size, i = pages(d)
    libc.mlock(at, size); dump("locked", [(d + 1.0)[i] - i, d[i] - i]); libc.munlock(at, size)
    del a, b, c, d
    dump("afterwards", [float((fresh(s) + np.zeros(1 << 18)).sum()) for s in (False, True) * 3])
'''

HEAD = '''
import ctypes, mmap, os, struct, tempfile
import numpy as np
from shim_script import dump, on_device, report
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
N = 1 << 18
def fresh(shared=False):
    a = on_device(np.arange(float(N))) + 1.0
    if shared: float(a[0])
    return a
'''

# The kernel writes into the first half while the second half is used, then into all of an array that was used since it was
# made known to it.
IO_URING = HEAD + '''
early = [fresh(), fresh(True)]
p = ctypes.create_string_buffer(120); ring = libc.syscall(425, 4, p)
values, sq, cq = (struct.unpack("10I", p.raw[k:k + 40]) for k in (0, 40, 80))
shared = mmap.mmap(ring, sq[6] + values[0] * 4 + 8192, offset=0); entries = mmap.mmap(ring, 64 * values[0], offset=0x10000000)
tail = 0
def submit(operation, fd, at, address, size):
    global tail
    k = tail % values[0]
    entries[64 * k:64 * k + 64] = struct.pack("BBHiQQII", operation, 0, 0, fd, at, address, size, 0) + bytes(32)
    struct.pack_into("I", shared, sq[6] + 4 * k, k); tail += 1; struct.pack_into("I", shared, sq[1], tail)
    return libc.syscall(426, ring, 1, 0, 0, None, 0)
def wait():
    libc.syscall(426, ring, 0, 1, 1, None, 0)
    result = struct.unpack_from("QiI", shared, cq[5] + 16 * ((tail - 1) % values[1]))[1]
    struct.pack_into("I", shared, cq[0], tail); return result
def pipe_of(value):
    ends = os.pipe(); os.write(ends[1], np.full(1000, value).tobytes()); return ends[0]
READ, READ_FIXED, NOWHERE = 22, 4, (1 << 64) - 1
for k, a in enumerate(early):
    submit(READ, pipe_of(7.0), NOWHERE, a.ctypes.data, 8000)
    dump("early %d" % k, [wait(), float(a[5]), float((a + 1.0)[5]), float((a + 1.0).sum())])
a = fresh(); ends = os.pipe(); submit(READ, ends[0], NOWHERE, a.ctypes.data, 8000)
dump("other half", float((a[N // 2:] + 1.0).sum())); os.write(ends[1], np.full(1000, 9.0).tobytes())
dump("in flight", [wait(), float((a + 1.0)[5]), float((a * 2.0).sum())])
b = fresh(); dump("registered", libc.syscall(427, ring, 0, struct.pack("QQ", b.ctypes.data, b.nbytes), 1)); b += 1.0
submit(READ_FIXED, pipe_of(8.0), NOWHERE, b.ctypes.data, 8000); dump("fixed", [wait(), float(b[5]), float((b + 1.0)[5]), float(b.sum())])
for k in range(20): a = a * 1.0 + b
dump("later", float(a.sum()))
'''

LINUX_AIO = HEAD + '''
early = fresh()
context = ctypes.c_ulong(); libc.syscall(206, 8, ctypes.byref(context))
name = os.path.join(tempfile.mkdtemp(), "data"); np.full(512, 7.0).tofile(name); fd = os.open(name, os.O_RDONLY)
def read_into(a):
    block = ctypes.create_string_buffer(struct.pack("QIIHhIQQqQII", 0, 0, 0, 0, 0, fd, a.ctypes.data, 4096, 0, 0, 0, 0))
    pointer = ctypes.c_void_p(ctypes.addressof(block)); done = libc.syscall(209, context, 1, ctypes.byref(pointer))
    events = ctypes.create_string_buffer(32); libc.syscall(208, context, 1, 1, events, None)
    return [done, struct.unpack("QQqq", events.raw)[2]]
for k in range(3):
    dump(k, read_into(early) + [float(early[5]), float((early + 1.0)[5]), float(early.sum())]); early += 1.0
os.remove(name)
'''

OWN_MEMORY = HEAD + '''
os.chdir("/proc/self")
def opened(path):
    if HOW == "open": return os.open(path, os.O_RDWR)
    if HOW == "openat": return os.open("mem", os.O_RDWR, dir_fd=os.open("/proc/self", os.O_RDONLY))
    if HOW == "fopen":
        libc.fopen.restype = ctypes.c_void_p; return libc.fileno(ctypes.c_void_p(libc.fopen(b"mem", b"r+")))
    if HOW == "syscall": return libc.syscall(257, -100, b"/proc/self/mem", os.O_RDWR)
    if HOW == "task": return os.open("/proc/%d/task/%d/mem" % (os.getpid(), os.getpid()), os.O_RDWR)
early = [fresh(), fresh(True)]
fd = opened("/proc/self/mem"); file = open(fd, "r+b", 0)
for k, a in enumerate(early + [fresh()]):
    file.seek(a.ctypes.data + 80); dump("read %d" % k, file.read(8)); file.seek(a.ctypes.data + 80)
    file.write(np.array([7.0]).tobytes()); dump("written %d" % k, [float(a[10]), float((a + 1.0)[10])])
    a += 1.0; file.seek(a.ctypes.data + 80); dump("again %d" % k, file.read(8))
'''

# A library of that name is opened before or after NumPy is loaded.
LIBRARY = '''
import ctypes
if WHEN == "before": ctypes.CDLL(PATH)
import numpy as np
a = np.arange(100000.0) + 1.0
if WHEN == "after": ctypes.CDLL(PATH)
a = a * 2.0
print(float(a.sum()))
'''

# Another process reads and writes an array whose address was taken by the buffer protocol, as MPI does between the ranks of
# a host.
OTHER_PROCESS = HEAD + '''
import subprocess, sys
RANK = """
import ctypes, sys
ctypes.CDLL(sys.argv[1])
import numpy as np
n = 1 << 18
a = np.arange(n) + 1.0
if sys.argv[2] == "shared": float(a[0])
m = memoryview(a[:100])
def turn(*values): print(*values, flush=True); sys.stdin.readline()
turn(a.ctypes.data); turn(float(a[5]), float((a + 1)[5]), float(a.sum()))
a += 1.0; b = a * 2.0; turn(float(b[5])); turn(float(a[5]), float((a + b).sum()))
"""
libc.process_vm_readv.restype = libc.process_vm_writev.restype = ctypes.c_ssize_t
class Range(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
def copy(call, process, address, text):
    here = ctypes.create_string_buffer(text, len(text)); ranges = Range(ctypes.addressof(here), len(text)), Range(address, len(text))
    done = call(process.pid, ctypes.byref(ranges[0]), 1, ctypes.byref(ranges[1]), 1, 0); return [done, here.raw]
for state in ("pending", "shared"):
    process = subprocess.Popen([sys.executable, "-c", RANK, PATH, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def line(): return process.stdout.readline().split()
    def go(): process.stdin.write("go\\n"); process.stdin.flush()
    at = int(line()[0]); dump("read " + state, copy(libc.process_vm_readv, process, at + 40, bytes(16)))
    dump("write " + state, copy(libc.process_vm_writev, process, at + 40, np.array([7.0]).tobytes())); go()
    dump("seen " + state, line()); go(); dump("computed " + state, line())
    dump("read again " + state, copy(libc.process_vm_readv, process, at + 40, bytes(16)))
    dump("write again " + state, copy(libc.process_vm_writev, process, at + 40, np.array([9.0]).tobytes())); go()
    dump("seen again " + state, line()); go(); process.wait()
'''

# A library that takes read and write from libc past the exported names.
DEEPBIND_SOURCE = '''
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
extern long put_through(int fd, const void *data, long size);
long (*volatile table[])(int, void *, unsigned long) = {(long (*)(int, void *, unsigned long))read};
long put(int fd, const void *data, long size) { return put_through(fd, data, size); }
long get(int fd, void *data, long size) { return read(fd, data, (unsigned long)size); }
long get_by_table(int fd, void *data, long size) { return table[0](fd, data, (unsigned long)size); }
int puts(const char *text) { return text[0]; }
int own(void) { return puts("its own"); }
extern int fputs(const char *text, void *stream);
int own_helpers(void) { return fputs("its helper's", 0); }
int finds(const char *name) { return dlopen(name, RTLD_NOW | RTLD_DEEPBIND) != 0; }
'''
DEEPBIND_HELPER = '''
#include <unistd.h>
int fputs(const char *text, void *stream) { return stream == 0 ? text[1] : 0; }
long put_through(int fd, const void *data, long size) { return write(fd, data, (unsigned long)size); }
'''
DEEPBIND = HEAD + '''
def protection():
    pages = {}
    for place, kind, *rest in (line.split() for line in open("/proc/self/maps") if os.path.basename(PATH) in line):
        begin, end = (int(address, 16) for address in place.split("-"))
        pages[kind] = pages.get(kind, 0) + (end - begin) // 4096
    return repr(sorted(pages.items()))
dlerror = libc.dlerror
dlerror.restype = ctypes.c_char_p
def load():
    lib = ctypes.CDLL(PATH, mode=os.RTLD_DEEPBIND | MODE); dump("error", repr(dlerror())); dump("protection", protection())
    return lib
if EARLY: lib = load()
a = fresh()
if not EARLY: lib = load()
lib.put.restype = lib.get.restype = lib.get_by_table.restype = ctypes.c_long
ends = os.pipe(); os.set_blocking(ends[0], False); dump("own", [lib.own(), lib.own_helpers()])
for k, get in enumerate((lib.get, lib.get_by_table)):
    a = fresh(); dump("put %d" % k, lib.put(ends[1], ctypes.c_void_p(a.ctypes.data), 8000))
    b = fresh(k == 0); dump("get %d" % k, [get(ends[0], ctypes.c_void_p(b.ctypes.data), 8000), float(b[5]), float((b + 1.0).sum())])
try: ctypes.CDLL(PATH + "-missing", mode=os.RTLD_DEEPBIND)
except OSError as error: dump("missing", str(error))
dump("again", ctypes.CDLL(PATH, mode=os.RTLD_DEEPBIND).own())
'''
DEEPBIND_FROM_LIBRARY = HEAD + '''
lib = ctypes.CDLL(PATH); dump("finds", [lib.finds(NAME), lib.finds(NAME + b"-missing"), lib.finds(b"$ORIGIN/" + NAME)])
'''


class TestUnseenAccess(shim_runner.TestCase):
    def test_pages(self):
        self.assert_same(PAGES)

    def check_retired(self, script):
        self.assert_same(script)
        said = shim_runner.run(script, env={"GPUSHIM_LOG": "info"}).stderr
        self.assertEqual(said.count("all arrays are fetched"), 1, said)

    def test_io_uring(self):
        if shim_runner.run_plain(HEAD + 'print(libc.syscall(425, 4, bytes(120)))').stdout == "-1\n":
            self.skipTest("this system has no io_uring")
        self.check_retired(IO_URING)

    def test_linux_aio(self):
        self.check_retired(LINUX_AIO)

    def test_own_memory(self):
        for how in ("open", "openat", "fopen", "syscall", "task"):
            with self.subTest(how):
                self.check_retired("HOW = %r\n" % how + OWN_MEMORY)

    def build(self, folder, name):
        """An empty shared library of that name."""
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([shim_runner.find_tool("cc"), "-shared", "-o", path, "-x", "c", "/dev/null"], check=True)
        return path

    def test_other_process(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_same("PATH = %r\n" % self.build(folder, "libmpi.so.40") + OTHER_PROCESS)

    def build_deepbind(self, folder, option, *options):
        cc = [shim_runner.find_tool("cc"), "-shared", "-fPIC", "-w", "-fno-builtin", "-Wl,-z," + option, *options,
              "-x", "c", "-", "-o"]
        helper, path = os.path.join(folder, "libhelper-%s.so" % option), os.path.join(folder, "libdeep-%s.so" % option)
        subprocess.run(cc + [helper], input=DEEPBIND_HELPER, text=True, check=True)
        subprocess.run(cc + [path, "-Wl,-rpath," + folder, "-x", "none", helper], input=DEEPBIND_SOURCE, text=True, check=True)
        return path

    def test_deepbind(self):
        """With lazy binding, with all of the table read-only, by name alone, and calls without stubs; none says a word."""
        with tempfile.TemporaryDirectory() as folder:
            for option, by_name, *options in (("lazy", False), ("now", False), ("now", True), ("now", False, "-fno-plt")):
                path = self.build_deepbind(folder, option, *options)
                script = ("PATH, MODE, EARLY = %r, __import__('os').RTLD_%s, %r\n" %
                          (os.path.basename(path) if by_name else path, option.upper(), by_name) + DEEPBIND)
                with self.subTest(option, by_name=by_name, options=options), \
                        unittest.mock.patch.dict(os.environ, {"LD_LIBRARY_PATH": folder}):
                    self.assertEqual(self.assert_same(script).stderr, "")

    def test_deepbind_from_library(self):
        """What only the search path of the calling library finds is opened as plain, and a line says so."""
        with tempfile.TemporaryDirectory() as folder:
            path, other = self.build_deepbind(folder, "now"), self.build(folder, "libother.so")
            script = "PATH, NAME = %r, %r\n" % (path, os.path.basename(other).encode()) + DEEPBIND_FROM_LIBRARY
            stderr = self.assert_same(script).stderr
            self.assertIn("libother.so is opened with RTLD_DEEPBIND: its system calls", stderr)

    def test_libraries(self):
        """liburing and libaio count when they are loaded; what torch and MPI load beside does not."""
        with tempfile.TemporaryDirectory() as folder:
            for name, retires in (("liburing.so.2", True), ("libaio.so.1", True), ("libibverbs.so.1", False),
                                    ("site-packages/liburing/queue.so", True), ("liburing/other.so", False)):
                path = self.build(folder, name)
                for when in ("before", "after"):
                    with self.subTest(name, when=when):
                        script = "PATH, WHEN = %r, %r\n" % (path, when) + LIBRARY
                        result = shim_runner.run(script, env={"GPUSHIM_LOG": "info"})
                        self.assertEqual(result.stdout, "10000100000.0\n", repr(result))
                        self.assertEqual("the program uses" in result.stderr, retires, result.stderr)


if __name__ == "__main__":
    unittest.main()
