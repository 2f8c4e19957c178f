# SPDX-License-Identifier: Apache-2.0
"""Children of fork, _Fork, clone and of the system calls that read, write and compute with arrays on the device."""
import re
import unittest

import shim_runner

SCRIPT = '''
import ctypes, os, signal, sys, warnings
import numpy as np
from shim_script import on_device
libc = ctypes.CDLL(None, use_errno=True)
warnings.filterwarnings('ignore', 'This process', DeprecationWarning)  # a fork beside threads, from 3.12 on
kind, looked_at = %r, %r
signal.alarm(60)
a = on_device(np.arange(100000.0)) * 2.0
b = a + 1.0
if looked_at:
    float(a[3]); float(b[3])

def work():
    signal.alarm(20)
    try:
        fine = float(a[5]) == 10 and float(b.sum()) == 1e10 and float((a * b)[-1]) == 199998.0 * 199999.0
        a[5] = 1.0
        fine = fine and float(np.dot(a[:9], a[:9])) == 717.0
    except BaseException:
        fine = False
    os._exit(0 if fine else 3)

body = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: work())
stack = ctypes.create_string_buffer(8 << 20)
top = (ctypes.addressof(stack) + len(stack)) & ~63
if kind == "_Fork":
    pid = libc._Fork()
elif kind == "clone":
    pid = ctypes.PyDLL(None).clone(body, ctypes.c_void_p(top), signal.SIGCHLD, None)
elif kind == "fork":
    pid = os.fork()
else:
    pid = libc.syscall(*{"SYS_fork": (57,), "SYS_clone": (56, signal.SIGCHLD, 0, 0, 0, 0)}[kind])
if pid == 0:
    work()
_, status = os.waitpid(pid, 0)
print("child", os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
print("parent", float(b[7]), float((a + b).sum()))
'''
PARENT = "parent 15.0 19999900000.0"
LINE = re.compile(r"gpushim: a forked child needs what only its parent's device holds: the array at \w+ of \d+ bytes; .*")


class RawForkTest(shim_runner.TestCase):
    def child(self, kind, looked_at, **options):
        result = shim_runner.run(SCRIPT % (kind, looked_at), **options)
        self.assertEqual(result.returncode, 0, result)
        lines = result.stdout.split("\n")
        self.assertEqual(lines[1], PARENT, result)
        return lines[0], result.stderr.strip()

    def test_child_computes(self):
        for kind in ("fork", "_Fork", "clone"):
            for looked_at in (False, True):
                with self.subTest(kind=kind, looked_at=looked_at):
                    self.assertEqual(self.child(kind, looked_at), ("child 0", ""))

    def test_child_of_system_call_computes_or_stops(self):
        for kind in ("SYS_fork", "SYS_clone"):
            for looked_at in (False, True):
                with self.subTest(kind=kind, looked_at=looked_at):
                    said, stderr = self.child(kind, looked_at)
                    if said != "child 0":
                        self.assertEqual(said, "child 6")
                        self.assertRegex(stderr, LINE)
                        self.assertEqual(stderr.count("\n"), 0)


if __name__ == "__main__":
    unittest.main()
