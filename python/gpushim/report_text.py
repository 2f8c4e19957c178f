# SPDX-License-Identifier: Apache-2.0
"""Reports as text: the form that the library prints (docs/user/report.md), for all processes together."""
import collections

from gpushim import report_data
from gpushim.messages import counted
from gpushim.report_words import (LEAST, PARTS, advice_of, nanoseconds, name_of, name_of_reader, of_one, place_of, seconds, size,
                                  top_reason, verdict_of, why_of)

SURE_ROWS, MOST_ROWS, MOST_LINES, MOST_READERS = 12, 40, 20, 5
LEAST_OF_TIME = 1e-3  # of the time of all operations: rows behind the sure ones that take less are left out
OPERATION_WIDTH = PLACE_WIDTH = 32  # characters
LEAST_SHARE = 0.05  # of NumPy's work: reasons for more of it are named
MOST_COMMAND = 60  # characters
MOST_ADVICE = 3


def time_line(merged):
    parts = report_data.parts_of(merged)
    named = ["%s %s" % (seconds(parts[key]), label) for key, label, _text in PARTS if key == PARTS[0][0] or parts[key] >= LEAST]
    if all(report["verdict"]["state"] == "inactive" for report in merged.reports):
        named[0] += ", here all of NumPy"
    whose = " of all processes" if len(merged.reports) > 1 else ""
    return " time%s: %s = %s" % (whose, seconds(sum(parts.values())), " + ".join(named))


def reason_lines(reports):
    """Why calls stayed on the CPU, and what to change, the process with most work on the CPU first."""
    verdicts = [report["verdict"] for report in reports]
    least = max(LEAST_SHARE * sum(sum(verdict["work"].values()) for verdict in verdicts), LEAST)
    spent, texts = collections.Counter(), {}
    for reason in (reason for verdict in verdicts for reason in verdict.get("reasons") or ()):
        spent[reason["code"]] += reason["seconds"]
        texts[reason["code"]] = reason["text"]
    told = ["%s %s (%s)" % (seconds(time), code, texts[code]) for code, time in spent.most_common() if time > least]
    if told:
        yield " on the CPU: " + ", ".join(told)
    dearest = sorted(reports, key=lambda report: -report["verdict"]["work"]["cpu_s"])
    advices = dict.fromkeys(filter(None, map(advice_of, dearest)))
    yield from (" to change: " + text for text in list(advices)[:MOST_ADVICE])


def shown_operations(operations):
    times = [row["device_ns"] + row["host_ns"] for row in operations]
    shown = min(len(times), MOST_ROWS)
    while shown > SURE_ROWS and times[shown - 1] < sum(times) * LEAST_OF_TIME:
        shown -= 1
    return operations[:shown]


def operation_lines(merged):
    form = " %%-%ds %%12s %%9s %%12s %%9s   %%s" % OPERATION_WIDTH
    yield form % ("operation", "device calls", "time", "CPU calls", "time", "top reason for the CPU")
    shown = shown_operations(merged.operations)
    for row in shown:
        name = name_of(row)
        if len(name) > OPERATION_WIDTH:
            yield " " + name
            name = ""
        yield form % (name, row["device_calls"], nanoseconds(row["device_ns"]), row["host_calls"], nanoseconds(row["host_ns"]),
                      top_reason(row))
    if not merged.operations:
        is_inactive = all(report["verdict"]["state"] == "inactive" for report in merged.reports)
        yield " (calls were not looked at)" if is_inactive else " (no call that could run on a device)"
    if len(merged.operations) > len(shown):
        yield " (%d more)" % (len(merged.operations) - len(shown))


def moved_line(counters):
    uploads, downloads = (counted(counters[name], "transfer", "transfers") for name in ("uploads", "downloads"))
    return " moved: host to device %s (%s), device to host %s (%s), inside the device %s" % (
        size(counters["upload_bytes"]), uploads, size(counters["download_bytes"]), downloads, size(counters["device_copy_bytes"]))


def reader_lines(readers):
    """One line, or none."""
    shown, others = readers[:MOST_READERS], readers[MOST_READERS:]
    parts = ["%s %s in %d" % (name_of_reader(reader), size(reader["bytes"]), reader["transfers"]) for reader in shown]
    if others:
        parts.append("%d others %s in %d" % (len(others), size(sum(reader["bytes"] for reader in others)),
                                             sum(reader["transfers"] for reader in others)))
    return [" brought back by " + ", ".join(parts)] if parts else []


def event_lines(counters):
    yield " device start %s; %s, %s compiled, %d from the disk cache; %s" % (
        nanoseconds(counters["start_ns"]), counted(counters["launches"], "launch", "launches"),
        counted(counters["compiles"], "kernel", "kernels"), counters["cache_hits"],
        counted(counters.get("evictions", 0), "eviction", "evictions"))
    if counters.get("parallel_loops"):
        yield " %s ran on several cores" % counted(counters["parallel_loops"], "loop or copy", "loops of NumPy and copies")
    if counters.get("grouped") or counters.get("needless"):
        yield " %s ran together, in %s; %s never needed" % (
            counted(counters["grouped"], "call", "calls"), counted(counters["groups"], "group", "groups"),
            counted(counters["needless"], "call", "calls"))
    yield " page faults %d read, %d write; %s" % (counters["faults_read"], counters["faults_write"], counted(counters["forks"], "fork", "forks"))


def shortened(command):
    return command if len(command) <= MOST_COMMAND else command[:MOST_COMMAND - 3] + "..."


def process_lines(merged):
    form = " %9s %10s %12s %12s   %s"
    yield form % ("process", "wall time", "device calls", "CPU calls", "command, verdict")
    for report in merged.reports:
        rows = report["operations"]
        yield form % (report["pid"], seconds(report["verdict"]["wall_s"]), sum(row["device_calls"] for row in rows),
                      sum(row["host_calls"] for row in rows), shortened(report_data.command_of(report)))
        yield form % ("", "", "", "", "  " + of_one(report))


def moved_text(count, moved):
    return "%s in %d" % (size(moved), count) if count else "-"


def line_lines(lines):
    form = " %%-%ds %%8s %%8s %%18s %%18s %%7s   %%s" % PLACE_WIDTH
    yield "lines, the worst round trips first"
    yield form % ("line", "device", "CPU", "to the device", "to the CPU", "faults", "why")
    for line in lines[:MOST_LINES]:
        yield form % (place_of(line)[-PLACE_WIDTH:], nanoseconds(line["device_ns"]), nanoseconds(line["host_ns"]),
                      moved_text(line["uploads"], line["upload_bytes"]), moved_text(line["downloads"], line["download_bytes"]),
                      line["faults_read"] + line["faults_write"], why_of(line))
        if line.get("advice"):
            yield "   " + line["advice"]["text"]


def text(merged):
    lines = ["gpushim: " + verdict_of(merged), time_line(merged)]
    if len(merged.reports) == 1:
        lines += [" device: " + merged.first["device"]] if merged.first["verdict"]["state"] == "started" else []
    lines += [*reason_lines(merged.reports), *operation_lines(merged), moved_line(merged.counters), *reader_lines(merged.readers), *event_lines(merged.counters)]
    lines += process_lines(merged) if len(merged.reports) > 1 else []
    lines += line_lines(merged.lines) if merged.lines else []
    return "\n".join(lines)
