# SPDX-License-Identifier: Apache-2.0
"""What a program says to the library: gpushim.disabled(), gpushim.device_array(), GPUSHIM_SYNC. The module is that of the tree."""
import os
import unittest

import shim_runner

PATH = os.pathsep.join([shim_runner.HERE, os.path.join(shim_runner.ROOT, "python")])
HEAD = '''
import os, threading
import numpy as np
import gpushim
from shim_script import dump, on_device, report, residency
N = 300000
def where(function=lambda: np.add(a, 1.0)):
    return residency(function())
a = on_device(np.arange(float(N)))
'''

DISABLED = HEAD + '''
found = [where()]
with gpushim.disabled():
    found += [where(), gpushim.active()]
    with gpushim.disabled():
        found.append(where())
    found.append(where())
    dump("blas", (a[:250000].reshape(500, 500) @ np.eye(500))[3, :5])
    dump("reduce", a.sum())
    dump("in place", np.multiply(a, 2.0, out=np.empty(N))[-3:])
found += [where(), gpushim.active()]
try:
    with gpushim.disabled():
        1 / 0
except ZeroDivisionError:
    found.append(where())
@gpushim.disabled()
def decorated():
    return where()
found += [decorated(), where()]
print(found)
row = [row for row in report()["operations"] if row["name"] == "add" and row["host_calls"]]
print(sum(row["reasons"].get("off", 0) for row in row))
'''

THREADS = HEAD + '''
found = {}
inside, done = threading.Event(), threading.Event()
def other():
    inside.wait()
    found["other"] = where(), gpushim.active()
    done.set()
thread = threading.Thread(target=other)
thread.start()
with gpushim.disabled():
    inside.set()
    done.wait()
    found["mine"] = where(), gpushim.active()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if (a + 1.0)[5] == 6.0 and not gpushim.active() else 1)
    found["child"] = os.waitpid(pid, 0)[1]
    late = threading.Thread(target=lambda: found.update(late=where()))
    late.start()
    late.join()
thread.join()
from gpushim.loaded import library
library().gpushim_enable()  # once too often
found["after"] = where()
print(found)
'''

SEND = HEAD + '''
def fresh(n=N):
    b = np.empty(n)
    memoryview(b).cast("B")[:] = np.arange(float(n)).tobytes()   # the host writes it
    return b
def moved(function):
    before = report()["counters"]["upload_bytes"]
    function()
    gpushim.synchronize()
    return report()["counters"]["upload_bytes"] - before
b = fresh()
assert residency(b) == "host", residency(b)
assert moved(lambda: gpushim.device_array(b)) == b.nbytes
assert gpushim.device_array(b) is b and residency(b) == "shared"
assert moved(lambda: np.negative(b)) == 0      # the call finds it there
b[7] = 1.0                                     # it may be used in any way
assert np.negative(b)[7] == -1.0
view = fresh()[::-2][5:]
assert gpushim.device_array(view) is view and residency(view) == "shared"
pages = np.frombuffer(bytes(8 * N), "f8")      # not gpushim's memory, read-only
copy = gpushim.device_array(pages)
assert copy is not pages and residency(copy) in ("shared", "device") and (copy == pages).all()
assert copy.dtype == pages.dtype and copy.flags.writeable
for odd in (np.empty(0), np.array([1, "x"], object), np.float64(3.0), [1, 2], 5):
    result = gpushim.device_array(odd)
    assert isinstance(result, np.ndarray) and result.tolist() == np.asarray(odd).tolist()
with gpushim.disabled():
    c = fresh()
    assert gpushim.device_array(c) is c and residency(c) == "host"
pid = os.fork()
if pid == 0:
    d = gpushim.device_array(b)
    os._exit(0 if d[7] == 1.0 and d[9] == 9.0 else 1)
assert os.waitpid(pid, 0)[1] == 0
errors = []
def many(seed):
    for i in range(20):
        e = fresh(20000 + seed)
        if gpushim.device_array(e) is not e or (e + 1.0)[-1] != 20000.0 + seed:
            errors.append(i)
threads = [threading.Thread(target=many, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(errors)
'''

STARTS = '''
import numpy as np, gpushim
from shim_script import residency
b = np.ones(300000)
assert residency(b) == "host"
gpushim.device_array(b)
print(residency(b))
'''

SYNC = HEAD + '''
from shim_script import moved_by
before = report()["counters"]
for i in range(10):
    b = np.absolute(a)
after = report()["counters"]
print(after["launches"] - before["launches"], after["needless"] - before["needless"])
'''


class TestSteering(shim_runner.TestCase):
    def out(self, script, **env):
        return self.shim_run(script, env=dict({"PYTHONPATH": PATH, "GPUSHIM_FEED_MS": "0"}, **env), python_args=["-W", "ignore"]).stdout

    def test_disabled(self):
        """The memory stays gpushim's, so the results on the CPU are "host"."""
        on, off = "'device'", "'host'"
        expected = [on, off, False, off, off, on, True, on, off, on]
        self.assertEqual(self.out(DISABLED), "[%s]\n4\n" % ", ".join(map(str, expected)))

    def test_disabled_computes_the_same(self):
        plain = shim_runner.run(DISABLED.split("print(found)")[0], shim=False, env={"PYTHONPATH": PATH})
        shimmed = shim_runner.run(DISABLED, env={"PYTHONPATH": PATH})
        self.assertEqual(len(plain.values), 3, repr(plain))
        self.assert_equal_values(shimmed, plain)

    def test_disabled_belongs_to_the_thread(self):
        self.assertEqual(eval(self.out(THREADS)), {"other": ("device", True), "mine": ("host", False), "child": 0, "late": "device",
                                                   "after": "device"})

    def test_disabled_means_one_core(self):
        """NumPy's own code is not divided among cores either."""
        script = HEAD.replace("N = 300000", "N = 3000000") + '''
for i in range(6): b = a + 1.0; a[:] = b
before = report()["counters"]["parallel_loops"]
with gpushim.disabled():
    for i in range(6): b = a + 1.0; a[:] = b; b = np.sqrt(a, dtype="f8"); b = a.reshape(5000, 600).T.copy()
print(before, report()["counters"]["parallel_loops"] - before)
'''
        before, inside = self.out(script, GPUSHIM_DEVICE="cpu", GPUSHIM_MODE="auto", GPUSHIM_HOST_THREADS="2").split()
        self.assertGreater(int(before), 0)
        self.assertEqual(int(inside), 0)

    def test_arrays_are_sent(self):
        self.assertEqual(self.out(SEND), "[]\n")

    def test_sending_starts_the_device(self):
        self.assertEqual(self.out(STARTS, GPUSHIM_MODE="auto"), "shared\n")

    def test_sync(self):
        self.assertEqual(self.out(SYNC, GPUSHIM_FUSION="1"), "0 0\n")
        self.assertEqual(self.out(SYNC, GPUSHIM_FUSION="1", GPUSHIM_SYNC="1"), "10 0\n")

    def test_without_the_library(self):
        script = '''
import numpy as np, gpushim
a = np.ones(300000)
assert gpushim.device_array(a) is a and gpushim.device_array([1.0]).tolist() == [1.0]
with gpushim.disabled():
    print(gpushim.active(), (a + a).sum())
'''
        result = shim_runner.run(script, shim=False, env={"PYTHONPATH": PATH})
        self.assertEqual((result.stdout, result.stderr), ("False 600000.0\n", ""))


if __name__ == "__main__":
    shim_runner.main()
