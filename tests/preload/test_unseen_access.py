# SPDX-License-Identifier: Apache-2.0
"""Who reads and writes arrays without a page fault: the program's own changes of pages. Output as plain."""
import unittest

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
    a += 1.0; dump("in place", [a[i], a[0], a[-1]])
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


class TestUnseenAccess(shim_runner.TestCase):
    def test_pages(self):
        self.assert_same(PAGES)


if __name__ == "__main__":
    unittest.main()
