# SPDX-License-Identifier: Apache-2.0
"""How far the cost model's seconds on the CPU are from NumPy's, for operands whose elements lie together, apart, or in short rows.

    .venv/bin/python bench/host_model.py [--rounds 3] [--cases columns,planes,...]

A case is one pass over its arrays, as programs make it; its time is that of the thread, of the best round. The modelled
seconds are those of the decisions (GPUSHIM_LOG=decide). Printed and written per case: both, of one call, and their ratio.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

import common


def columns(np):
    a = np.ones((20000, 400))
    return [lambda j=j: a[:, j] + a[:, j - 1] for j in range(1, 100)]


def columns_out(np):
    a, out = np.ones((20000, 400)), np.ones((20000, 400))
    return [lambda j=j: np.add(a[:, j], 1.0, out=out[:, j]) for j in range(100)]


def planes(np):
    a, b = np.ones((160, 160, 100)), np.ones((160, 160, 100))
    return [lambda k=k: a[:, :, k] * b[:, :, k - 1] for k in range(1, 100)]


def planes_dense(np):
    a, b = np.ones((160, 160, 100)), np.ones((160, 160))
    return [lambda k=k: a[:, :, k] * b for k in range(100)]


def planes_sum(np):
    a = np.ones((160, 160, 100))
    return [lambda k=k: a[:, :, k].sum() for k in range(100)]


def every_second(np):
    a, out = np.ones(1 << 22), np.ones(1 << 21)
    return [lambda: np.add(a[::2], 1.0, out=out)] * 5


def every_eighth(np):
    a, out = np.ones(1 << 24), np.ones(1 << 21)
    return [lambda: np.add(a[::8], 1.0, out=out)] * 5


def channels(np):
    a = np.ones((1000, 1000, 4), "f4")
    return [lambda: a[:, :, 0] + a[:, :, 1]] * 5


def small_apart(np):
    a, out = np.ones((16384, 4)), np.ones(16384)
    return [lambda: np.add(a[:, 0], 1.0, out=out)] * 100


def transposed(np):
    a, out = np.ones((1024, 1024)), np.ones((1024, 1024))
    return [lambda: np.add(a.T, out, out=out)] * 5


def short_rows(np):
    a, b, out = np.ones((8, 3, 3, 32, 1), "f4"), np.ones((3, 3, 32, 32), "f4"), np.ones((8, 3, 3, 32, 32), "f4")
    return [lambda: np.multiply(a, b, out=out)] * 100


def together(np):
    a, out = np.ones(1 << 22), np.ones(1 << 22)
    return [lambda: np.add(a, a, out=out)] * 5


CASES = {case.__name__: case for case in (
    columns, columns_out, planes, planes_dense, planes_sum, every_second, every_eighth, channels, small_apart, transposed,
    short_rows, together)}


# ---- in the worker -----------------------------------------------------------------------------

def seconds_of(calls, rounds):
    """Of one call, in the best of the rounds."""
    times = []
    for _ in range(rounds + 1):  # the first one is a warm-up
        started = time.thread_time()
        for call in calls:
            call()
        times.append((time.thread_time() - started) / len(calls))
    return min(times[1:])


def work(options):
    import numpy
    if options.worker == "numpy":
        print(json.dumps({name: seconds_of(CASES[name](numpy), options.rounds) for name in options.cases.split(",")}))
        return
    for name in options.cases.split(","):
        call = CASES[name](numpy)[-1]
        print("case", name, file=sys.stderr, flush=True)
        call()
        print("case", file=sys.stderr, flush=True)


# ---- in the parent -----------------------------------------------------------------------------

def run_worker(name, options, env):
    command = [sys.executable, os.path.abspath(__file__), "--worker", name, "--cases", options.cases, "--rounds",
               str(options.rounds)]
    return subprocess.run(command, env=env, text=True, capture_output=True, check=True)


def modelled(options):
    """{case: seconds} of each case's last call; nothing is started."""
    env = common.under_the_shim(MODE="auto", LOG="decide", START_MS="1000000000", PROFILE="0")
    seconds, name = {}, ""
    for line in run_worker("gpushim", options, env).stderr.splitlines():
        found = re.search(r" host_ns=(\d+) ", line)
        if line.startswith("case"):
            name = line[5:]
        elif found and name:
            seconds[name] = int(found.group(1)) * 1e-9
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--cases", default=",".join(CASES), help="by name")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", default=os.path.join(common.ROOT, "build", "bench"), help="folder for JSON lines")
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    measured, model = json.loads(run_worker("numpy", options, common.without_the_shim()).stdout), modelled(options)
    lines, rows = common.JsonLines(options.out, "host_model"), []
    for name, seconds in measured.items():
        lines.write(case=name, measured=seconds, modelled=model.get(name))
        ratio = "%.2f" % (model[name] / seconds) if name in model else "-"
        rows.append([name, common.seconds_text(seconds), common.seconds_text(model.get(name)), ratio])
    common.print_table(["case", "measured", "modelled", "modelled / measured"], rows)


if __name__ == "__main__":
    main()
