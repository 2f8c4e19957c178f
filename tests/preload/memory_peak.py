# SPDX-License-Identifier: Apache-2.0
"""Chains of calls on one large array, of which the program keeps the last result only; run by test_memory_peak.py.

    memory_peak.py [MIB [OPERATIONS]]      default: an array of 4 MiB, 1000 operations a chain

Under the shim it prints on stderr what device memory has been taken by then after each chain, in arrays, beside what the
libraries of the device took when NumPy was imported. That is a peak of the whole process: chains that need least come first.
"""
import sys

import numpy as np
from shim_script import dump, report, synchronize

BYTES = (int(sys.argv[1]) if len(sys.argv) > 1 else 4) << 20
OPERATIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
SIDE = int((BYTES // 8) ** 0.5)
ROW = np.linspace(0.5, 1.5, SIDE)
COLUMN = np.linspace(-1, 1, SIDE)[:, None]


def in_place(a, _):
    a *= 0.75
    a += ROW
    np.sqrt(a, out=a)
    np.maximum(a, 0.25, out=a)
    return a


def needless(a, _):
    np.equal(a, ROW)  # raises no error, and nobody looks
    return a * 0.75


def arithmetic(a, _):
    return a * 0.5 + COLUMN


def reductions(a, _):
    a = np.cos(a - a.mean(axis=0))
    return a / (1 + np.abs(a).max(axis=1, keepdims=True))


def unseen(a, _):
    np.exp(a)  # may overflow, which somebody may want to know
    np.add(a, ROW)
    return a * 0.5 + 0.25


def casts(a, _):
    return (a * 0.5).astype("f4").astype("f8") + ROW


def choices(a, _):
    return np.where(a > 0.3, a * 0.5, COLUMN + 0.5)


def waves(a, _):
    return np.sin(a) * 0.5 + np.cos(a)


def views(a, _):
    return a.T[::-1] * 0.5 + a[:, ::-1]


def slices(a, _):
    a[1:-1] = 0.25 * (a[2:] + a[:-2]) + 0.5 * a[1:-1]
    return a


def kept(a, step, earlier=[]):
    """Every tenth result outlives the next ten."""
    if step % 10 == 0:
        earlier[:] = [a]
    return a * 0.5 + ROW


# {chain: operations of a step}
CHAINS = {in_place: 4, needless: 2, arithmetic: 2, reductions: 7, unseen: 4, casts: 4, choices: 4, waves: 4, views: 2,
          slices: 5, kept: 2}


def run(chain, operations):
    a = np.add(ROW, COLUMN)
    for step in range(OPERATIONS // operations):
        a = chain(a, step)
    dump(chain.__name__, a[::7, ::5].copy())
    synchronize()


def taken():
    """Bytes at most so far; None without the shim."""
    counted = report()
    return counted["counters"]["device_peak_bytes"] if counted else None


def main():
    before = taken()
    for chain, operations in CHAINS.items():
        run(chain, operations)
        if before is not None:
            peak = (taken() - before) / (SIDE * SIDE * 8)
            print("peak %s %.2f" % (chain.__name__, peak), file=sys.stderr, flush=True)


main()
