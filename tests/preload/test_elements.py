# SPDX-License-Identifier: Apache-2.0
"""Single elements of arrays on the device: values, errors and warnings as plain NumPy's, and what moves."""
import shim_runner

PRELUDE = '''
import operator, threading, warnings
import numpy as np
from shim_script import attempt, dump, on_device, residency, moved_by
rng = np.random.default_rng(5)
DTYPES = "?bhilBHILefdFD"

def make(shape, dtype):
    values, kind = rng.integers(-50, 50, shape), np.dtype(dtype).kind
    if kind == "c":
        return (values + 1j * rng.integers(-5, 5, shape)).astype(dtype)
    return (values > 0) if kind == "b" else (abs(values) if kind == "u" else values).astype(dtype)

def resident(a):
    """The same values, strides and shape, of which only the device holds the contents."""
    base = np.empty(a.shape, a.dtype)
    np.copyto(base, on_device(a) if a.dtype != bool else np.logical_or(a, np.zeros(1, bool)))
    return base

def layouts(dtype):
    """Copies in new memory at each call: an access must not find what an earlier one moved."""
    a = make((5, 6), dtype)
    yield "c", lambda: resident(a)
    yield "t", lambda: resident(a).T
    yield "strided", lambda: resident(np.repeat(a, 2, axis=1))[:, ::2]
    yield "backwards", lambda: resident(a)[::-1, ::-1]
    yield "one axis", lambda: resident(a.ravel())
    yield "one axis, backwards", lambda: resident(a.ravel())[::-3]
    yield "0-d", lambda: resident(a[:1, :1]).reshape(())
    yield "size 1", lambda: resident(a[:1, :1])

class Index:
    def __index__(self): return 2
class Int(int): pass
KEYS = [0, -1, 4, 5, 29, 30, -30, -31, 2**70, True, np.int64(3), np.int8(-2), np.uint64(1),
    np.uint64(2**63), np.bool_(True), np.array(2), Index(), Int(1), 1.0, "x", None, (), (1,), (0, 0), (-1, -1),
    (4, 5), (5, 0), (0, 6), (np.int32(2), 3), (True, 1), (1, np.array(2)), (0, 0, 0), (1, ...), (..., 2, 3),
    (0, 0.0), (-6, 0), (1, Index())]
'''

RESIDENT = '''
def check_stays(array, function, most):
    """On the device before and after; at most so many bytes move."""
    assert residency(array) in ("device", "plain"), residency(array)
    moved = moved_by(function)
    assert residency(array) in ("device", "plain"), residency(array)
    assert moved["download_bytes"] <= most and moved["upload_bytes"] == 0, moved
big = 1 << 20
'''

REPORT = '''
from shim_script import report
def calls(name):
    return sum(row["device_calls"] for row in report()["operations"] if row["name"].split()[0] == name)
'''


class TestElements(shim_runner.TestCase):
    def test_read(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, fresh in layouts(dtype):
        for number, key in enumerate(KEYS):
            a = fresh()
            attempt("%s %s %d" % (dtype, layout, number), lambda: a[key])
            a = fresh()
            attempt("%s %s %d item" % (dtype, layout, number), lambda: a.item(key))
        a = fresh()
        attempt("%s %s items" % (dtype, layout), lambda: (a.item(1, 2), a.item(-1, np.int8(-1))))
        attempt("%s %s too many" % (dtype, layout), lambda: a.item(1, 2, 3))
        attempt("%s %s keyword" % (dtype, layout), lambda: a.item(args=1))
''', device="element")

    def test_numbers(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, fresh in layouts(dtype):
        for number in (bool, int, float, complex, operator.index, np.ndarray.item, str, repr, format):
            a = fresh()
            attempt("%s %s %s" % (dtype, layout, number.__name__), number, a)
for value in (np.nan, np.inf, 1e300, -0.0, 1e-320):
    for number in (bool, int, float, complex):
        a = resident(np.array([value])).reshape(())
        attempt("%r %s" % (value, number.__name__), number, a)
attempt("empty", bool, resident(make((3,), "d"))[:0])
''', device="element")

    def test_store(self):
        self.assert_same(PRELUDE + '''
for dtype in DTYPES:
    for layout, fresh in layouts(dtype):
        for number, key in enumerate(KEYS):
            def go():
                a = fresh()
                try:
                    a[key] = 7
                except Exception as error:
                    return type(error).__name__, str(error), a
                return a
            attempt("%s %s %d" % (dtype, layout, number), go)
''', device="fill")

    def test_stored_values(self):
        self.assert_same(PRELUDE + '''
VALUES = [0, -1, 255, 256, -129, 2**31, 2**63, 2**64, -2**63 - 1, 1e30, -1e-310, 1e300, 1.5, np.nan, np.inf,
    -0.0, True, 2j, complex(1, np.nan), np.float32(1e30), np.float64(1e300), np.int8(-3), np.uint64(2**63),
    np.float16(2), np.complex64(1 + 2j), np.bool_(True), np.array(3), np.array(1.5), np.array(True), np.array(2j), np.array(7, "b"),
    np.array(2.5, ">f8"), np.array(-0.0, "f4"), np.array([2.5]), np.array([1, 2]), [3],
    None, "7", "x", b"1", np.str_("2"), np.datetime64(1, "s"), object()]
for dtype in DTYPES:
    for number, value in enumerate(VALUES):
        for warned in ("always", "error"):
            a = resident(make((40,), dtype))
            def go():
                with warnings.catch_warnings():
                    if warned == "error":
                        warnings.simplefilter("error")
                    a[-3] = value
            attempt("%s %d %s" % (dtype, number, warned), go)
            dump("%s %d %s: stored" % (dtype, number, warned), a)
for state in ("ignore", "warn", "raise"):
    a = resident(make((40,), "f"))
    def go():
        with np.errstate(all=state):
            a[3] = 1e300
    attempt("errstate " + state, go); dump("errstate %s: stored" % state, a)
''', device="fill")

    def test_other_arrays(self):
        """Read-only arrays, subclasses, and dtypes that no device has."""
        self.assert_same(PRELUDE + '''
class Sub(np.ndarray): pass
def variants():
    a = resident(make((6, 6), "d")); a.flags.writeable = False; yield "read-only", a
    yield "subclass", resident(make((6, 6), "d")).view(Sub)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "matrix", resident(make((6, 6), "d")).view(np.matrix)
    yield "masked", np.ma.array(resident(make((6, 6), "d")))
    yield "record", resident(make((6, 6), "d")).view([("x", "f4"), ("y", "f4")])
    for dtype in (">f8", "M8[s]", "m8[s]", "S8", "U2", "V8"):
        yield dtype, resident(make((6, 6), "d")).view(dtype)
    yield "unaligned", resident(make((100,), "b"))[1:97].view("f8").reshape(2, 6)
for name, a in variants():
    attempt(name + " read", lambda: a[1, 2]); attempt(name + " item", lambda: a.item(3))
    attempt(name + " float", lambda: float(a[1:2, 2:3].reshape(())))
    def store(): a[1, 3] = 2
    attempt(name + " store", store)
    dump(name, np.asarray(a))
''')

    def test_threads(self):
        self.assert_same(PRELUDE + '''
a = resident(make((1 << 16,), "l")); found = {}
def work(thread):
    total = 0
    for i in range(thread, 4000, 8):
        a[i] = a[-1 - i] + i
        total += a[i].item() + int(a[i + 8])
    found[thread] = total
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
dump("totals", sorted(found.items())); dump("array", a)
''')

    def test_reads_leave_the_array(self):
        self.shim_run(PRELUDE + RESIDENT + REPORT + '''
a = on_device(np.arange(float(big)))
def go():
    assert a[0] == 0 and a[-1] == big - 1 and type(a[2]) is np.float64
check_stays(a, go, 3 * 8)
for read in (lambda a: a.item(5), lambda a: a.item(-5), lambda a: float(a[7]), lambda a: a[np.int32(9)],
             lambda a: float(a[4:5].reshape(())), lambda a: int(a[4:5].reshape(())), lambda a: bool(a[4:5]),
             lambda a: complex(a[4:5].reshape(())), lambda a: a[4:5].item(), lambda a: a.reshape(1024, 1024)[3, -4],
             lambda a: a.reshape(1024, 1024).T.item(3, 4), lambda a: a[4:5].reshape(())[()]):
    a = on_device(np.arange(float(big)))
    before = calls("element"); check_stays(a, lambda: read(a), 8); assert calls("element") == before + 1
i = on_device(np.arange(big)); check_stays(i, lambda: operator.index(i[4:5].reshape(())), 8)
''')

    def test_stores_leave_the_array(self):
        self.shim_run(PRELUDE + RESIDENT + '''
a = on_device(np.arange(float(big)))
def go(): a[0] = a[-2]; a[-1] = a[1]
check_stays(a, go, 16)
assert a[0] == big - 2 and a[-1] == 1.0
b = on_device(np.arange(float(big))).reshape(1024, 1024)
def go(): b[3, 4] = 2; b[-1, np.int64(5)] = 1e3
check_stays(b, go, 0)
assert b[3, 4] == 2.0 and b[-1, 5] == 1e3
def go(): b[3, 4] = np.array(7.5)
check_stays(b, go, 0)
zero_d = on_device(np.arange(float(big)))[7:8].reshape(())
def go(): b[3, 5] = zero_d
check_stays(b, go, 8)
assert b[3, 4] == 7.5 and b[3, 5] == 7.0
''')

    def test_arrays_that_leave_the_host(self):
        """The hook remembers arrays that are open to the host, but not for longer than they are."""
        self.shim_run(PRELUDE + RESIDENT + '''
a = np.empty(big)
for i in range(0, big, 256): a[i] = i
assert residency(a) == "host" and a[256] == 256.0
a *= 2.0
check_stays(a, lambda: a[256], 8)
a.tolist(); assert residency(a) == "shared"
a[256]; a *= 2.0
check_stays(a, lambda: a[256], 8)
assert a[512] == 2048.0
''')

    def test_boundaries_between_steps(self):
        """Each step of the device begins a new account: boundary elements never bring the array home."""
        self.shim_run(PRELUDE + RESIDENT + '''
u = on_device(np.arange(float(big))); plain = np.arange(float(big)).tolist()
def steps():
    global u
    for _ in range(100):
        u *= 1.0
        u[0] = u[-2]; u[-1] = u[1]
check_stays(u, steps, 200 * 8)
def steps():
    global u
    for _ in range(200): u *= 1.0; u[5]
check_stays(u, steps, 200 * 8)
x = on_device(np.arange(float(big)))
def steps():
    for i in range(600):
        x[i] = 1.5
        x * 2.0
check_stays(x, steps, 0)
''')

    def test_loops_bring_the_array_home(self):
        self.shim_run(PRELUDE + '''
n = 10000
def check(function, state):
    a = on_device(np.arange(float(n))); assert residency(a) == "device"
    moved = moved_by(lambda: function(a))
    assert residency(a) == state, residency(a)
    assert moved["downloads"] <= 50 and moved["download_bytes"] <= n * 8 + 50 * 8, moved
    return a
def read(a): assert sum(a[i] for i in range(n)) == n * (n - 1) / 2
def item(a): assert sum(a.item(i) for i in range(n)) == n * (n - 1) / 2
def store(a):
    for i in range(n): a[i] = i + 1
def both(a):
    for i in range(1, n): a[i] = a[i - 1] + 2.0
def across(a):
    b = on_device(np.ones(100))
    for i in range(n): t = a[i]; b * 2.0 if i < 40 else None
check(read, "shared"); check(item, "shared"); check(across, "shared")
assert check(store, "host").sum() == n * (n + 1) / 2
assert check(both, "host")[-1] == 2.0 * (n - 1)
''')

    def test_few_fetched_elements_tell_nothing_of_the_call(self):
        """The policy counts an output as fetched when its chunk is."""
        self.shim_run(PRELUDE + RESIDENT + REPORT + '''
def fetched():
    return sum(row.get("outputs_fetched", 0) for row in report()["operations"])
a = on_device(np.arange(float(big)))
before = fetched(); a[5]; assert fetched() == before
a.tolist(); assert fetched() == before + 1
''')

    def test_printing(self):
        self.shim_run(PRELUDE + RESIDENT + '''
a = on_device(np.arange(8.0 * big))
check_stays(a, lambda: print(a), 4096)
''')
