# SPDX-License-Identifier: Apache-2.0
"""Signals: our SIGSEGV handler lives with everyone else's, and a real crash is a real crash."""
import tempfile
import unittest

import shim_runner

HEAD = '''
import faulthandler, os, signal, sys, threading, time, ctypes
import numpy as np
from shim_script import dump, on_device, residency
def resident(size=300001):
    a = on_device(np.arange(float(size)))
    assert residency(a) in ("plain", "device")
    return a
'''

FAULTHANDLER = HEAD + '''
faulthandler.enable()
a = resident(); dump("enabled", [a[0], a[-1], faulthandler.is_enabled()])
for n in range(5):
    faulthandler.disable(); faulthandler.enable()
    b = resident(); dump("cycle %d" % n, b[n]); b[n] = 2.0; dump("written %d" % n, b[:9] + 1.0)
faulthandler.disable()
b = resident(); dump("disabled", b[5])
faulthandler.register(signal.SIGUSR1, all_threads=False, file=open(os.devnull, "w"))
os.kill(os.getpid(), signal.SIGUSR1)
watched = open(os.devnull, "w")
for n in range(20):
    c = resident(3000); faulthandler.dump_traceback_later(0.01, file=watched); c[0]
    time.sleep(0.03)  # in which it reads frames that stay: it takes no lock, and may fall over those that do not (CPython 3.11)
    faulthandler.cancel_dump_traceback_later()
dump("watched", c)
'''

HANDLERS = HEAD + '''
seen = []
dump("before", str(signal.getsignal(signal.SIGSEGV)))
old = signal.signal(signal.SIGSEGV, lambda number, frame: seen.append(number))
dump("old", str(old))
a = resident(); dump("touched", a[3]); a[3] = 1.5; dump("wrote", a[3])
os.kill(os.getpid(), signal.SIGSEGV)
for _ in range(100): pass
dump("seen", seen)
signal.signal(signal.SIGSEGV, signal.SIG_IGN)
os.kill(os.getpid(), signal.SIGSEGV)
a = resident(); dump("ignored", [a[3], str(signal.getsignal(signal.SIGSEGV))])
signal.signal(signal.SIGSEGV, signal.SIG_DFL)
a = resident(); dump("default", [a[3], str(signal.getsignal(signal.SIGSEGV))])
signal.siginterrupt(signal.SIGSEGV, False)
a = resident(); dump("siginterrupt", a[4])

# Every signal blocked, in the main thread and in another one, then a touch.
before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
a = resident(); dump("blocked", [a[0], a[-1]]); a[7] = 3.0; dump("blocked write", a + 1.0)
signal.pthread_sigmask(signal.SIG_SETMASK, before)
def thread():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    b = resident(); b[0] = b[-1]; result.append(b[:2] + 1.0)
result = []
t = threading.Thread(target=thread); t.start(); t.join(); dump("blocked thread", result)

# Faults inside a handler, and handlers inside faults.
hits = []
def tick(number, frame):
    b = resident(3000); hits.append(b[1] == 1.0)
signal.signal(signal.SIGALRM, tick)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while len(hits) < 50:
    c = resident(9000); assert c[8] == 8.0; c[9] = 4.0
signal.setitimer(signal.ITIMER_REAL, 0)
dump("ticks", all(hits))
for number in (signal.SIGUSR2, signal.SIGBUS, signal.SIGTERM):
    dump("other %d" % number, str(signal.getsignal(number)))
'''

# Of NumPy's exceptions some have constructors in Python, where the interpreter looks for signals: in NumPy's call, and
# in the question whether NumPy would take it. While an exception is being handled, all Pythons make others at once.
INTERRUPTED = HEAD + '''
import importlib
package = "numpy._core" if int(np.__version__.split(".")[0]) >= 2 else "numpy.core"
error = importlib.import_module(package + "._exceptions").UFuncTypeError
integers, floats = on_device(np.arange(300001)), resident()
class Late(Exception):
    pass
def raise_late(number, frame):
    raise Late("too", "late")
def during(arrive):
    init = error.__init__
    def slow(self, *args):
        error.__init__ = init
        arrive()
        init(self, *args)
    error.__init__ = slow
def last_name(exception):
    place = exception.__traceback__
    while place.tb_next:
        place = place.tb_next
    return place.tb_frame.f_code.co_name
def refused():
    try:
        raise ValueError
    except ValueError:
        try:
            np.add(integers, floats, out=integers)
        except BaseException as found:
            return [type(found).__name__, str(found.args[:2]) if type(found) is not error else "", last_name(found)]
def send(number):
    return lambda: signal.raise_signal(number)
def send_to_thread():
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), ctypes.py_object(Late))
    for _ in range(100): pass
signal.signal(signal.SIGALRM, raise_late)
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(3))
for name, arrive in (("keyboard", send(signal.SIGINT)), ("timeout", send(signal.SIGALRM)), ("exit", send(signal.SIGTERM)),
                     ("another thread's", send_to_thread)):
    during(arrive); dump(name, refused())
    dump(name + ", then", refused()[:2]); dump(name + ", sum", floats + integers)
def thread():
    during(send_to_thread); found.append(refused()[0]); found.append(refused()[0])
found = []
t = threading.Thread(target=thread); t.start(); t.join(); dump("in a thread", found)
'''

# The compiler of kernels sets actions of its own. Each turn needs other kernels.
COMPILING = HEAD + '''
seen = []
numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)
for number in numbers:
    signal.signal(number, lambda number, frame: seen.append(number))
for turn, name in enumerate(("sin", "cos", "exp", "sqrt", "floor", "square")):
    a = getattr(np, name)(resident(3001 + turn)); dump(name, a.astype("f4")[5])
    for number in numbers:
        os.kill(os.getpid(), number)
dump("seen", sorted(seen)); dump("kept", [signal.getsignal(number) is not signal.SIG_DFL for number in numbers])
'''

# Each exception that a handler raises is met once, wherever the signal comes. Now and then the kernel gives a signal to
# another thread of the process (OpenBLAS's), and CPython before 3.13 has its main thread look for it only when that
# next takes the GIL: so the timer comes again, which no form may need always (each has more than 100 of 2,000 turns).
STORM = HEAD + '''
import time
class Late(Exception):
    pass
armed, raised, caught, late, lost = False, 0, 0, 0, []
def handler(number, frame):
    global armed, raised
    if armed:
        armed = False; raised += 1
        raise Late
signal.signal(signal.SIGALRM, handler)
f = on_device(np.arange(20.0)); i = on_device(np.arange(20)); two = on_device(np.arange(20.0).reshape(4, 5))
forms = [
    lambda: np.bitwise_and(f, f), lambda: np.bitwise_and.reduce(f), lambda: np.add(i, f, out=i),
    lambda: np.add.accumulate(f, dtype="i4"), lambda: np.left_shift(f, 1), lambda: np.add.reduceat(f, [0, 3]),
    lambda: np.add.at(f, [1, 2], 1.0), lambda: two[:, [1, 2]], lambda: two.__setitem__((slice(None), [1, 2]), 3.0),
    lambda: np.add(f, 2**100), lambda: (f * 2).sum(), lambda: np.where(f > 3, f, i), lambda: f.round(2),
    lambda: f.clip(1, 3), lambda: np.power(i, i), lambda: np.concatenate([f, i]), lambda: np.dot(two, two.T),
    lambda: np.add(f, f, dtype="i4,f8"), lambda: np.maximum.reduce(f, out=np.zeros((), "i4")),
]
end = time.monotonic() + 60 # a device may compile for seconds
while raised < 2000 and time.monotonic() < end:
    form = forms[raised % len(forms)]
    before = raised - caught
    start = time.monotonic()
    armed = True
    try:
        signal.setitimer(signal.ITIMER_REAL, 2e-5 + raised % 97 * 1e-6, 0.2)
        while armed:
            try: form()
            except (TypeError, ValueError): pass
        for _ in range(50): pass
    except Late:
        caught += 1
    armed = False
    if raised - caught != before:
        lost.append(raised % len(forms))
    late += time.monotonic() - start > 0.2
signal.setitimer(signal.ITIMER_REAL, 0)
dump("lost", lost); dump("enough", raised > 200); dump("mostly at once", late <= 100)
'''

CRASHES = {
    "read of an unmapped page": "ctypes.string_at(8)",
    "write to a read-only page": "ctypes.memset(ctypes.cast(ctypes.pythonapi.Py_GetVersion, "
                                 "ctypes.c_void_p), 0, 1)",
    "raised": "os.kill(os.getpid(), signal.SIGSEGV)",
    "faulthandler's own": "faulthandler._sigsegv()",
    "abort": "os.abort()",
    "jump into the arena": "ctypes.CFUNCTYPE(None)(a.ctypes.data)()",
}

CRASH_HEAD = HEAD + '''
a = resident(); a[3]; b = resident()
print("before", flush=True)
'''

PYTEST = '''
import numpy as np
import pytest
def resident():
    return np.arange(300001.0) + np.zeros(1)
def test_read():
    a = resident(); assert a[5] == 5.0 and a.tobytes()[:8] == bytes(8)
def test_write(tmp_path):
    a = resident(); a[5] = 7.0; a.tofile(str(tmp_path / "x"))
    assert (np.fromfile(str(tmp_path / "x")) == a).all()
def test_output(capfd):
    print(resident()[:3]); assert "[0. 1. 2.]" in capfd.readouterr().out
@pytest.mark.parametrize("n", range(20))
def test_many(n):
    assert (resident() + n)[n] == 2.0 * n
def test_fails():
    a = resident(); assert a[1] == 2.0
def test_raises():
    with pytest.raises(ValueError):
        resident() + np.ones(2)
'''


# struct stack_t: where it is, flags, how long. Faults are served on it, which needs more than the kernel asks for.
SMALL_STACK = HEAD + '''
import errno, struct
libc = ctypes.CDLL(None, use_errno=True)
def put(size, flags=0):
    ctypes.set_errno(0)
    result = libc.sigaltstack(struct.pack("QiiQ", ctypes.addressof(memory), flags, 0, size), None)
    return result, errno.errorcode.get(ctypes.get_errno())
memory = ctypes.create_string_buffer(1 << 14)
print(put(1000), put(4096), put(4096), put(8192))
a = resident(); print(a[3], put(0, 2))
'''


class TestSignals(shim_runner.TestCase):
    def test_faulthandler(self):
        self.assert_same(FAULTHANDLER, same_stderr=True)

    def test_faulthandler_from_the_start(self):
        self.assert_same(FAULTHANDLER, python_args=["-X", "faulthandler"], same_stderr=True)

    def test_small_alternate_stack(self):
        """Where a fault has no room it is refused, as the kernel refuses smaller ones; a line says so, once."""
        result = shim_runner.run(SMALL_STACK)
        self.assertEqual(result.stdout, "(-1, 'ENOMEM') (-1, 'ENOMEM') (-1, 'ENOMEM') (0, None)\n3.0 (0, None)\n", result)
        self.assertEqual(result.stderr.count("an alternate signal stack of less than 8 KiB is refused"), 1, result)

    def test_handlers(self):
        self.assert_same(HANDLERS, same_stderr=True)
        self.assert_same(HANDLERS, python_args=["-X", "faulthandler"], same_stderr=True)

    def test_thread_that_blocked_everything_before_numpy(self):
        """The kernel ends a thread that faults with SIGSEGV blocked, and no one else can open its
        mask once NumPy is there."""
        self.assert_same('''
import queue, signal, threading
work, results = queue.Queue(), queue.Queue()
def serve():
    everything = set(signal.Signals)
    signal.pthread_sigmask(signal.SIG_BLOCK, everything)
    results.put(signal.SIGUSR1 in signal.pthread_sigmask(signal.SIG_BLOCK, []))
    for job in iter(work.get, None):
        results.put(job())
thread = threading.Thread(target=serve); thread.start()
blocked = results.get()
import numpy as np
from shim_script import dump, on_device
a = on_device(np.arange(300001.0))
work.put(lambda: [blocked, float(a.data[7]), a[-1]]); work.put(None)
dump("read by the thread", results.get())
thread.join()
''')

    def test_exception_of_a_handler_in_a_question_to_numpy(self):
        self.assert_same(INTERRUPTED, same_stderr=True)

    def test_actions_are_kept_while_kernels_are_compiled(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_same(COMPILING, env={"GPUSHIM_CACHE_DIR": folder, "GPUSHIM_PACK": "/none"}, rtol=1e-6)

    def test_no_exception_of_a_handler_is_lost(self):
        self.assert_same(STORM, env={"GPUSHIM_MIN_ELEMENTS": "0", "GPUSHIM_MIN_REDUCE": "0", "GPUSHIM_ARENA_MIN": "1"})

    def test_crashes(self):
        for name, crash in CRASHES.items():
            for option in ([], ["-X", "faulthandler"]):
                with self.subTest(name, option=option):
                    self.compare_crash(CRASH_HEAD + crash + "\n", option)

    def compare_crash(self, script, option):
        plain = shim_runner.run(script, shim=False, python_args=option)
        shimmed = shim_runner.run(script, python_args=option)
        self.assertLess(plain.returncode, 0, "the plain run must die by a signal: %r" % plain)
        self.assertEqual(shimmed.returncode, plain.returncode, repr(shimmed))
        self.assertEqual(shimmed.stdout, plain.stdout)
        if option:
            self.assertIn("Fatal Python error", plain.stderr)
            self.assertEqual(self.without_paths(shimmed.stderr), self.without_paths(plain.stderr))
        else:
            self.assertEqual(shimmed.stderr, plain.stderr)

    @staticmethod
    def without_paths(text):
        """The traceback without what differs between any two runs: the script's folder, thread
        identifiers, and newer Pythons' own listing of the C stack."""
        import re
        text = text.split("\nCurrent thread's C stack trace")[0]
        return re.sub(r'0x[0-9a-f]+|"[^"]*script\.py"', "", text)

    def test_pytest(self):
        try:
            import pytest  # noqa: F401
        except ImportError:
            self.skipTest("pytest is not installed for this Python")
        import os
        import re
        import sys
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_inner.py")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(PYTEST)
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
            plain = shim_runner.run_command(command, shim=False, cwd=folder)
            shimmed = shim_runner.run_command(command, shim=True, cwd=folder)
        self.assertEqual((plain.returncode, shimmed.returncode), (1, 1), repr(shimmed))
        lines = [re.sub(r" in [0-9.]+s", "", run.stdout) for run in (plain, shimmed)]
        self.assertIn("1 failed, 24 passed", lines[0])
        self.assertEqual(lines[0], lines[1])
        self.assert_on_device(shimmed)


if __name__ == "__main__":
    unittest.main()
