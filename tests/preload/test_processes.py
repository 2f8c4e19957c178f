# SPDX-License-Identifier: Apache-2.0
"""Processes and threads over device-resident arrays: fork, multiprocessing, subprocess, pools."""
import os
import subprocess
import sys
import unittest

import shim_runner

FORK = '''
import os, sys, pickle, hashlib
import numpy as np
from shim_script import dump, on_device, residency

def resident(size, seed=0):
    a = on_device(np.arange(seed, seed + size, dtype="f8"))
    assert residency(a) in ("plain", "device")
    return a

def in_child(function):
    """Runs in a forked child; its result comes back through a pipe. Returns (status, result)."""
    r, w = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(r)
            with os.fdopen(w, "wb") as stream:
                pickle.dump(function(), stream)
            status = 0
        finally:
            os._exit(status)
    os.close(w)
    with os.fdopen(r, "rb") as stream:
        data = stream.read()
    _, status = os.waitpid(pid, 0)
    return status, pickle.loads(data) if data else None

def digest(*arrays):
    return [hashlib.sha256(np.ascontiguousarray(a)).hexdigest() for a in arrays]

for size in (100, 3000, 700001):
    a, b = resident(size), resident(size, 5)
    dump("read %d" % size, in_child(lambda: digest(a, b)))
    dump("compute %d" % size, in_child(lambda: digest(a + b, a * 2.0, np.sqrt(b), np.full(9, 2.0))))
    def write():
        a[3] = -1.0
        b[:] = 7.0
        a[10:20] += 1.0
        return digest(a, b)
    dump("write %d" % size, in_child(write))
    dump("parent %d" % size, digest(a, b, a + b))
    # The child keeps the values of the moment of the fork.
    r, w = os.pipe()
    c = a + b
    pid = os.fork()
    if pid == 0:
        os.read(r, 1)
        os._exit(0 if (c == np.arange(size) * 2.0 + 5.0).all() else 3)
    np.multiply(c, -1.0, out=c)
    d = c + 1.0
    os.write(w, b"x")
    dump("old value %d" % size, os.waitpid(pid, 0)[1])
    dump("new value %d" % size, digest(c, d))

def grandchild():
    return in_child(lambda: digest(a + 1.0, b))
dump("grandchild", in_child(grandchild))
def die():
    os.kill(os.getpid(), 9)
dump("killed child", in_child(die))
def fails():
    raise SystemExit(4)
dump("many", [in_child(lambda: digest((resident_ + 1.0)[::1000])) for resident_ in [a] * 8])
dump("after", digest(a + b))
'''

FORK_WITH_THREADS = '''
import os, threading
import numpy as np
from shim_script import dump, on_device
stop = threading.Event()
errors = []

def offload(seed):
    """Keeps the device busy, in place and out of place, over arrays of both zones."""
    small, large = np.full(500, float(seed)), np.full(300000, float(seed))
    while not stop.is_set():
        for a in (small, large):
            b = a + 1.0
            np.subtract(b, 1.0, out=b)
            if b[0] != seed or b[-1] != seed:
                errors.append(b[0])

threads = [threading.Thread(target=offload, args=(n,)) for n in (1, 2)]
for thread in threads:
    thread.start()
statuses = []
mine = on_device(np.arange(200000.0))
for n in range(25):
    mine = mine + 1.0
    pid = os.fork()
    if pid == 0:
        good = mine[0] == n + 1.0 and mine[-1] == 200000.0 + n and (mine * 2.0).sum() > 0
        os._exit(0 if good else 5)
    statuses.append(os.waitpid(pid, 0)[1])
stop.set()
for thread in threads:
    thread.join()
dump("statuses", statuses)
dump("errors", errors)
dump("mine", mine)
'''

MULTIPROCESSING = '''
import multiprocessing, sys
import numpy as np
from shim_script import dump, on_device
SIZE = 200001

def work(args):
    n, array = args
    result = array * float(n) + 1.0
    return result.sum(), result[:5]

def send(connection):
    connection.send(np.arange(50000.0) * 3.0)
    got = connection.recv()
    connection.send(got + 1.0)

def shared(lock, area, n):
    view = np.frombuffer(area, "f8")
    with lock:
        view += n

def main(method):
    context = multiprocessing.get_context(method)
    base = on_device(np.arange(float(SIZE)))
    with context.Pool(2) as pool:
        dump("pool " + method, pool.map(work, [(n, base) for n in range(4)]))
        dump("imap " + method, list(pool.imap(work, [(n, base[:777]) for n in range(4)])))
    ours, theirs = context.Pipe()
    child = context.Process(target=send, args=(theirs,))
    child.start()
    got = ours.recv()
    ours.send(got * 2.0)
    dump("pipe " + method, [got, ours.recv()])
    child.join()
    dump("exit " + method, child.exitcode)
    lock, area = context.Lock(), context.RawArray("d", 5000)
    children = [context.Process(target=shared, args=(lock, area, n)) for n in (1, 10)]
    for child in children: child.start()
    for child in children: child.join()
    dump("shared " + method, np.frombuffer(area, "f8") * 1.0)
    dump("base " + method, base + 1.0)

if __name__ == "__main__":
    main(sys.argv[1])
'''

THREADS = '''
import threading
from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor
import numpy as np
from shim_script import dump, on_device

a, b = on_device(np.arange(400001.0)), on_device(np.arange(400001.0) + 3.0)
small = on_device(np.arange(40.0))

def task(n):
    """Reads the same arrays on both sides at once."""
    x = a * float(n) + b
    y = small + float(n)
    return float(x[n]), float(x[-1]), y.tolist(), int((x > y[0]).sum()), a[n:n + 3].tolist()

with ThreadPoolExecutor(4) as pool:
    dump("tasks", list(pool.map(task, range(60))))

# Each thread owns a slice of one array: writes of neighbours must not be lost.
target = on_device(np.zeros(64 * 4096))
def own(n):
    piece = target[n * 4096:(n + 1) * 4096]
    for step in range(20):
        piece += 1.0
        piece[step] = -float(n)
        if step % 5 == n % 5:
            float((target * 1.0)[n])
with ThreadPoolExecutor(4) as pool:
    list(pool.map(own, range(64)))
dump("slices", target)

# Thread-local error state and results made in short-lived threads.
results = []
def short(n):
    with np.errstate(divide="ignore"):
        results.append((n, np.divide(b, a)[1:4].tolist()))
for n in range(12):
    thread = threading.Thread(target=short, args=(n,)); thread.start(); thread.join()
dump("short", results)
'''

SUBPROCESS = '''
import os, subprocess, sys
import numpy as np
from shim_script import dump, on_device, residency
a = on_device(np.arange(300001.0))
def out(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    return done.returncode, done.stdout, done.stderr
dump("echo", out("echo", "x"))
dump("shell", out("echo $((6*7)); exit 3", shell=True))
dump("python", out(sys.executable, "-c", "print(6*7)"))
dump("numpy", out(sys.executable, "-c", "import numpy as np; print((np.arange(9e4) + 1).sum())"))
dump("preexec", out("echo", "x", preexec_fn=lambda: os.nice(0)))
dump("close", out("echo", "x", close_fds=False))
dump("system", os.system("exit 7"))
dump("popen", os.popen("echo y").read())
dump("spawn", os.posix_spawn("/bin/true", ["true"], os.environ) > 0 and os.wait()[1])
dump("values", a + 1.0)
'''

WARNINGS_ARE_ERRORS = '''
import os
import numpy as np
a = np.ones(1000)
a[5] = 2.0
b = a + a
pid = os.fork()
if pid == 0:
    os._exit(0 if b.sum() == 2002.0 else 1)
print(os.waitpid(pid, 0)[1])
'''


class TestProcesses(shim_runner.TestCase):
    def test_fork(self):
        # Python 3.12 warns at fork() once there is a second thread, which the device has.
        self.assert_same(FORK, python_args=["-W", "ignore"], same_stderr=True)

    def test_fork_with_threads(self):
        # Python warns of its own accord: the script has threads.
        self.assert_same(FORK_WITH_THREADS, python_args=["-W", "ignore"], same_stderr=True)

    def test_fork_child_reports_nothing_of_its_own(self):
        shimmed = self.shim_run(FORK, python_args=["-W", "ignore"])
        self.assertEqual(len(shimmed.reports), 1, "children must not write the parent's report")

    def test_multiprocessing(self):
        for method in ("fork", "spawn"):
            with self.subTest(method):
                self.assert_same(MULTIPROCESSING, args=[method], python_args=["-W", "ignore"],
                                 same_stderr=True)

    def test_threads(self):
        self.assert_same(THREADS, same_stderr=True)

    def test_subprocess(self):
        self.assert_same(SUBPROCESS, python_args=["-W", "ignore"], same_stderr=True)

    def test_no_thread_before_the_device_starts(self):
        """Python 3.12 and newer warns at a fork of a process with more than one thread."""
        env = {"GPUSHIM_MODE": "auto", "OPENBLAS_NUM_THREADS": "1"}
        result = shim_runner.run(WARNINGS_ARE_ERRORS, python_args=["-W", "error"], env=env)
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"), repr(result))

    def test_fork_on_started_device(self):
        result = shim_runner.run(WARNINGS_ARE_ERRORS, env={"OPENBLAS_NUM_THREADS": "1"})
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"), repr(result))


class TestOtherPrograms(shim_runner.TestCase):
    """Processes that never load NumPy: nothing changes."""

    def both(self, *command, **options):
        plain = shim_runner.run_command(list(command), shim=False, **options)
        shimmed = shim_runner.run_command(list(command), shim=True, **options)
        self.assertEqual((shimmed.returncode, shimmed.stdout, shimmed.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(shimmed.reports, {}, "a report was written")

    def test_shells_and_tools(self):
        noise = {"GPUSHIM_REPORT": "1", "GPUSHIM_DOCTOR": "1", "GPUSHIM_HELP": "1",
                 "GPUSHIM_LOG": "trace", "GPUSHIM_MODE": "nonsense", "GPUSHIM_NOSUCH": "1"}
        for env in ({}, noise):
            self.both("/bin/ls", "/", env=env)
            self.both("/bin/sh", "-c", "echo a | cat; exit 3", env=env)
            self.both("bash", "-c", "x=1; (echo $x); kill -SEGV $$", env=env)
            self.both(sys.executable, "-S", "-c", "import os; print(os.listdir('/'))", env=env)

    def test_python_without_numpy_has_no_threads_and_no_handler(self):
        script = ("import os, signal; print(len(os.listdir('/proc/self/task')), "
                  "signal.getsignal(signal.SIGSEGV), [l for l in open('/proc/self/status') "
                  "if l.startswith(('SigCgt', 'SigBlk'))])")
        self.both(sys.executable, "-c", script)

    def test_unwilling_numpy_import(self):
        """A failed import of NumPy fails as before."""
        script = "import sys; sys.modules['numpy'] = None\nimport numpy\n"
        plain, shimmed = shim_runner.run(script, shim=False), shim_runner.run(script)
        last = [result.stderr.splitlines()[-1] for result in (plain, shimmed)]
        self.assertEqual(last[0], last[1])
        self.assertEqual(plain.returncode, shimmed.returncode)


if __name__ == "__main__":
    unittest.main()
