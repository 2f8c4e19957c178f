# SPDX-License-Identifier: Apache-2.0
"""Recorded calls as a program sees them: nothing but time may differ. Chains become one launch, warnings of results that
nobody looks at still come, and threads, forks and the end of the process find everything in order.
"""
import unittest

import shim_runner

HEAD = """
import warnings
import numpy as np
from shim_script import attempt, dump, on_device, report, synchronize
def launches(function):
    before = report(); result = function(); synchronize(); after = report()
    launches.count = before and after["counters"]["launches"] - before["counters"]["launches"]
    return result
def expect(count):
    assert launches.count in (None, count), launches.count
N = 50000
a = on_device(np.linspace(0.5, 2, N)); b = on_device(np.linspace(1, 3, N)); synchronize()
"""

CHAINS = HEAD + """
r = launches(lambda: a * b + a / (b + 1) - a); expect(1); dump("chain", r)
r = launches(lambda: np.where(a > 1, np.sqrt(a), b).astype("f4")); expect(1); dump("choice", r)
def grow():
    c = a.copy()
    for k in range(10):
        c += b
        c *= 0.5
    return c
r = launches(grow); expect(1); dump("in place", r)
r = launches(lambda: np.arange(N).reshape(100, -1).T * 2); expect(1); dump("view", r)
def dropped():
    for k in range(10):
        np.equal(a, b)          # may raise no error, is looked at by nobody
    return a + b
r = launches(dropped); expect(1); dump("dropped", r)
def two():
    c = a + 1
    return c * 2, c * 3
r = launches(two); expect(1); dump("two results", r)
m = on_device(np.arange(40000.).reshape(200, 200) % 17); synchronize()
def stencil():
    m[1:-1, 1:-1] = 0.25 * (m[2:, 1:-1] + m[:-2, 1:-1] + m[1:-1, 2:] + m[1:-1, :-2])
    return m
r = launches(stencil); expect(2); dump("stencil", r)
for k in range(20):
    stencil()
dump("stencils", m)
"""

WARNINGS = HEAD + """
def nobody_looks():
    np.log(b - 2)
    np.divide(a, a * 0)
    synchronize()
attempt("dropped", nobody_looks)
def raises():
    with np.errstate(all="raise"):
        c = a + b
        d = c / (a - a)
        return d
attempt("raises", raises)
def chain():
    c = np.sqrt(b - 2)           # NaN below 2
    d = c * 2
    e = np.exp(d * 1000)         # overflows
    synchronize()
    return e
attempt("chain", chain)
"""

MIXED = HEAD + """
z = 1j * a + b; z = z * 0.5 + a; dump("mixed", z)
dump("parts", (z.real * z.real + z.imag * z.imag))
"""

THREADS = HEAD + """
import threading
shared = a + b
results = [None] * 4
def work(k):
    c = shared
    for n in range(200):
        c = c * 0.5 + shared
        if n % 50 == k:
            c[k] = c[k + 1] + 1      # looks, and writes
    results[k] = c
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads: t.start()
for t in threads: t.join()
for k, c in enumerate(results): dump("thread %d" % k, c)
"""

LATE = HEAD + """
import os
c = a + b
pid = os.fork()
if pid == 0:
    os._exit(0 if (c == a + b).all() else 3)
assert os.waitpid(pid, 0)[1] == 0
d = c * 2
a[5] = 100.0                      # after the call: d does not see it
e = a * 2
dump("d", d); dump("e", e)
f = np.log(b)                     # still recorded when the process ends
"""


IDLE = HEAD + """
import time
c = a + b
def wait():
    for k in range(500):
        time.sleep(0.01)
        if not report() or report()["counters"]["flushes"] > before["counters"]["flushes"]:
            return
before = report()
d = c * 2
wait()
dump("was run", not report() or report()["counters"]["flushes"] > before["counters"]["flushes"])
dump("d", d)
"""

BESIDE = HEAD + """
import time
sizes = [1000 + 16 * k for k in range(6)]       # no two of them in one kernel
halves = [on_device(np.full(size, 0.5)) for size in sizes]
arrays = [half * 3 for half in halves]
def loop():
    inside = 0.0
    for step in range(40):
        for k, half in enumerate(halves):
            begin = time.perf_counter()
            arrays[k] = np.minimum(arrays[k], half + arrays[k])
            inside += time.perf_counter() - begin
        time.sleep(0.003)
    return inside
loop(); synchronize()
inside = launches(loop)
if launches.count:
    assert inside < 0.5 * LAUNCH_S * launches.count, (inside, launches.count)
for k, array in enumerate(arrays): dump("array %d" % k, array)
"""


class TestDeferral(shim_runner.TestCase):
    def check(self, script, **env):
        return self.assert_same(script, env=dict({"GPUSHIM_FUSION": "1", "GPUSHIM_FEED_MS": "0"}, **env), rtol={"": 1e-13})

    def test_chains_are_one_launch(self):
        self.check(CHAINS, GPUSHIM_BACKGROUND="0")  # a GPU's first calls would run one by one

    def test_without_fusion(self):
        result = self.assert_same(CHAINS.replace("launches.count in (None, count)", "True"),
                                  env={"GPUSHIM_FUSION": "0"}, rtol={"": 1e-13})
        self.assertGreater(shim_runner.counter(result.report, "launches"), 60)

    def test_warnings(self):
        for mode in "deferred", "late", "strict":
            self.check(WARNINGS, GPUSHIM_FPERR=mode)

    def test_dtypes_that_differ(self):
        result = self.check(MIXED)
        complex_rows = [row for row in result.report["operations"] if row["signature"].startswith("DD")]
        self.assertEqual([(row["name"], row["device_calls"], row["host_calls"]) for row in sorted(
            complex_rows, key=lambda row: row["name"])], [("add", 2, 0), ("multiply", 2, 0)])

    def test_idle_device_is_fed(self):
        self.check(IDLE, GPUSHIM_FEED_MS="1")

    @unittest.skipUnless(shim_runner.is_emulated(), "no emulated GPU, whose launches can be slow")
    def test_calls_do_not_wait_for_launches(self):
        """They are recorded while the thread that feeds the device is at a launch."""
        self.check("LAUNCH_S = 0.01\n" + BESIDE, GPUSHIM_FEED_MS="1", EMULATED_LAUNCH_US="10000")

    def test_threads(self):
        for milliseconds in "0", "1":
            self.check(THREADS, GPUSHIM_FEED_MS=milliseconds)

    def test_fork_and_exit(self):
        self.check(LATE)


if __name__ == "__main__":
    unittest.main()
