# SPDX-License-Identifier: Apache-2.0
"""Reports (docs/user/report.md) read from a file or a folder, and what several processes say together."""
import collections
import os

from gpushim import json_file
from gpushim.bench_reports import share_of
from gpushim.messages import complain

VERSION = 1  # of the JSON
PEAKS = ("device_peak_bytes",)  # counters that are not added up
NAMES = ("name", "signature")  # of a row
PLACE = ("file", "line")
READER = ("name", "kind")
Merged = collections.namedtuple("Merged", "reports first counters operations lines readers")


def read(path):
    """The report in a file. ValueError: it is none."""
    report = json_file.read(path, "report")
    if not isinstance(report, dict) or report.get("version") != VERSION or "verdict" not in report or "operations" not in report:
        raise ValueError("%s: not a report of this version of gpushim" % path)
    return report


def read_all(path):
    """The reports in a file or a folder. Files of a folder that are none are named on stderr and left out."""
    if not os.path.isdir(path):
        return [read(path)]
    reports = []
    for name in sorted(os.listdir(path)):
        try:
            reports += [read(os.path.join(path, name))] if name.endswith(".json") else []
        except (OSError, ValueError) as error:
            complain(error)
    if not reports:
        raise ValueError("%s: no report in this folder" % path)
    return sorted(reports, key=lambda report: report.get("process", {}).get("start_ms", 0))


def first_of(reports):
    """The process that the others come from: the first one whose parent has no report."""
    pids = {report["pid"] for report in reports}
    return next((report for report in reports if report.get("process", {}).get("parent") not in pids), reports[0])


def add(total, entry, names):
    """Adds the numbers of an entry to those of the total; reasons likewise, calls as a list."""
    for key, value in entry.items():
        if key in names:
            total[key] = value
        elif isinstance(value, dict) and key == "reasons":
            total[key] = collections.Counter(total.get(key, {})) + collections.Counter(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            total[key] = total.get(key, 0) + value
        elif value is not None:
            total.setdefault(key, value)


def merge_entries(reports, key, names):
    """The rows of all reports under the key, those of the same names added up."""
    merged = {}
    for report in reports:
        for entry in report.get(key) or ():
            add(merged.setdefault(tuple(entry[name] for name in names), {}), entry, names)
    return list(merged.values())


def merge_counters(reports):
    total = collections.Counter()
    for report in reports:
        for name, value in report["counters"].items():
            total[name] = max(total[name], value) if name in PEAKS else total[name] + value
    return dict(total)


def merge(reports):
    operations = merge_entries(reports, "operations", NAMES)
    operations.sort(key=lambda row: (-row["device_ns"] - row["host_ns"], -row["device_calls"] - row["host_calls"]))
    lines = merge_entries(reports, "lines", PLACE)
    lines.sort(key=lambda line: (line["line"] == 0, -line["cost_ns"]))  # what belongs to no line comes last
    readers = merge_entries(reports, "readers", READER)
    readers.sort(key=lambda reader: -reader["bytes"])
    return Merged(reports, first_of(reports), merge_counters(reports), operations, lines, readers)


def parts_of(merged):
    """Seconds of the main threads, by part."""
    total = collections.Counter()
    for report in merged.reports:
        total.update(report["verdict"]["parts"])
    return dict(total)


def share(merged):
    return share_of(merged.reports)


def command_of(report):
    return report.get("process", {}).get("command", "") or "process %d" % report["pid"]
