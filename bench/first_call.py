# SPDX-License-Identifier: Apache-2.0
"""The first calls of a process, on arrays that the host has just made: plain NumPy and gpushim in mode auto, in turns.

    .venv/bin/python bench/first_call.py [--cases svd_512,fft_65536,...] [--rounds 9] [--calls 4] [--wait 0]

Each process makes one case's call a few times and reads a number of each answer. Printed are the medians over the
rounds: of the first call, plain and under the shim, of the later ones, and of the ratio of the two first calls of a
round, with its quartiles; a ratio whose lower quartile is beyond 1.05 is marked. --wait: seconds between the operands
and the first call.
"""
import argparse
import statistics
import subprocess
import sys

import common

BOUND = 1.05

# name: (operands, call); `normal` makes random numbers, `definite` a positive definite matrix
CASES = {
    **{"matmul_%d" % n: ("a = normal(%d, %d)" % (n, n), "a @ a") for n in (256, 1024, 4096)},
    **{"solve_%d" % n: ("a = normal(%d, %d)" % (n, n), "np.linalg.solve(a, a)") for n in (256, 1024, 4096)},
    **{"inv_%d" % n: ("a = normal(%d, %d)" % (n, n), "np.linalg.inv(a)") for n in (512, 2048)},
    **{"cholesky_%d" % n: ("a = definite(%d)" % n, "np.linalg.cholesky(a)") for n in (1024, 4096)},
    **{"eigh_%d" % n: ("a = definite(%d)" % n, "np.linalg.eigh(a)[0]") for n in (512, 2048)},
    **{"svd_%d" % n: ("a = normal(%d, %d)" % (n, n), "np.linalg.svd(a)[1]") for n in (512, 1024)},
    **{"qr_%d" % n: ("a = normal(%d, %d)" % (n, n), "np.linalg.qr(a)[1]") for n in (1024, 2048)},
    **{"fft_%d" % n: ("a = normal(%d)" % n, "np.fft.fft(a)") for n in (1 << 16, 1 << 22)},
    "rfft_lines": ("a = normal(8192, 1024)", "np.fft.rfft(a)"),
    "exp_1e6": ("a = normal(10 ** 6)", "np.exp(a)"),
    "exp_1e8": ("a = normal(10 ** 8)", "np.exp(a)"),
    "chain_1e7": ("a = normal(10 ** 7)", "(a * 2 + 1 - a).sum()"),
}

SCRIPT = """
import time
import numpy as np
rng = np.random.default_rng(7)
def normal(*shape): return rng.standard_normal(shape)
def definite(n): a = normal(n, n); return a @ a.T / n + np.eye(n)
{operands}
time.sleep({wait})
for _ in range({calls}):
    start = time.perf_counter()
    answer = {call}
    float(answer.ravel()[-1].real)
    print(time.perf_counter() - start)
"""


def seconds_of(name, contender, options):
    """Of each call of a process."""
    operands, call = CASES[name]
    script = SCRIPT.format(operands=operands, call=call, calls=options.calls, wait=options.wait)
    env = common.under_the_shim(MODE="auto") if contender == "gpushim" else common.without_the_shim()
    common.touch_memory()
    done = subprocess.run([sys.executable, "-c", script], env=env, stdout=subprocess.PIPE, check=True)
    return [float(line) for line in done.stdout.split()]


def measure(name, options):
    """[plain, gpushim], each a list of rounds; who comes first changes from round to round."""
    taken = {"plain": [], "gpushim": []}
    for k in range(options.rounds):
        for contender in sorted(taken, reverse=k % 2 == 0):
            taken[contender].append(seconds_of(name, contender, options))
    return taken["plain"], taken["gpushim"]


def show(name, plain, shim):
    """True where the shim's first call is slower than the bound allows."""
    ratios = [own[0] / other[0] for own, other in zip(shim, plain)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    is_slow = low > BOUND
    text = lambda rounds, call: common.seconds_text(statistics.median(of[call] for of in rounds))  # noqa: E731
    later = range(1, len(plain[0]))
    print("%-13s %9s %9s   %5.2f (%.2f to %.2f)%-5s plain %s; gpushim %s" % (
        name, text(plain, 0), text(shim, 0), middle, low, high, " SLOW" if is_slow else "",
        ", ".join(text(plain, k) for k in later), ", ".join(text(shim, k) for k in later)), flush=True)
    return is_slow


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(CASES), help="by name")
    parser.add_argument("--rounds", type=int, default=9, help="pairs of processes, at least 2")
    parser.add_argument("--calls", type=int, default=4, help="of each process, at least 2")
    parser.add_argument("--wait", type=float, default=0, help="seconds between the operands and the first call")
    options = parser.parse_args()
    print("%-13s %9s %9s   gpushim / plain      the calls behind the first" % ("first call", "plain", "gpushim"))
    slow = [name for name in options.cases.split(",") if show(name, *measure(name, options))]
    print("first calls slower than plain beyond %.2f: %s" % (BOUND, ", ".join(slow) or "none"))
    return len(slow) > 0


if __name__ == "__main__":
    sys.exit(main())
