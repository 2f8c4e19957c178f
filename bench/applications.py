# SPDX-License-Identifier: Apache-2.0
"""NumPy, SciPy and scikit-learn programs, each as a user writes it: a process of its own, plain and under the shim in mode
auto; those of NumPy (numpy_programs.py) with CuPy in NumPy's place too, where there is CuPy.

    .venv/bin/python bench/applications.py [--cases solve,pca,...] [--repeats 3]

Each program does its work a few times on data that it has made on the host, and reads the answer. Printed are the seconds
of the first time and the fewest of the others, how far the shim's answer is from the plain one (largest difference over
largest value), and what the report says the device ran. Where a library is missing its programs are left out, which is
said.
"""
import argparse
import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import common

PROGRAMS = {
    "heat": ("numpy", "", "heat(np, 4000, 100)"),
    "nbody": ("numpy", "", "nbody(np, 4000, 10)"),
    "asian": ("numpy", "", "asian_option(np, 2_000_000, 50)"),
    "k_means": ("numpy", "", "k_means(np, 2_000_000, 8, 5)"),
    "logistic": ("numpy", "", "logistic_regression(np, 500_000, 100, 30)"),
    "mandelbrot": ("numpy", "", "mandelbrot(np, 2000, 50)"),
    "page_rank": ("numpy", "", "page_rank(np, 8000)"),
    "edges": ("numpy", "", "edges(np, 4000, 4)"),
    "poisson": ("numpy", "", "poisson(np, 2048, 10)"),
    "network": ("numpy", "", "network(np, 8192, 512, 20)"),
    "life": ("numpy", "", "life(np, 4000, 20)"),
    "correlations": ("numpy", "", "correlations(np, 500_000, 200)"),
    "statistics": ("numpy", "", "statistics(np, 10_000_000)"),
    "orbit": ("numpy", "", "orbit(np, 20_000)"),
    "row_by_row": ("numpy", "", "row_by_row(np, 5000, 5000)"),
    "solve": ("scipy", "import scipy.linalg; a = make(4096, 4096); b = make(4096, 64)", "scipy.linalg.solve(a, b)"),
    "inv": ("scipy", "import scipy.linalg; a = make(4096, 4096)", "scipy.linalg.inv(a)[::64, ::64]"),
    "cho_factor": ("scipy", "import scipy.linalg; a = make(4096, 4096); a = a @ a.T + 4096 * np.eye(4096); b = make(4096, 8)",
                   "scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)"),
    "lu_factor": ("scipy", "import scipy.linalg; a = make(4096, 4096); b = make(4096, 8)",
                  "scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b)"),
    "eigh": ("scipy", "import scipy.linalg; a = make(2048, 2048); a = a + a.T", "scipy.linalg.eigh(a)[0]"),
    "svd": ("scipy", "import scipy.linalg; a = make(4000, 2000)", "scipy.linalg.svd(a, full_matrices=False)[1]"),
    "lstsq": ("scipy", "import scipy.linalg; a = make(5000, 1000); b = make(5000, 4)", "scipy.linalg.lstsq(a, b)[0]"),
    "gels": ("scipy", "from scipy.linalg.lapack import dgels; a = make(5000, 1000); b = make(5000, 4)", "dgels(a, b)[1]"),
    "gemv": ("scipy", "from functools import reduce; from scipy.linalg.blas import dgemv; "
             "a = numpy.asfortranarray(make(8192, 8192)); x = make(8192)",
             "reduce(lambda x, _: dgemv(1 / 52, a, x), range(100), x)"),
    "ger": ("scipy", "from functools import reduce; from scipy.linalg.blas import dger; "
            "a = numpy.asfortranarray(make(8192, 8192)); x = make(8192); y = make(8192)",
            "reduce(lambda a, _: dger(1e-3, x, y, a=a, overwrite_a=1), range(50), a)[::64, ::64]"),
    "arnoldi": ("scipy", "import scipy.sparse; from scipy.sparse.linalg import eigsh; x = make(200_000); "
                "a = scipy.sparse.diags([numpy.arange(200_000) % 1000 + 2.0, -numpy.ones(199_999), -numpy.ones(199_999)], [0, 1, -1])",
                "eigsh(a, 6, v0=x, maxiter=40, tol=1e-3)[0]"),
    "svds": ("scipy", "from scipy.sparse.linalg import svds; a = make(20_000, 500); x = make(500)", "svds(a, 20, v0=x)[1]"),
    "pca": ("sklearn", "from sklearn.decomposition import PCA; a = make(5000, 2000)",
            "PCA(svd_solver='full').fit(a).explained_variance_"),
    "pca_50": ("sklearn", "from sklearn.decomposition import PCA; a = make(5000, 2000)",
               "abs(PCA(50, random_state=0).fit_transform(a)).sum(0)"),
    "regression": ("sklearn", "from sklearn.linear_model import LinearRegression; a = make(5000, 2000); b = make(5000, 3)",
                   "LinearRegression().fit(a, b).coef_"),
}

SCRIPT = """
import sys, time
import numpy
import {module} as np
from numpy_programs import *
rng = numpy.random.default_rng(7)
def make(*shape): return rng.uniform(-1, 1, shape)
{prepare}
seconds = []
for _ in range({repeats}):
    start = time.perf_counter()
    answer = {work}
    total = float(answer.ravel()[0])        # looked at
    seconds.append(time.perf_counter() - start)
numpy.savez(sys.argv[1], answer=answer.get() if hasattr(answer, "get") else answer, seconds=seconds)
"""


def run(name, repeats, contender, folder):
    """(answer, seconds, calls on the device by the report's names), or None with a line that says why."""
    _, prepare, work = PROGRAMS[name]
    result, report = os.path.join(folder, "result.npz"), os.path.join(folder, "report.json")
    env = common.without_the_shim()
    if contender == "gpushim":
        env = common.under_the_shim(MODE="auto", REPORT="json:" + report)
    env["PYTHONPATH"] = os.path.join(common.ROOT, "bench")
    script = SCRIPT.format(module="cupy" if contender == "cupy" else "numpy", prepare=prepare, work=work, repeats=repeats)
    done = subprocess.run([sys.executable, "-c", script, result], env=env, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        print("%-12s %s: exit status %d: %s" % (name, contender, done.returncode, done.stderr.decode().strip().splitlines()[-1:]))
        return None
    with np.load(result) as loaded:
        answer, seconds = loaded["answer"], loaded["seconds"]
    calls = collections.Counter()
    if contender == "gpushim":
        with open(report, encoding="utf-8") as stream:
            for row in json.load(stream)["operations"]:
                if (row["name"], row["signature"]) != ("first", "runs"):  # none of the program's
                    calls[row["name"]] += row["device_calls"]
    return answer, seconds, +calls


def is_here(module):
    return importlib.util.find_spec(module) is not None


def show(name, plain, shim, cupy):
    apart = float(np.max(np.abs(plain[0] - shim[0])) / np.max(np.abs(plain[0])))
    print("%-12s %s %s %s %10.1e  %s" % (
        name, *("%10.3f %10.3f" % (of[1][0], min(of[1][1:])) if of else "%21s" % "" for of in (plain, shim, cupy)), apart,
        ", ".join("%s %d" % row for row in sorted(shim[2].items()))), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(PROGRAMS), help="programs, by name")
    parser.add_argument("--repeats", type=int, default=8, help="times that each does its work, at least 2")
    options = parser.parse_args()
    print("%-12s %21s %21s %21s %10s  %s" % ("program", "plain: first, later", "gpushim: first, later", "CuPy: first, later", "apart",
                                             "on the device"))
    for name in options.cases.split(","):
        module = PROGRAMS[name][0]
        if not is_here(module):
            print("%-12s left out: no %s here" % (name, module))
            continue
        with tempfile.TemporaryDirectory() as folder:
            plain, shim = (run(name, options.repeats, contender, folder) for contender in ("plain", "gpushim"))
            cupy = run(name, options.repeats, "cupy", folder) if module == "numpy" and is_here("cupy") else None
        if plain is not None and shim is not None:
            show(name, plain, shim, cupy)


if __name__ == "__main__":
    main()
