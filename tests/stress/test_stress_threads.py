# SPDX-License-Identifier: Apache-2.0
"""Threads, faults, fork and system calls on protected pages at once, with results that must be exact.

Each script checks itself, so it is first run plain, to show that the checks hold for NumPy, and then
under the shim. SHIM_STRESS_SECONDS is how long each runs (default 3).
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "preload"))
import shim_runner  # noqa: E402

SECONDS = os.environ.get("SHIM_STRESS_SECONDS") or "3"

HEAD = '''
import os, random, sys, tempfile, threading, time
import numpy as np
end = time.monotonic() + float(sys.argv[1])
failures = []
def guarded(function, *args):
    def run():
        try:
            rounds = 0
            while time.monotonic() < end and not failures:
                function(rounds, *args); rounds += 1
        except BaseException as error:
            failures.append("%s%r: %r" % (function.__name__, args, error))
    return threading.Thread(target=run)
def together(*threads):
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print("failures", failures)
    sys.exit(bool(failures))
'''

# Writers add to elements of their own; device work reads the whole array and must never see an
# element go back; at the end nothing is lost. 64 Ki elements: neighbours share pages and chunks.
COUNTERS = HEAD + '''
N, WRITERS = 1 << 16, 3
shared = np.zeros(N)
counts = [[0] * 16 for _ in range(WRITERS)]
places = [[random.Random(w).randrange(N // WRITERS) * WRITERS + w for _ in range(16)] for w in range(WRITERS)]
places = [list(dict.fromkeys(p)) for p in places]
def write(n, w):
    k = n % len(places[w]); shared[places[w][k]] += 1.0; counts[w][k] += 1
    if n % 50 == 0: time.sleep(0.0005)
def watch(n, name, last):
    copy = shared + 0.0 if n % 2 else shared * 1.0
    for w in range(WRITERS):
        for k, place in enumerate(places[w]):
            value = copy[place]
            assert value >= last.get(place, 0.0), (place, value, last[place])
            last[place] = value
def together(*threads):
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    for w in range(WRITERS):
        for k, place in enumerate(places[w]):
            if shared[place] != counts[w][k]: failures.append((place, float(shared[place]), counts[w][k]))
    total = sum(map(sum, counts))
    if shared.sum() != total or (shared + 0.0).sum() != total: failures.append(("sum", shared.sum(), total))
    print("failures", failures); sys.exit(bool(failures))
together(*[guarded(write, w) for w in range(WRITERS)], *[guarded(watch, n, {}) for n in range(2)])
'''

# Every thread allocates, computes, touches and frees at random; values are functions of the seed.
CHURN = HEAD + '''
def churn(n, seed):
    random_ = random.Random(seed * 1000003 + n)
    size = random_.choice((1, 100, 5000, 70000, 400000))
    base = float(seed * 1000 + n % 1000)
    a = np.full(size, base); b = np.arange(size, dtype="f8")
    c = a + b; del a
    if random_.random() < 0.5: assert c[size // 2] == base + size // 2
    if random_.random() < 0.3: c[size - 1] = base + size - 1
    d = c.reshape(1, -1).T * 2.0
    if random_.random() < 0.5: c = None
    e = d[::-1] - d
    assert d[0, 0] == 2.0 * base and d[-1, 0] == 2.0 * (base + size - 1), (d[0, 0], base)
    assert e[0, 0] == 2.0 * (size - 1)
    np.add(d, 1.0, out=d); assert d[size - 1, 0] == 2.0 * (base + size - 1) + 1.0
    i = b.astype("i8"); assert int(i.sum()) == size * (size - 1) // 2
    assert (i >= 0).all() and int(i.max()) == size - 1
together(*[guarded(churn, n) for n in range(4)])
'''

# System calls read and write the buffers while other threads send the same arrays to the device.
SYSTEM_CALLS = HEAD + '''
N = 150000
folder = tempfile.TemporaryDirectory()
arrays = [np.zeros(N) for _ in range(3)]
def write_and_check(n, which):
    """Owns the middle third: fills it on the device or the host, writes it out, reads it back."""
    part = arrays[which][N // 3: 2 * N // 3]
    if n % 2: np.add(part, float(n) - part, out=part)
    else: part[:] = float(n)
    path = os.path.join(folder.name, str(which))
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    written = os.write(fd, part); assert written == part.nbytes, written
    back = np.frombuffer(os.pread(fd, part.nbytes, 0)); assert (back == float(n)).all(), (n, back)
    assert os.preadv(fd, [part], 0) == part.nbytes
    os.close(fd); assert part[0] == float(n) and part[-1] == float(n)
def offload(n, which):
    """Reads all of the array on the device, again and again; its own third holds one value."""
    arrays[which][:N // 3] = float(n)
    copy = arrays[which] * 2.0
    assert copy[0] == 2.0 * n and copy[N // 3 - 1] == 2.0 * n and copy[-1] == 0.0
def pipe(n):
    """Both ends of a pipe on one array's last third, which stays zero."""
    r, w = os.pipe()
    part = arrays[n % 3][2 * N // 3:][:4096]; target = np.ones(4096) + 1.0
    assert os.write(w, part) == part.nbytes and os.readv(r, [target]) == part.nbytes
    os.close(r); os.close(w); assert not target.any()
together(*[guarded(write_and_check, n) for n in range(2)], *[guarded(offload, n) for n in range(2)], guarded(pipe))
'''

# Children at any moment see the values of that moment.
FORKS = HEAD + '''
N = 200000
still = np.arange(N) + 1.0
moving = [np.zeros(N) for _ in range(2)]
lock = threading.Lock()
def busy(n, which):
    """In place, all elements equal whenever the lock is free."""
    with lock: np.add(moving[which], 1.0, out=moving[which])
    if n % 3 == 0: moving[which][n % N]
    small = np.arange(50.0) * float(n); assert small[1] == n
def fork(n):
    with lock:
        expected = [m[0] for m in moving]
        pid = os.fork()
        if pid == 0:
            good = still[0] == 1.0 and still[-1] == N and int((still * 2.0).sum()) == N * (N + 1)
            for m, value in zip(moving, expected):
                good = good and bool((m == value).all()) and (m + 1.0)[-1] == value + 1.0
            m[5] = -1.0
            os._exit(0 if good and m[5] == -1.0 else 3)
    done = os.waitpid(pid, 0)[1]; assert done == 0, done
    assert all((m == m[0]).all() for m in [still[:1]])
together(*[guarded(busy, n) for n in range(2)], guarded(fork))
'''

# Many protection changes in one range: the number of the kernel's mappings must not grow for good.
MAPPINGS = HEAD + '''
def mappings():
    with open("/proc/self/maps") as stream: return sum(1 for _ in stream)
def work(n):
    keep = []
    for k in range(40):
        a = np.arange(300000.0) + float(n)
        if k % 3 == 0: a[k * 1000] = 1.0
        if k % 2: keep.append(a)
    assert keep[0][5] == n + 5.0
work(0); np.arange(10.0) + 1.0
base = mappings()
n = 0
while time.monotonic() < end: n += 1; work(n)
print("grown" if mappings() > base + 300 else "steady", failures)
'''


class TestStress(shim_runner.TestCase):
    def check(self, script, python_args=()):
        shimmed = self.assert_same(script, args=[SECONDS], python_args=python_args,
                                   same_stderr=True, timeout=float(SECONDS) * 5 + 60)
        self.assertEqual(shimmed.returncode, 0)

    def test_counters(self):
        self.check(COUNTERS)

    def test_churn(self):
        self.check(CHURN)

    def test_system_calls(self):
        self.check(SYSTEM_CALLS)

    def test_forks(self):
        self.check(FORKS, python_args=["-W", "ignore"])

    def test_mappings(self):
        self.check(MAPPINGS)


if __name__ == "__main__":
    unittest.main()
