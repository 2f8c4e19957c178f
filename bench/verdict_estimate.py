# SPDX-License-Identifier: Apache-2.0
"""How near the verdict's estimate of a plain run (docs/user/report.md) is to plain runs: `gpushim bench` on the programs, from this
tree, plain and under the shim in turns.

    .venv/bin/python bench/verdict_estimate.py [--runs 3] [--set DEVICE=cuda ...] gallery/*.py

Printed per program: the median of the plain runs, less what Python takes to start and to end, the estimate, their quotient, and the
share of NumPy's work on the device.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import common


def seconds_of_start():
    """Of a process of Python that does nothing; the fewest of some. The verdict's time begins with the import of NumPy."""
    def once():
        begin = time.monotonic()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        return time.monotonic() - begin
    return min(once() for _ in range(5))


def measure(options, folder):
    """The programs' part of what `gpushim bench` writes."""
    path = os.path.join(folder, "bench.json")
    words = ["bench", "--json", path, "--runs", str(options.runs), "--warmup", "1"]
    for setting in options.set:
        words += ["--set", setting]
    environment = dict(common.without_the_shim(), PYTHONPATH=os.path.join(common.ROOT, "python"))
    status = subprocess.run([sys.executable, "-m", "gpushim", *words, *options.programs], env=environment).returncode
    if not os.path.exists(path):
        sys.exit(status)
    with open(path, encoding="utf-8") as file:
        return json.load(file)["programs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an option of gpushim")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs, start = measure(options, folder), seconds_of_start()
    rows = []
    for program in programs:
        row, report = program["rows"][program["name"]], program["report"]
        if report is None or row["plain"] is None:
            continue
        plain = row["plain"]["median"] - start
        rows.append([program["name"], common.seconds_text(plain), common.seconds_text(report["plain_s"]),
                     "%.2f" % (report["plain_s"] / plain), "-" if report["share"] is None else "%.0f %%" % (100 * report["share"])])
    common.print_table(["program", "plain", "estimated", "estimated / plain", "share"], rows)


if __name__ == "__main__":
    main()
