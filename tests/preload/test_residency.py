# SPDX-License-Identifier: Apache-2.0
"""Where arrays are and what moves: the state of arrays as gpushim_residency tells it, and the bytes
that the report counts. Force mode, so that the cost model has no say.
"""
import unittest

import shim_runner

HEAD = '''
import ctypes, os, tempfile
import numpy as np
from shim_script import gpushim, on_device, report, residency, synchronize
N = 1 << 20  # 8 MiB of doubles: four chunks
def host(n=N):
    a = np.empty(n); a[:] = 0.0
    for i in range(0, n, 512): a[i] = float(i)   # written by the host, page by page
    return a
def moved(function):
    before = report()["counters"]; result = function(); synchronize(); after = report()["counters"]
    moved.up = after["upload_bytes"] - before["upload_bytes"]
    moved.down = after["download_bytes"] - before["download_bytes"]
    return result
def expect(array, *states):
    assert residency(array) in states, (residency(array), states)
'''

TRANSITIONS = HEAD + '''
a = host(); expect(a, "host")
b = moved(lambda: a + 1.0); expect(a, "shared"); expect(b, "device")
assert (moved.up, moved.down) == (a.nbytes, 0), (moved.up, moved.down)
moved(lambda: a * 2.0); assert (moved.up, moved.down) == (0, 0)
assert b[7] == 1.0; expect(b, "device")  # one element moves
assert memoryview(b)[7] == 1.0; expect(b, "shared")  # a page fault
assert a[512] == 512.0; expect(a, "shared")
a[512] = 5.0; expect(a, "host")
c = a + b; expect(a, "shared"); expect(b, "shared"); expect(c, "device"); assert c[512] == 518.0
b += 1.0; expect(b, "device"); assert memoryview(b)[512] == 514.0; expect(b, "shared")
b[:] = 3.0; expect(b, "device", "host"); assert b[-1] == 3.0
d = np.arange(float(N)); expect(d, "device"); assert d[-1] == N - 1
e = d.copy(); expect(e, "device"); f = d.astype("f4"); expect(f, "device"); assert f[9] == 9.0
g = d > 5.0; expect(g, "device"); assert g.sum() == N - 6
h = d.reshape(1024, 1024).T; k = h * 2.0; expect(k, "device")
assert k[3, 5] == 2.0 * (5 * 1024 + 3)
v = k[10:20, ::3]; expect(v, "device", "shared"); w = v + 1.0; expect(w, "device")
assert w[0, 1] == k[10, 3] + 1.0
small = np.array([1.0, 2.0]); expect(small, "foreign"); t = small + d[:2]; expect(t, "device")
assert t.tolist() == [1.0, 3.0]
expect(np.array([1, 2, 3]), "foreign")
assert [gpushim().gpushim_residency(x) for x in (None, 1, id(t))] == [0, 0, 0]
m = d.reshape(1024, 1024); p = m @ m; expect(p, "device")
assert p[0, 0] == sum(float(i) * (i * 1024) for i in range(1024))
s = m.sum(axis=0); expect(s, "device"); assert s[0] == sum(range(0, N, 1024))
with tempfile.TemporaryFile() as f:
    x = d + 1.0; expect(x, "device"); os.write(f.fileno(), x); expect(x, "shared")
    os.lseek(f.fileno(), 0, 0); y = x * 0.0; expect(y, "device"); os.readv(f.fileno(), [y])
    expect(y, "host"); assert (y == x).all()
print("done")
'''

RESIDENT_LOOP = HEAD + '''
a, b = host(1000000), host(1000000)
c = a + b; synchronize()
def loop():
    c = a
    for n in range(250):
        c = c + b
        c = c * 0.5
        np.subtract(c, a, out=c)
        c = np.maximum(c, b)
    return c
c = moved(loop)
assert (moved.up, moved.down) == (0, 0), (moved.up, moved.down)
expect(c, "device"); assert c[0] == 0.0
def chain():
    x = np.zeros(500000)
    for n in range(100):
        x[1:-1] = (x[:-2] + x[2:]) * 0.5 + 1.0   # a stencil: slices read and assigned
        y = x.reshape(500, 1000).sum(axis=0)
    return y
y = moved(chain); assert moved.down == 0 and moved.up <= 500000 * 8, (moved.up, moved.down)
print("done")
'''

DOWNLOADS = HEAD + '''
n = 8 << 20  # 64 MiB
a = np.arange(float(n)); synchronize()
middle = memoryview(a)[n // 2 : n // 2 + 1]
moved(lambda: middle[0]); assert 0 < moved.down <= a.nbytes // 4, moved.down
moved(lambda: middle[0]); assert moved.down == 0
def sweep():
    view = memoryview(a)
    for i in range(0, n, 1024): assert view[i] == float(i)
moved(sweep); assert moved.up == 0 and moved.down <= a.nbytes, moved.down
moved(sweep); assert moved.down == 0
expect(a, "shared"); moved(lambda: a + 1.0); assert (moved.up, moved.down) == (0, 0)
b = a + 1.0; moved(lambda: b.tobytes()); assert moved.down == b.nbytes, moved.down
# What nobody reads is never fetched.
def unread():
    for _ in range(50): a + 1.0
moved(unread); assert (moved.up, moved.down) == (0, 0)
# What the CPU computes fetches its operand once, in bulk.
c = a * 3.0; before = report()["counters"]; c.view("V8").tobytes(); after = report()["counters"]
assert after["download_bytes"] - before["download_bytes"] == c.nbytes
print("done")
'''

PING_PONG = HEAD + '''
a = on_device(host()); expected = np.array(a.tolist())
for n in range(30):
    a[n] += 1.0                # host
    a *= 1.0                   # device
    expected[n] += 1.0
    b = a + 0.0                # device
    assert b[n] == expected[n] # host
    a[5:9] = a[6:10] + 1.0     # both, part of a chunk
    expected[5:9] = [x + 1.0 for x in expected[6:10].tolist()]
assert a.tolist() == expected.tolist()
# Parts of one array on different sides.
c = on_device(host())
c[0] = -1.0; c[N // 2] = -2.0; d = c + 0.0
assert d[0] == -1.0 and d[N // 2] == -2.0 and d[512] == 512.0 and d[N - 512] == N - 512
for n in range(0, N, N // 16): c[n:n + 100] += 1.0; c[n + 50] -= 1.0
assert [c[n + 50] for n in range(0, N, N // 16)] == [0.0] * 16 and c[51] == 1.0
# Reuse of freed memory: a new array never sees an old one's state.
for n in range(200):
    x = np.empty(40000); x[:] = n; y = x + 1.0; z = np.empty(40000); z[5] = n; assert z[5] == n
    del x; w = np.zeros(40000); assert w[777] == 0.0 and y[39999] == n + 1.0; w[777] = 1.0; w += 1.0
    assert w[777] == 2.0
print("done")
'''

MODES = '''
import sys
import numpy as np
a = np.arange(100000.0)
b = np.ones(100000)
for _ in range(50):
    a = a + b
    if _ % 10 == 0: a[3] = 0.0
print(a[:5].tolist(), a.sum())
'''


class TestResidency(shim_runner.TestCase):
    def check(self, script):
        self.assertEqual(self.shim_run(script).stdout, "done\n")

    def test_transitions(self):
        self.check(TRANSITIONS)

    def test_resident_loop_moves_nothing(self):
        self.check(RESIDENT_LOOP)

    def test_downloads(self):
        self.check(DOWNLOADS)

    def test_ping_pong(self):
        self.check(PING_PONG)

    def test_ways_to_fill_pages(self):
        for fill in ("swap", "procmem"):
            with self.subTest(fill):
                result = self.shim_run(PING_PONG, env={"GPUSHIM_FILL": fill})
                self.assertEqual(result.stdout, "done\n")

    def test_auto_mode(self):
        self.assert_same(MODES, env={"GPUSHIM_MODE": "auto"}, device=False, same_stderr=True)


if __name__ == "__main__":
    unittest.main()
