# SPDX-License-Identifier: Apache-2.0
"""`gpushim verify`: runs the program under gpushim, which compares what the device computes with NumPy's results."""
import collections
import json
import re
import subprocess
import sys
import tempfile

from gpushim import command_run, files, launch, process_reports, report_data, report_words, variables
from gpushim.messages import counted

USAGE = "gpushim verify [options] (script.py | -m module) [arguments]"
DIFFERS, NOTHING_COMPARED = 1, 3  # exit statuses
SHOWN = 20  # differences
SHARE = re.compile(r"all|(\d+(?:\.\d*)?|\.\d+)%", re.IGNORECASE)
COUNTS = ("checked", "different", "not_checked")
ON_HOST = "--device host needs no GPU"
BY_FORCE = "--force sends there all that is supported"
REMEDIES = {"inactive": ON_HOST, "cores": ON_HOST, "not-started": BY_FORCE, "started": BY_FORCE}  # by the verdict's state


def add_to(commands):
    parser = commands.add_parser("verify", usage=USAGE, help="compare the device's results with NumPy's", allow_abbrev=False,
                                 description="Runs a program. What the device computes, NumPy computes as well, and both are compared.")
    variables.add_options(parser, report=False)
    parser.add_argument("--share", default="all", help="all, or how many of the calls are compared, as 1%%")
    parser.add_argument("--force", action="store_true", help="all that is supported runs on the device (GPUSHIM_MODE=force)")
    parser.add_argument("--json", metavar="FILE", help="write the summary as JSON")


def total_of(reports):
    """What the processes of the program verified, added up."""
    sections = [report["verify"] for report in reports if "verify" in report]
    total = {key: sum(section[key] for section in sections) for key in COUNTS}
    total["why"] = dict(sum((collections.Counter(section["why"]) for section in sections), collections.Counter()))
    total["worst"] = [row for section in sections for row in section["worst"]]
    total["worst"].sort(key=lambda row: float("-inf") if row["ulps"] is None else -row["ulps"])
    return total


def describe(row):
    apart = "no number beside a number" if row["ulps"] is None else "%.3g ulp, allowed %.3g" % (row["ulps"], row["allowed"])
    return "%s:%d: %s%s: %s; device %s, CPU %s (%s)" % (files.shown(row["file"]), row["line"], row["call"], row["index"] or "", apart,
                                                            row["device"], row["cpu"], counted(row["calls"], "call", "calls"))


def why_nothing(reports):
    """Why no call was compared, and what helps."""
    if not reports:
        return "no process of the program loaded NumPy and came to its end"
    first = report_data.first_of(reports)
    verdict = first["verdict"]
    remedy = "" if "MODE" in verdict["why_not"] else REMEDIES.get(verdict["state"], "")
    return "; ".join(filter(None, (report_words.of_one(first), remedy)))


def tell(total, reports):
    lines = [describe(row) for row in total["worst"][:SHOWN]]
    why = ", ".join("%s %d" % pair for pair in total["why"].items())
    lines.append("gpushim verify: %s of the device compared with NumPy, %d differ%s, %d not compared%s" % (
        counted(total["checked"], "call", "calls"), total["different"], "s" if total["different"] == 1 else "", total["not_checked"],
        " (%s)" % why if why else ""))
    if not total["checked"] + total["not_checked"]:
        lines.append("gpushim verify: nothing was compared: " + why_nothing(reports))
    print("\n".join(lines), file=sys.stderr, flush=True)


def status_of(status, total):
    if status != 0:
        return launch.status_of(status)
    if total["different"]:
        return DIFFERS
    return 0 if total["checked"] else NOTHING_COMPARED


def execute(options):
    words = options.program
    launch.check_words(words, options.parser)
    share = SHARE.fullmatch(options.share)
    if not share or not 0 < float(share.group(1) or 100) <= 100:
        options.parser.error("--share: all or a percentage up to 100%, as 1%, is expected, not " + options.share)
    files.check_outputs(options.json)
    with tempfile.TemporaryDirectory(prefix="gpushim-verify-") as folder:
        options.variables.update(GPUSHIM_VERIFY=options.share, GPUSHIM_REPORT=process_reports.setting(folder))
        if options.force:
            options.variables["GPUSHIM_MODE"] = "force"
        try:
            status = subprocess.call(launch.arguments_of(words), env=launch.environment_with(options.variables))
        except OSError as error:
            return command_run.tell_not_started("verify", words[0], error)
        reports = process_reports.read(folder)
    total = total_of(reports)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(total, stream, indent=1)
    tell(total, reports)
    return status_of(status, total)
