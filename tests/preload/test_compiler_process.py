# SPDX-License-Identifier: Apache-2.0
"""Kernels that compile in the background do so in a process beside the program, which is no child of its, and for which nobody waits."""
import os
import shutil
import tempfile
import time
import unittest

import numpy as np

import shim_runner

BEGIN = """
import os, signal, time
import numpy as np
import shim_runner
def compilers():
    return shim_runner.compilers_of(os.environ["GPUSHIM_CACHE_DIR"])
def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
children = []
signal.signal(signal.SIGCHLD, lambda *ignored: children.append(1))
x = np.linspace(0, 1, 2000000)
def run(k):
    y = x
    for j in range(k + 3):
        y = np.sin(y) * x + j
    return float(y.sum())
k = 0
while not compilers():
    run(k)
    k += 1
"""


def expected(k):
    x = y = np.linspace(0, 1, 2000000)
    for j in range(k + 3):
        y = np.sin(y) * x + j
    return float(y.sum())


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, whose compiler can be slow")
class TestCompilerProcess(shim_runner.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="compiler-process-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(lambda: shim_runner.await_compilers(self.cache))
        self.addCleanup(setattr, shim_runner, "AWAITS_COMPILERS", True)
        shim_runner.AWAITS_COMPILERS = False
        self.folder = folder.name
        self.cache = os.path.join(self.folder, "cache")
        os.mkdir(self.cache)

    def path(self, seconds):
        """A PATH whose C++ compiler, which compiles the emulated kernels, takes so much longer."""
        path = os.path.join(self.folder, "c++")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write('#!/bin/sh\nsleep %g\nexec %s "$@"\n' % (seconds, shim_runner.find_tool("c++")))
        os.chmod(path, 0o755)
        return self.folder + ":" + os.environ["PATH"]

    def run_script(self, text, seconds=0, **env):
        begin = time.monotonic()
        result = shim_runner.run(BEGIN + text, env=dict({"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1", "GPUSHIM_CACHE_DIR": self.cache, "PATH": self.path(seconds)}, **env))
        self.assertEqual(result.returncode, 0, repr(result))
        return result, time.monotonic() - begin

    def kernels(self):
        return [name for name in os.listdir(self.cache) if os.path.isfile(os.path.join(self.cache, name))]

    def test_end(self):
        """The program, whose output is a pipe, ends before the compilation, which is stored all the same."""
        result, took = self.run_script("before = len(os.listdir(os.environ['GPUSHIM_CACHE_DIR']))\nprint(before)", seconds=8)
        self.assertLess(took, 7)
        before, end = int(result.stdout), time.monotonic() + 60
        while len(self.kernels()) <= before:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_removed_folder(self):
        """The process does not make a disk cache anew that the program has removed."""
        self.run_script("import shutil\nshutil.rmtree(os.environ['GPUSHIM_CACHE_DIR'])\nprint(compilers()[0])", seconds=2)
        time.sleep(5)
        self.assertFalse(os.path.exists(self.cache))

    def test_closed_files(self):
        """A program that closes files that are not its own, and opens sockets under their numbers, finds nothing of ours in them."""
        result, _ = self.run_script("""
import socket
time.sleep(3)  # until it has compiled what was wanted
os.closerange(3, 256)
pairs = [socket.socketpair() for _ in range(60)]
for a, b in pairs:
    a.setblocking(False), b.setblocking(False)
more = [run(k) for k in range(20, 26)]
time.sleep(2)
more += [run(k) for k in range(20, 26)]
def received(one):
    try:
        return one.recv(100)
    except BlockingIOError:
        return b""
print([word for pair in pairs for word in map(received, pair) if word])
print(np.allclose(more[:6], more[6:], 1e-9))
""", seconds=0.2)
        self.assertEqual(result.stdout.split("\n")[:2], ["[]", "True"])

    def test_no_child(self):
        """The program has no child to wait for, and gets no signal when the process ends; NumPy's numbers stay."""
        result, _ = self.run_script("""
process = compilers()[0]
with open("/proc/%d/status" % process) as stream:
    print([line.split()[1] for line in stream if line.startswith("PPid")][0] == str(os.getpid()))
os.kill(process, signal.SIGKILL)
wait_for(lambda: process not in compilers())
try:
    os.wait()
    print("a child")
except ChildProcessError:
    print("no child")
print(children)
print(*[run(k) for k in range(3)])
""", seconds=1)
        owned, waited, signals, sums = result.stdout.splitlines()
        self.assertEqual([owned, waited, signals], ["False", "no child", "[]"])
        np.testing.assert_allclose([float(word) for word in sums.split()], [expected(k) for k in range(3)], rtol=1e-12)

    def test_files(self):
        """The process has none of the program's files, and no variable of the program's but those that it needs."""
        result, _ = self.run_script("""
kept = os.dup2(os.open("/dev/null", os.O_RDONLY), 100)
process = compilers()[0]
print(sorted(int(fd) for fd in os.listdir("/proc/%d/fd" % process))[:5], os.readlink("/proc/%d/fd/1" % process))
with open("/proc/%d/environ" % process, "rb") as stream:
    print(sorted(word.split(b"=")[0].decode() for word in stream.read().split(b"\\0") if word))
""", seconds=1)
        files, variables = result.stdout.splitlines()
        self.assertEqual(files, "[0, 1, 2, 3] /dev/null")
        self.assertLessEqual(set(eval(variables)), {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "HOME", "LANG"})

    def test_fork(self):
        """A fork does not wait for the compilation either, and the child computes."""
        result, _ = self.run_script("""
begin = time.monotonic()
child = os.fork()
if child == 0:
    os._exit(run(2) != run(2))
print(time.monotonic() - begin < 4, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else os.waitpid(child, 0)[1])
""", seconds=8)
        self.assertEqual(result.stdout.split(), ["True", "0"])

    def test_without_the_program(self):
        """A library that was copied alone compiles in its own process."""
        library = shutil.copy(shim_runner.LIBRARY, self.folder)
        result = shim_runner.run(BEGIN[:BEGIN.index("k = 0")] + """
for k in range(3):
    print(run(k))
wait_for(lambda: os.listdir(os.environ["GPUSHIM_CACHE_DIR"]))
print(compilers())
""", env={"LD_PRELOAD": library, "GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1", "GPUSHIM_CACHE_DIR": self.cache})
        self.assertEqual(result.returncode, 0, repr(result))
        self.assertEqual(result.stdout.split()[-1], "[]")
        self.assertGreater(shim_runner.counter(result.report, "compiles"), 0)


@unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, whose start can be slow")
class TestEndDuringStart(shim_runner.TestCase):
    def took(self, work):
        """Seconds of a program that ends while cuInit runs, for 4 s; a context takes 30 s more."""
        folder = tempfile.TemporaryDirectory(prefix="end-during-start-")
        self.addCleanup(folder.cleanup)
        begin = time.monotonic()
        result = shim_runner.run("import time\nimport numpy as np\nx = np.ones((1500, 1500))\nfor _ in range(4):\n    %s\ntime.sleep(0.2)\n" % work,
                                 env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "1", "EMULATED_INIT_MS": "4000", "EMULATED_CONTEXT_MS": "30000",
                                      "GPUSHIM_PROFILE": "1", "GPUSHIM_CACHE_DIR": folder.name})
        took = time.monotonic() - begin
        self.assertEqual(result.returncode, 0, repr(result))
        self.assertNotIn("gpushim:", result.stderr)
        self.assertEqual(result.report["verdict"]["state"], "not-started")
        self.assertEqual(len(os.listdir(os.path.join(folder.name, "profiles"))), 1)  # the next process starts the device at once
        return took

    def test_loops(self):
        self.assertLess(self.took("x = x + x"), 9)

    def test_products(self):
        """The thread that opens the driver beside OpenBLAS's makes the context too."""
        self.assertLess(self.took("x @ x"), 9)


if __name__ == "__main__":
    unittest.main()
