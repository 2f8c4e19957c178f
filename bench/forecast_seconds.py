# SPDX-License-Identifier: Apache-2.0
"""What `gpushim advise` forecasts for chains of operations and for routines, of warm calls: to be compared with bench/fusion.py,
bench/linalg.py and bench/fft.py on the GPU that is named. Needs no GPU.

    .venv/bin/python bench/forecast_seconds.py [--gpu h100] [--size 1e7] [--rows 1024] [--cases chain,solve,...]

Operands and results stay on the device. Printed and written per case: the seconds, the calls and the kernels.
"""
import argparse
import json
import os
import subprocess
import sys

import numpy as np

import common
import fusion

sys.path.insert(0, os.path.join(common.ROOT, "python"))
from gpushim import forecast, stats, synchronize  # noqa: E402


def chain(case, options):
    """The call, on new operands."""
    a, b = (np.random.default_rng(seed).random(int(options.size)) for seed in (0, 1))
    if case.__name__ in fusion.SQUARE:
        a, b = a.reshape(1000, -1), b.reshape(1000, -1)
    return lambda: case(np, a, b)


def matrices(options):
    a, b = (np.random.default_rng(seed).random((options.rows, options.rows)) for seed in (0, 1))
    return a, b, a @ a.T + options.rows * np.eye(options.rows)


ROUTINES = {
    "matmul": lambda a, b, s: a @ b,
    "solve": lambda a, b, s: np.linalg.solve(a, b),
    "inv": lambda a, b, s: np.linalg.inv(a),
    "cholesky": lambda a, b, s: np.linalg.cholesky(s),
    "qr": lambda a, b, s: np.linalg.qr(a),
    "eigh": lambda a, b, s: np.linalg.eigh(s),
    "svd": lambda a, b, s: np.linalg.svd(a),
    "fft": lambda a, b, s: np.fft.fft(a.reshape(-1) + 0j),
}


def sums():
    """(seconds of kernels, kernels, calls) so far."""
    synchronize()
    report = stats()
    return (report["forecast"]["kernels_ns"] * 1e-9, report["forecast"]["launches"],
            sum(row["device_calls"] for row in report["operations"]))


def ask(call):
    """{"seconds", "kernels", "calls"} of the second call; the first brings the operands to the device."""
    result = call()
    before = sums()
    result = call()
    kernels, launches, calls = (after - earlier for after, earlier in zip(sums(), before))
    del result
    return {"seconds": kernels + calls * forecast.RECORD + launches * forecast.SUBMIT, "kernels": launches, "calls": calls}


def work(options):
    operands = matrices(options)
    for name in options.cases.split(","):
        call = chain(fusion.CASES[name], options) if name in fusion.CASES else lambda name=name: ROUTINES[name](*operands)
        print(json.dumps(dict(ask(call), case=name)), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--gpu", default="h100")
    parser.add_argument("--size", default=1e7, type=float, help="of chains")
    parser.add_argument("--rows", default=1024, type=int, help="of matrices")
    parser.add_argument("--cases", default=",".join((*fusion.CASES, *ROUTINES)), help="by name")
    parser.add_argument("--out", default=os.path.join(common.ROOT, "build", "bench"), help="folder for JSON lines")
    options = parser.parse_args()
    if options.worker:
        work(options)
        return
    env = common.under_the_shim(ADVISE=options.gpu, DEVICE="host", MODE="force", PROFILE="0")
    done = subprocess.run([sys.executable, os.path.abspath(__file__), "--worker", *sys.argv[1:]], env=env, text=True,
                          stdout=subprocess.PIPE, check=True)
    lines, rows = common.JsonLines(options.out, "forecast_seconds"), []
    for answer in map(json.loads, done.stdout.splitlines()):
        lines.write(forecast_for=options.gpu, size=options.size, rows=options.rows, **answer)
        rows.append([answer["case"], common.seconds_text(answer["seconds"]), str(answer["calls"]), str(answer["kernels"])])
    common.print_table(["case", "forecast for %s" % options.gpu, "calls", "kernels"], rows)


if __name__ == "__main__":
    main()
