# SPDX-License-Identifier: Apache-2.0
"""pytest plugin of package_suite.py, loaded in every one of its pytest processes (-p suite_plugin).

Writes a JSON line when a test starts and one when it is done, at once, so that a process which dies
says which test it was in. The environment names the work: SUITE_OUTCOMES is the file to append to,
SUITE_SHARE "k/n" the k-th of n shares of the collected tests, and the tests already listed in the
file are left out: a process that takes over from a dead one goes on behind it. SUITE_SEED seeds random numbers
before each file is imported and before each test, of each in another way, so that both runs see the same ones.
"""
import contextlib
import gc
import json
import os
import random
import re
import zlib

import numpy
import pytest

FILE = os.environ["SUITE_OUTCOMES"]
MOST_LINES = 12
# They compare counts of the references to a dtype or to a small integer, which change where an object of an earlier test is freed
# meanwhile. Garbage is not collected in them, and one that fails is tried again: a reference that is lost is lost each time.
COUNTING = re.compile(r".*(test_multiarray\.py::TestArrayInterface::test_scalar_interface"
                      r"|test_dtype\.py::TestStructuredObjectRefcounting::|::test_for_reference_leak)")


def write(**line):
    with open(FILE, "a", encoding="utf-8") as stream:
        stream.write(json.dumps(line) + "\n")


def seen_before():
    if not os.path.exists(FILE):
        return set()
    with open(FILE, encoding="utf-8") as stream:
        return {json.loads(line)["test"] for line in stream}


def pytest_collection_modifyitems(config, items):
    share, shares = map(int, os.environ.get("SUITE_SHARE", "1/1").split("/"))
    mine, seen = items[share - 1::shares], seen_before()
    keep = [item for item in mine if item.nodeid not in seen]
    kept = set(map(id, keep))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = keep


def seed(nodeid):
    number = int(os.environ["SUITE_SEED"]) ^ zlib.crc32(nodeid.encode())
    random.seed(number)
    with contextlib.suppress(TypeError):  # a test has left a bit generator that numpy.random.seed refuses
        numpy.random.seed(number)


def pytest_collectstart(collector):
    seed(collector.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    seed(item.nodeid)


def call(item):
    names = item._fixtureinfo.argnames  # as pytest's own pytest_pyfunc_call has them
    item.obj(**{name: item.funcargs[name] for name in names})


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not COUNTING.match(pyfuncitem.nodeid):
        return None
    gc.collect()
    gc.disable()
    try:
        try:
            call(pyfuncitem)
        except AssertionError:
            call(pyfuncitem)
    finally:
        gc.enable()
    return True


def outcome_of(report):
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed and report.when != "call":
        return "error"
    return report.outcome


def first_lines(report):
    """What pytest says about a failure, shortened: the assertion's lines come first in it."""
    if not report.failed:
        return ""
    lines = str(report.longrepr).splitlines()
    errors = [line for line in lines if line.startswith(("E ", "E\t"))]
    return "\n".join((errors or lines)[:MOST_LINES] + lines[-1:])


def pytest_runtest_logstart(nodeid, location):
    write(test=nodeid, outcome="started")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        write(test=report.nodeid, outcome=outcome_of(report), text=first_lines(report),
              seconds=round(report.duration, 3))


def pytest_collectreport(report):
    if report.failed:
        write(test=report.nodeid + "::collection", outcome="error", text=first_lines(report))
