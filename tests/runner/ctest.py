# SPDX-License-Identifier: Apache-2.0
"""The builds of CMakePresets.json, and the C tests that CTest runs in them."""
import collections
import json
import os
import re
import tempfile
import xml.etree.ElementTree

from runner import unsteady
from runner.process import WORKERS, execute, step

# How CTest runs a test; `will_fail`: it must notice a fault that is made on purpose.
Program = collections.namedtuple("Program", "argv env folder will_fail")


def configure(totals, preset):
    return step(totals, "configure " + preset, ["cmake", "--preset", preset])


def build_targets(totals, preset, targets=()):
    """The targets of a configured preset, or all."""
    what = targets if len(targets) < 4 else ["%d targets" % len(targets)]
    argv = ["cmake", "--build", "--preset", preset] + (["--target", *targets] if targets else [])
    return step(totals, " ".join(["build", preset, *what]), argv)


def build(totals, preset, *targets):
    return configure(totals, preset) and build_targets(totals, preset, targets)


def programs_of(preset, *choice):
    """{name: Program} of the tests of a configured preset that `choice`, options of ctest's, leaves; none where it is not
    configured."""
    status, listed, _ = execute(["ctest", "--preset", preset, *choice, "--show-only=json-v1"])
    return {test["name"]: program_of(test) for test in json.loads(listed)["tests"]} if status == 0 else {}


def program_of(test):
    properties = {entry["name"]: entry["value"] for entry in test["properties"]}
    variables = dict(setting.split("=", 1) for setting in properties.get("ENVIRONMENT", ()))
    return Program(test.get("command"), variables, properties.get("WORKING_DIRECTORY"), properties.get("WILL_FAIL", False))


def names_of(preset, *choice):
    return list(programs_of(preset, *choice))


def targets_of(names):
    """What has to be built for these tests, which are not emulated: <kind>.<name> and its variants are one program."""
    return sorted({"_".join(name.split(".")[:2]) for name in names})


def exactly(names):
    return "-R", "^(%s)$" % "|".join(map(re.escape, names))


def run_ctest(totals, preset, *choice, workers=WORKERS):
    """The CTest tests that the preset names and `choice`, options of ctest's, leaves; counted one by one."""
    with tempfile.TemporaryDirectory() as folder:
        junit = os.path.join(folder, "junit.xml")
        status, output, spent = execute(["ctest", "--preset", preset, "-j%d" % workers, "--no-tests=error",
                                         "--output-junit", junit, *choice])
        if not os.path.exists(junit):
            totals.add_status("ctest " + preset, status or 1, spent, output)
            return
        suite = xml.etree.ElementTree.parse(junit).getroot()
    count = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "skipped", "disabled")}
    skipped = count["skipped"] + count["disabled"]
    failed = max(count["failures"], 1 if status != 0 else 0)
    names = [case.get("name") for case in suite.iter("testcase") if case.get("status") == "fail"]
    runs_again = workers > 1 and len(names) == failed and unsteady.are_programs(names)
    totals.add("ctest " + preset, count["tests"] - failed - skipped, 0 if runs_again else failed, skipped, spent, output)
    if runs_again:
        unsteady.tell(names, output)
        run_ctest(totals, preset, *exactly(names), workers=1)


def build_and_run(totals, preset, shard):
    """Of a preset's tests those of a shard, and the programs of these tests only."""
    if configure(totals, preset):
        names = shard.of(names_of(preset))
        if build_targets(totals, preset, targets_of(names)):
            run_ctest(totals, preset, *exactly(names))
