# SPDX-License-Identifier: Apache-2.0
"""How long a process lasts behind its program's last statement, and the rest of its life: plain NumPy and gpushim in mode auto.

    .venv/bin/python bench/process_end.py [--work draws,loops,kernels,products,systems] [--rounds 3]

Each round is a plain process, and two under the shim with one folder of kernels and profiles, empty before the first. Printed are
the medians of seconds: until NumPy is imported, of the work, from there to the end, and of the whole.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import common

SCRIPT = """
import time
import numpy as np
print(time.time(), flush=True)
x = np.random.default_rng(1).random(10_000_000)
a, b = x[:4_000_000].reshape(2000, 2000), x[:1_000_000].reshape(1000, 1000)
%s
print(time.time(), flush=True)
"""
WORK = {
    "draws": "",
    "loops": "for _ in range(10): float((np.sqrt(x) * 2 + x).sum())",
    "kernels": """
for k in range(6):
    y = np.exp(-x)
    for j in range(k + 2):
        y = y * x + np.sin(y) - np.cos(x) * k
    float(y.sum())""",
    "products": "for _ in range(8): float((a @ a)[0, 0])",
    "systems": "for _ in range(12): float(np.linalg.solve(b, b[0])[0])",
}


def seconds_of(work, env):
    """(until NumPy is imported, of the work, from there to the end, of the whole)"""
    begin = time.time()
    done = subprocess.run([sys.executable, "-c", SCRIPT % WORK[work]], env=env, stdout=subprocess.PIPE, check=True)
    end = time.time()
    imported, worked = (float(word) for word in done.stdout.split())
    return imported - begin, worked - imported, end - worked, end - begin


def round_of(work):
    """{contender: seconds_of()}"""
    taken = {"plain": seconds_of(work, common.without_the_shim())}
    with tempfile.TemporaryDirectory(prefix="process-end-") as folder:
        for contender in ("first process", "next process"):
            env = dict(common.under_the_shim(MODE="auto", PROFILE="1"), GPUSHIM_CACHE_DIR=os.path.join(folder, "cache"))
            taken[contender] = seconds_of(work, env)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", default=",".join(WORK), help="by name")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("%-10s %-14s %8s %8s %8s %8s" % ("work", "", "import", "work", "end", "whole"))
    for work in options.work.split(","):
        rounds = [round_of(work) for _ in range(options.rounds)]
        for contender in rounds[0]:
            columns = zip(*(taken[contender] for taken in rounds))
            print("%-10s %-14s %8.3f %8.3f %8.3f %8.3f" % (work, contender, *(statistics.median(column) for column in columns)), flush=True)


if __name__ == "__main__":
    main()
