# SPDX-License-Identifier: Apache-2.0
"""The packages' own tests, plain and under the shim (tests/package_suite)."""
import collections
import os
import re

from runner.process import ROOT, execute

# What of a package's tests `make test` runs, in which environment, in how many shards; `make test-numpy`, `make test-scipy`
# and their like run more.
Suite = collections.namedtuple("Suite", "title package venv shards parts options")
# What runs twice under the shim, each call alone and in groups as long as the tests allow (docs/dev/testing.md).
GROUPED = ("--set", "GPUSHIM_FPERR=late", "--set", "GPUSHIM_FEED_MS=0", "--against", "GPUSHIM_FUSION=0")
SUITES = (
    Suite("numpy's tests", "numpy", ".venv", 6, ("core", "linalg", "fft", "lib", "ma"), ()),
    Suite("numpy 1's tests", "numpy", ".venv-numpy1", 6, ("core",), ()),
    Suite("scipy's tests", "scipy", ".venv", 1,
          ("linalg/test_basic", "linalg/test_decomp_cholesky", "linalg/test_decomp_lu", "linalg/test_solvers",
           "fft/test_basic", "sparse.linalg/_isolve/test_lsmr", "sparse.linalg/_isolve/test_lsqr"), ()),
    Suite("numpy's tests, in groups", "numpy", ".venv", 1,
          ("core/test_ufunc", "core/test_numeric", "core/test_indexing", "lib/test_nanfunctions", "ma/test_core"), GROUPED),
)


def run_suite(totals, suite, shard):
    """A file of the package's tests, or a share of it, counts as one test."""
    script = os.path.join(ROOT, "tests", "package_suite", "package_suite.py")
    status, output, spent = execute([
        os.path.join(ROOT, suite.venv, "bin/python"), script, "--package", suite.package, "--shard", str(shard), "--library",
        os.path.join(ROOT, "build/libgpushim.so"), *suite.parts, *suite.options])
    passed, failed = (len(re.findall(r"^%s " % word, output, re.M)) for word in ("ok  ", "FAIL"))
    totals.add("%s, %s" % (suite.title, shard), passed, max(failed, status != 0), 0, spent, output)
    told = re.findall(r"^(?:(?:numpy|scipy) \d|device:|groups:|\d+ tests:).*$", output, re.M)
    print("\n".join("     " + line for line in told), flush=True)
