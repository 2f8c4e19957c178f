# SPDX-License-Identifier: Apache-2.0
"""SciPy and scikit-learn programs, each as a user writes it: a process of its own, plain and under the shim in mode auto.

    .venv/bin/python bench/applications.py [--cases solve,pca,...] [--repeats 3]

Each program does its work a few times on data that it has made on the host, and reads the answer. Printed are the seconds
of the first time and the fewest of the others, how far the answers are apart (largest difference over largest value), and
which routines the report says the device ran. Where a library is missing its programs are left out, which is said.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import common

PROGRAMS = {
    "solve": ("scipy", "a = make(4096, 4096); b = make(4096, 64)", "scipy.linalg.solve(a, b)"),
    "cho_factor": ("scipy", "a = make(4096, 4096); a = a @ a.T + 4096 * np.eye(4096); b = make(4096, 8)",
                   "scipy.linalg.cho_solve(scipy.linalg.cho_factor(a), b)"),
    "lu_factor": ("scipy", "a = make(4096, 4096); b = make(4096, 8)",
                  "scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b)"),
    "eigh": ("scipy", "a = make(2048, 2048); a = a + a.T", "scipy.linalg.eigh(a)[0]"),
    "svd": ("scipy", "a = make(4000, 2000)", "scipy.linalg.svd(a, full_matrices=False)[1]"),
    "lstsq": ("scipy", "a = make(5000, 1000); b = make(5000, 4)", "scipy.linalg.lstsq(a, b)[0]"),
    "pca": ("sklearn", "from sklearn.decomposition import PCA; a = make(5000, 2000)",
            "PCA(svd_solver='full').fit(a).explained_variance_"),
    "pca_50": ("sklearn", "from sklearn.decomposition import PCA; a = make(5000, 2000)",
               "abs(PCA(50, random_state=0).fit_transform(a)).sum(0)"),
    "regression": ("sklearn", "from sklearn.linear_model import LinearRegression; a = make(5000, 2000); b = make(5000, 3)",
                   "LinearRegression().fit(a, b).coef_"),
}

SCRIPT = """
import sys, time
import numpy as np
import scipy.linalg
rng = np.random.default_rng(7)
def make(*shape): return rng.uniform(-1, 1, shape)
{prepare}
seconds = []
for _ in range({repeats}):
    start = time.perf_counter()
    answer = {work}
    total = float(answer.ravel()[0])        # looked at
    seconds.append(time.perf_counter() - start)
np.savez(sys.argv[1], answer=answer, seconds=seconds)
"""


def run(name, repeats, library, folder):
    """(answer, seconds, calls on the device by the report's rows), or None with a line that says why."""
    _, prepare, work = PROGRAMS[name]
    result, report = os.path.join(folder, "result.npz"), os.path.join(folder, "report.json")
    env = dict(os.environ)
    if library:
        env.update(LD_PRELOAD=library, GPUSHIM_MODE="auto", GPUSHIM_REPORT="json:" + report, GPUSHIM_DEVICE=common.default_device())
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(prepare=prepare, work=work, repeats=repeats), result], env=env,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        print("%-11s exit status %d: %s" % (name, done.returncode, done.stderr.decode().strip().splitlines()[-1:]))
        return None
    with np.load(result) as loaded:
        answer, seconds = loaded["answer"], loaded["seconds"]
    rows = {}
    if library:
        with open(report, encoding="utf-8") as stream:
            rows = {row["name"]: row["device_calls"] for row in json.load(stream)["operations"] if row["device_calls"]}
    return answer, seconds, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(PROGRAMS), help="programs, by name")
    parser.add_argument("--repeats", type=int, default=8, help="times that each does its work")
    options = parser.parse_args()
    print("%-11s %21s %21s %12s  %s" % ("program", "plain: first, later", "gpushim: first, later", "apart", "on the device"))
    for name in options.cases.split(","):
        try:
            __import__(PROGRAMS[name][0])
        except ImportError:
            print("%-11s left out: no %s here" % (name, PROGRAMS[name][0]))
            continue
        with tempfile.TemporaryDirectory() as folder:
            plain, shim = (run(name, options.repeats, library, folder) for library in (None, common.LIBRARY))
        if plain is None or shim is None:
            continue
        apart = float(np.max(np.abs(plain[0] - shim[0])) / np.max(np.abs(plain[0])))
        print("%-11s %10.3f %10.3f %10.3f %10.3f %12.1e  %s" % (
            name, plain[1][0], min(plain[1][1:]), shim[1][0], min(shim[1][1:]), apart,
            ", ".join("%s %d" % row for row in sorted(shim[2].items()))), flush=True)


if __name__ == "__main__":
    main()
