# SPDX-License-Identifier: Apache-2.0
"""scipy.sparse's product of a CSR matrix with a vector against plain SciPy, bit for bit; any NaN equals any other. Skipped where there is
no SciPy."""
import importlib.util
import unittest

import shim_runner

PRELUDE = '''
import numpy as np
import scipy.sparse as sparse
from scipy.sparse import _sparsetools
from shim_script import attempt, dump, moved_by, on_device
rng = np.random.default_rng(7)
INDICES = ("i4", "i8")

def numbers(count, dtype):
    values = rng.standard_normal(count) * 9
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(count)
    return on_device(values.astype("i8").astype(dtype) if np.dtype(dtype).kind in "iu" else values.astype(dtype))

def plain(result):
    """An array whose NaNs are alike."""
    parts = [np.array(result.real), np.array(result.imag)]
    for part in parts:
        part[part != part] = np.nan if part.dtype.kind == "f" else 0
    return [result.dtype.str, *parts]

def matrix(counts, columns, dtype, index):
    """(rows, columns, starts, indices, numbers); in a row the columns come in no order, and twice."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    indices = rng.integers(0, columns, starts[-1])
    return len(counts), columns, on_device(starts.astype(index)), on_device(indices.astype(index)), numbers(starts[-1], dtype)

def product(a, x, y):
    """csr_matvec(*a, x, y), and whether the arrays stayed on the device."""
    moved = moved_by(lambda: _sparsetools.csr_matvec(*a, x, y))
    return [moved["download_bytes"] < 4096, *plain(y)]

COUNTS = {"ten": np.full(9000, 10), "sixteen": np.full(8192, 16), "random": rng.integers(0, 40, 9000), "mostly empty": (np.arange(9000) % 17 == 3) * 5,
          "one long": np.where(np.arange(9000) == 4000, 50000, np.arange(9000) % 3), "first long": np.where(np.arange(300) == 0, 30000, 1),
          "long": np.full(40, 3000), "one row": np.array([70000]), "one number": np.where(np.arange(9000) == 8999, 1, 0)}
'''


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestScipySpmv(shim_runner.TestCase):
    def compare(self, script):
        result = self.assert_same(PRELUDE + script)
        rows = [row for row in result.report["operations"] if row["name"].startswith("scipy.sparse.csr_matvec")]
        self.assertTrue(any(row["device_calls"] for row in rows))
        return rows

    def test_lengths_of_rows(self):
        rows = self.compare('''
for dtype in "fdFD":
    for index in INDICES:
        for name, counts in COUNTS.items():
            a = matrix(counts, 5000, dtype, index)
            attempt("%s %s %s" % (dtype, index, name), product, a, numbers(5000, dtype), numbers(len(counts), dtype))
''')
        self.assertEqual(sum(row["device_calls"] for row in rows), 4 * 2 * 9)
        self.assertEqual(sum(row["host_calls"] for row in rows), 0)

    def test_integers(self):
        rows = self.compare('''
for dtype in "bhilBHIL":
    for index in INDICES:
        for name in ("random", "one long"):
            a = matrix(COUNTS[name], 5000, dtype, index)
            attempt("%s %s %s" % (dtype, index, name), product, a, numbers(5000, dtype), numbers(9000, dtype))
''')
        self.assertEqual(sum(row["device_calls"] for row in rows), 8 * 2 * 2)

    def test_random_lengths(self):
        self.compare('''
for number in range(120):
    dtype, index = rng.choice(list("fdFD")), rng.choice(INDICES)
    rows, columns = int(rng.integers(1, 3000)), int(rng.integers(1, 3000))
    counts = np.minimum(rng.geometric(1 / rng.choice([1.5, 8, 60]), rows) - 1, 4000)
    counts[int(rng.integers(rows))] += int(rng.integers(1, 3000))
    a = matrix(counts, columns, dtype, index)
    attempt("%d" % number, product, a, numbers(columns, dtype), numbers(rows, dtype))
''')

    def test_special_numbers(self):
        self.compare('''
SPECIAL = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e38, -1e38, 1e308, 5e-324, 1e-45, 1, -1])
def special(count, dtype):
    values = rng.choice(SPECIAL, count)
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind == "c":
            values = values + 0j
            values.imag = rng.choice(SPECIAL, count)
        return on_device(values.astype(dtype))
for dtype in "fdFD":
    for index in INDICES:
        for name, make in {"all": special, "few": lambda count, dtype: np.where(rng.random(count) < 0.02, special(count, dtype), numbers(count, dtype))}.items():
            a = matrix(COUNTS["random"] // 4, 5000, dtype, index)
            a = (*a[:4], on_device(make(a[4].size, dtype)))
            attempt("%s %s %s" % (dtype, index, name), product, a, on_device(make(5000, dtype)), on_device(make(9000, dtype)))
    zeros = matrix(np.full(9000, 2), 5000, dtype, "i4")
    zeros = (*zeros[:4], on_device(np.full(18000, -0.0, dtype)))
    for sign in (0.0, -0.0):
        attempt("%s zeros %s" % (dtype, sign), product, zeros, on_device(np.ones(5000, dtype)), np.full(9000, sign, dtype))
''')

    def test_matrices(self):
        self.compare('''
for dtype in "fdFD":
    for name in ("random", "one long", "first long"):
        rows, columns, starts, indices, values = matrix(COUNTS[name], 5000, dtype, "i4")
        a = sparse.csr_matrix((values, indices, starts), shape=(rows, columns))
        a.data, a.indices, a.indptr = values, indices, starts
        x = numbers(5000, dtype)
        attempt("%s %s" % (dtype, name), lambda: plain(a @ x))
        attempt("%s %s column" % (dtype, name), lambda: plain(a @ x[:, None]))
        attempt("%s %s array" % (dtype, name), lambda: plain(sparse.csr_array(a) @ x))
        attempt("%s %s dot" % (dtype, name), lambda: plain(a.dot(x)))
        attempt("%s %s stepped" % (dtype, name), lambda: plain(a @ numbers(10000, dtype)[::2]))
        attempt("%s %s wider" % (dtype, name), lambda: plain(a @ numbers(5000, "d")))
        attempt("%s %s part" % (dtype, name), lambda: plain(a[10:250] @ x))
        attempt("%s %s recorded" % (dtype, name), lambda: plain(a @ (x * 2) + 1))
        attempt("%s %s chain" % (dtype, name), lambda: plain(a @ np.resize(a @ (a @ x)[:5000] if rows > 5000 else x, 5000)))
''')

    def test_other_calls(self):
        self.compare('''
a = matrix(COUNTS["random"], 5000, "d", "i4")
rows, columns, starts, indices, values = a
x, y = numbers(columns, "d"), numbers(rows, "d")
multiply = _sparsetools.csr_matvec
attempt("there", product, a, x, y)
for name, args in {"few": a, "many": (*a, x, y, y), "y of another dtype": (*a, x, np.zeros(rows, "f")), "x of another dtype": (*a, x.astype("f"), y.copy()),
                   "list": (*a, [1.0] * columns, y.copy()), "index of another dtype": (rows, columns, starts.astype("i8"), indices, values, x, y.copy()),
                   "stepped y": (*a, x, np.zeros(2 * rows)[::2]), "longer x": (*a, np.ones(columns + 5), y.copy()), "longer y": (*a, x, np.zeros(rows + 5)),
                   "fewer rows": (rows - 100, *a[1:], x, y.copy()), "no rows": (0, *a[1:], x, y.copy()), "long double": (*a[:4], values.astype("g"), x.astype("g"), y.astype("g")),
                   "bool": (*a[:4], values > 0, x > 0, np.zeros(rows, "?")), "longer numbers": (*a[:4], np.append(values, 1.0), x, y.copy())}.items():
    attempt(name, multiply, *args)
    dump(name + " y", np.array(args[-1]) if name != "few" else None)
y.flags.writeable = False
attempt("read-only", multiply, *a, x, y)
attempt("empty", multiply, 9000, 5000, np.zeros(9001, "i4"), np.zeros(0, "i4"), np.zeros(0), x, np.ones(9000))
attempt("no columns", multiply, 9000, 0, np.zeros(9001, "i4"), np.zeros(0, "i4"), np.zeros(0), np.zeros(0), np.ones(9000))
attempt("empty matrix", lambda: plain(sparse.csr_matrix((9000, 5000)) @ x))
descending = starts.copy()
descending[4000:5000:7] = 17  # such rows are read by SciPy, too
attempt("descending", product, (rows, columns, on_device(descending), indices, values), x, numbers(rows, "d"))
order = rng.permutation(rows + 1)
attempt("any starts", product, (rows, columns, on_device(np.array(starts)[order]), indices, values), x, numbers(rows, "d"))
''')


@unittest.skipUnless(importlib.util.find_spec("scipy"), "there is no SciPy")
class TestPrice(shim_runner.TestCase):
    """A row's numbers come one after another, so it takes many rows to pay. They are of one byte: the memory of the device `host` is no faster than
    the CPU's, and gathers are charged there."""

    def calls(self, rows, length):
        result = shim_runner.run('''
import time
import numpy as np
import scipy.sparse as sparse
rows, length = %d, %d
a = sparse.csr_matrix((np.ones(rows * length, 'i1'), np.arange(rows * length) %% 10000, np.arange(rows + 1) * length), shape=(rows, 10000))
x = np.ones(10000, 'i1')
for turn in range(50):  # the kernel may be compiled beside the first ones
    y = a @ x
    time.sleep(0.1)
''' % (rows, length), env={"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"})
        self.assertEqual(result.returncode, 0, result)
        found = [row for row in result.report["operations"] if row["name"].startswith("scipy.sparse.csr_matvec")]
        return sum(row["device_calls"] for row in found), sum(row["host_calls"] for row in found)

    def test_one_row_stays_on_the_cpu(self):
        self.assertEqual(self.calls(1, 1000000), (0, 50))

    def test_many_rows_do_not(self):
        self.assertGreater(self.calls(300000, 10)[0], 0)


if __name__ == "__main__":
    unittest.main()
