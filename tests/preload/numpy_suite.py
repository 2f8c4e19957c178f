# SPDX-License-Identifier: Apache-2.0
"""NumPy's own test suite, plain and under the shim: the results must be equal, test by test.

    python tests/preload/numpy_suite.py                  the modules that use the hooked functions most
    python tests/preload/numpy_suite.py all              every test module of NumPy
    python tests/preload/numpy_suite.py lib.tests.test_function_base ...

Everything supported is sent to the device (mode force). Needs pytest and hypothesis in the
interpreter that runs it; takes minutes, so `make test` leaves it out.
"""
import glob
import os
import sys
import tempfile
import xml.etree.ElementTree

import numpy

import shim_runner

CORE = ("test_umath test_ufunc test_multiarray test_numeric test_indexing test_mem_overlap "
        "test_errstate test_scalarmath test_shape_base test_einsum test_casting_unittests "
        "test_casting_floatingpoint_errors test_item_selection test_function_base test_half "
        "test_nep50_promotions test_regression test_arrayprint test_overrides test_mem_policy")
OTHERS = ("lib.tests.test_function_base lib.tests.test_nanfunctions lib.tests.test_io "
          "lib.tests.test_arraysetops lib.tests.test_stride_tricks linalg.tests.test_linalg "
          "ma.tests.test_core matrixlib.tests.test_defmatrix random.tests.test_generator_mt19937")
ROOT = os.path.dirname(numpy.__file__)
CORE_NAME = "_core" if os.path.isdir(os.path.join(ROOT, "_core", "tests")) else "core"


def chosen(names):
    """Paths of the test files, below NumPy's folder."""
    if names == ["all"]:
        found = glob.glob(os.path.join(ROOT, "**", "tests", "test_*.py"), recursive=True)
    else:
        names = names or ["%s.tests.%s" % (CORE_NAME, n) for n in CORE.split()] + OTHERS.split()
        found = [os.path.join(ROOT, *name.split(".")) + ".py" for name in names]
    return sorted(path for path in found if os.path.exists(path))


def outcomes(path, shim, folder):
    """{test: passed, failed, error, skipped}, and the process's result."""
    report = os.path.join(folder, "junit.xml")
    if os.path.exists(report):
        os.remove(report)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
               "--junitxml=" + report, "--hypothesis-seed=0", "-W", "ignore::pytest.PytestWarning",
               path]
    result = shim_runner.run_command(command, shim, cwd=folder, timeout=1800, report=False)
    found = {}
    if os.path.exists(report):
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            name = "%s::%s" % (case.get("classname"), case.get("name"))
            kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
            text = "".join((child.text or "") for child in case)
            found[name] = ("/".join(sorted(kinds)) or "passed", text)
    return found, result


def compare(path, folder):
    """Prints what differs; returns (tests, differences)."""
    plain, plain_result = outcomes(path, False, folder)
    shimmed, result = outcomes(path, True, folder)
    differing = [name for name in sorted(set(plain) | set(shimmed))
                 if plain.get(name, ("absent",))[0] != shimmed.get(name, ("absent",))[0]]
    print("%-60s %6d tests %4d differ" % (os.path.relpath(path, ROOT), len(plain), len(differing)),
          flush=True)
    for name in differing[:40]:
        kind, text = shimmed.get(name, ("absent", ""))
        print("    %s: plain %s, shim %s" % (name, plain.get(name, ("absent",))[0], kind))
        print("        " + "\n        ".join(text.strip().splitlines()[-6:]))
    if not shimmed:
        print(repr(result)[-3000:])
    if result.returncode != plain_result.returncode and not differing:
        print("    exit status: plain %s, shim %s" % (plain_result.returncode, result.returncode))
        return len(plain), 1
    return len(plain), len(differing)


def main():
    total = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in chosen(sys.argv[1:]):
            count, different = compare(path, folder)
            total, differing = total + count, differing + different
    print("%d tests compared, %d differ" % (total, differing))
    sys.exit(1 if differing or not total else 0)


if __name__ == "__main__":
    main()
