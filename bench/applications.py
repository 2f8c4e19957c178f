# SPDX-License-Identifier: Apache-2.0
"""NumPy, SciPy and scikit-learn programs, each as a user writes it, measured by `gpushim bench`: plain and under the shim in mode
auto, from this tree. Those of NumPy (numpy_programs.py) run with CuPy in NumPy's place too, where there is CuPy.

    .venv/bin/python bench/applications.py [--cases solve,pca,...] [--repeats 8] [options of gpushim bench]

Each program does its work a few times on data that it has made on the host, and reads the answer. It prints the seconds of the
first time and the fewest of the others, which are the rows `first` and `later`, and writes the answer, which is compared.
Where a library is missing its programs are left out, which is said. The options of gpushim bench are --runs 1 --warmup 0 unless
others are given.
"""
import argparse
import importlib.util
import os
import re
import sys
import tempfile

import common

sys.path.insert(0, os.path.join(common.ROOT, "python"))
import gpushim  # noqa: E402
from gpushim import bench_turns, command, program_run  # noqa: E402

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
import os, time
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
print("first: %.6f s, later: %.6f s" % (seconds[0], min(seconds[1:])))
numpy.save(os.path.splitext(__file__)[0] + ".npy", answer.get() if hasattr(answer, "get") else answer)
"""
CLOCKS = ("--clock", r"first=first: (\S+) s", "--clock", r"later=later: (\S+) s")


def is_here(module):
    return importlib.util.find_spec(module) is not None


def write(name, module, repeats, folder):
    """The script's path."""
    _, prepare, work = PROGRAMS[name]
    path = os.path.join(folder, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(module=module, prepare=prepare, work=work, repeats=repeats))
    return path


def show_cupy(name, repeats, folder):
    script = write(name, "cupy", repeats, folder)
    done = program_run.run([sys.executable, script], bench_turns.plain_environment(), folder)
    print("%s with CuPy: %s" % (name, done.stdout.decode().strip() or "exit status %s" % done.status), flush=True)


def scripts(names, repeats, folder):
    """The paths of those that can run here."""
    missing = sorted({PROGRAMS[name][0] for name in names if not is_here(PROGRAMS[name][0])})
    for module in missing:
        print("left out: the programs of %s, which is not here" % module, flush=True)
    return [write(name, "numpy", repeats, folder) for name in names if PROGRAMS[name][0] not in missing]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--cases", default=",".join(PROGRAMS), help="programs, by name")
    parser.add_argument("--repeats", type=int, default=8, help="times that each does its work, at least 2")
    options, others = parser.parse_known_args()
    gpushim.__path__.append(os.path.dirname(common.LIBRARY))
    os.environ.update(GPUSHIM_DEVICE=common.default_device(), PYTHONPATH=os.path.join(common.ROOT, "bench"))
    with tempfile.TemporaryDirectory() as folder:
        names = options.cases.split(",")
        paths = scripts(names, options.repeats, folder)
        status = command.main(["bench", "--runs=1", "--warmup=0", "--mode=auto", *CLOCKS, "--output", os.path.join(folder, "*.npy"),
                               *others, "--", *paths]) if paths else 0
        for name in names if is_here("cupy") else []:
            if PROGRAMS[name][0] == "numpy":
                show_cupy(name, options.repeats, folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
