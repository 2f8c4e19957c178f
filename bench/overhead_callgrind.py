# SPDX-License-Identifier: Apache-2.0
"""Instructions that the shim adds to calls it declines, counted by callgrind: no clock, no noise.

    .venv/bin/python bench/overhead_callgrind.py

Each program runs with no and with many iterations, plain and under the shim in mode auto with the
device idle; the difference over the iterations is the cost of one.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import common

SET_UP = """
import ctypes, os, sys
import numpy as np
count = int(sys.argv[1])
x = np.arange(10.0)
few = np.arange(16.0).reshape(4, 4)
big = np.zeros(10 ** 5)
matrix, column = np.ones((1400, 1200)), np.ones(1400)
pixels, weights = np.ones((8, 3, 3, 32), np.float32), np.ones((1, 3, 3, 32, 32), np.float32)
cube = np.ones((8, 3, 3, 32, 32), np.float32)
if "libgpushim" in os.environ.get("LD_PRELOAD", ""):  # valgrind preloads too
    residency = ctypes.CDLL(None).gpushim_residency
    residency.argtypes = [ctypes.c_void_p]
    assert residency(big.ctypes.data) == 1, "the shim is not live under valgrind"
"""
# name: (body of the loop, iterations)
PROGRAMS = {
    "x + x, 10 elements": ("x + x", 20000),
    "tiny calls (slice, +=, read, add, write)": (
        "start = i % 900 * 100; piece = big[start:start + 100]; piece += 1.0; "
        "big[start + 5] = big[start + 6] + 1.0", 10000),
    "first product, 64 x 64": ("square = big[:4096].reshape(64, 64); square @ square", 1),
    "x @ x": ("x @ x", 20000),
    "np.dot(x, x)": ("np.dot(x, x)", 20000),
    "square @ square, 4 x 4": ("few @ few", 20000),
    "x[2:7] read": ("x[2:7]", 20000),
    "x[i] read": ("x[i % 8]", 20000),
    "x[i] = scalar": ("x[i % 8] = 1.5", 20000),
    "big[i] read": ("big[i]", 20000),
    "big[i] = scalar": ("big[i] = 1.5", 20000),
    "x.sum()": ("x.sum()", 10000),
    "np.maximum(x, 0.5, out=x)": ("np.maximum(x, 0.5, out=x)", 20000),
    "x.copy()": ("x.copy()", 20000),
    "np.zeros(10)": ("np.zeros(10)", 20000),
    "column @ columns, 1400 x 1000": ("matrix[:, 0] @ matrix[:, :1000]", 60),
    "product of views, 73,728 float32": ("pixels[..., None] * weights", 300),
    "np.sum over three axes of 73,728 float32": ("np.sum(cube, axis=(1, 2, 3))", 200),
    "matrix[:, i] = column": ("matrix[:, i % 1000] = column", 2000),
    "matrix[i, 5] = scalar": ("matrix[i % 1000, 5] = 1.5", 20000),
}


# Relative limits: the project's promise for programs of tiny calls, for the first call of a process, for small products, and for
# calls that are priced and left to NumPy while the device is not started.
LIMITS = {"x + x, 10 elements": 0.05, "tiny calls (slice, +=, read, add, write)": 0.03, "first product, 64 x 64": 0.05,
          "x @ x": 0.02, "np.dot(x, x)": 0.03, "square @ square, 4 x 4": 0.04,
          "column @ columns, 1400 x 1000": 0.01, "product of views, 73,728 float32": 0.05,
          "np.sum over three axes of 73,728 float32": 0.03, "matrix[:, i] = column": 0.02, "matrix[i, 5] = scalar": 0.05}


def instructions(body, count, shim):
    """Instructions of the whole process."""
    env = common.under_the_shim(MODE="auto", START_MS="1000000000") if shim else common.without_the_shim()
    # A BLAS that spins in threads of its own would be counted too.
    env.update(PYTHONHASHSEED="0", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "program.py")
        with open(script, "w", encoding="utf-8") as stream:
            stream.write(SET_UP + "for i in range(count):\n    " + body + "\n")
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(folder, "out"),
             # Else a handler that repairs a fault resumes with stale registers.
             "--vex-iropt-register-updates=allregs-at-mem-access",
             sys.executable, script, str(count)],
            env=env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit("status %d\n%s" % (done.returncode, done.stderr[-3000:]))
        return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def main():
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--programs", default="3", help="how many of the programs, in order")
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    lines = common.JsonLines(options.out, "overhead_callgrind")
    rows, exceeded = [], []
    for name, (body, count) in list(PROGRAMS.items())[:int(options.programs)]:
        cost = [(instructions(body, count, shim) - instructions(body, 0, shim)) / count
                for shim in (False, True)]
        rows.append([name, "%.0f" % cost[0], "%.0f" % cost[1], "%+.0f" % (cost[1] - cost[0]),
                     "%+.2f %%" % (100 * (cost[1] / cost[0] - 1))])
        lines.write(program=name, plain=cost[0], shim=cost[1], iterations=count)
        if cost[1] - cost[0] > LIMITS.get(name, float("inf")) * cost[0]:
            exceeded.append(name)
    common.print_table(["one iteration", "plain", "shim", "added", "relative"], rows)
    print("JSON lines:", lines.path)
    if options.check and exceeded:
        sys.exit("over the limit: " + "; ".join(exceeded))


if __name__ == "__main__":
    main()
