# SPDX-License-Identifier: Apache-2.0
"""Reports as text: the form that the library prints (docs/user/report.md), for all processes together."""
from gpushim import report_data
from gpushim.report_words import (LEAST, PARTS, nanoseconds, name_of, name_of_reader, of_one, place_of, seconds, size, top_reason,
                                  verdict_of)

MOST_ROWS, MOST_LINES, MOST_READERS = 40, 20, 5
MOST_COMMAND = 60  # characters


def time_line(merged):
    parts = report_data.parts_of(merged)
    named = ["%s %s" % (seconds(parts[key]), label) for key, label, _text in PARTS if key == PARTS[0][0] or parts[key] >= LEAST]
    whose = " of all processes" if len(merged.reports) > 1 else ""
    return " time%s: %s = %s" % (whose, seconds(sum(parts.values())), " + ".join(named))


def operation_lines(merged):
    form = " %-32s %12s %9s %12s %9s   %s"
    yield form % ("operation", "device calls", "time", "CPU calls", "time", "top reason for the CPU")
    for row in merged.operations[:MOST_ROWS]:
        yield form % (name_of(row), row["device_calls"], nanoseconds(row["device_ns"]), row["host_calls"], nanoseconds(row["host_ns"]),
                      top_reason(row))
    if len(merged.operations) > MOST_ROWS:
        yield " (%d more)" % (len(merged.operations) - MOST_ROWS)


def moved_line(counters):
    return " moved: host to device %s (%d transfers), device to host %s (%d transfers), inside the device %s" % (
        size(counters["upload_bytes"]), counters["uploads"], size(counters["download_bytes"]), counters["downloads"],
        size(counters["device_copy_bytes"]))


def reader_lines(readers):
    """One line, or none."""
    shown, others = readers[:MOST_READERS], readers[MOST_READERS:]
    parts = ["%s %s in %d" % (name_of_reader(reader), size(reader["bytes"]), reader["transfers"]) for reader in shown]
    if others:
        parts.append("%d others %s in %d" % (len(others), size(sum(reader["bytes"] for reader in others)),
                                             sum(reader["transfers"] for reader in others)))
    return [" brought back by " + ", ".join(parts)] if parts else []


def event_line(counters):
    return " %d launches, %d kernels compiled, %d from the disk cache; page faults %d read, %d write; %d forks; device start %s" % (
        counters["launches"], counters["compiles"], counters["cache_hits"], counters["faults_read"], counters["faults_write"],
        counters["forks"], nanoseconds(counters["start_ns"]))


def process_lines(merged):
    form = " %9s %10s %12s %12s   %s"
    yield form % ("process", "wall time", "device calls", "CPU calls", "command, verdict")
    for report in merged.reports:
        rows = report["operations"]
        yield form % (report["pid"], seconds(report["verdict"]["wall_s"]), sum(row["device_calls"] for row in rows),
                      sum(row["host_calls"] for row in rows), report_data.command_of(report)[-MOST_COMMAND:])
        yield form % ("", "", "", "", "  " + of_one(report))


def moved_text(count, moved):
    return "%s in %d" % (size(moved), count) if count else "-"


def line_lines(merged):
    form = " %-32s %8s %8s %18s %18s %7s   %s"
    yield "lines, the worst round trips first"
    yield form % ("line", "device", "CPU", "to the device", "to the CPU", "faults", "top reason for the CPU")
    for line in merged.lines[:MOST_LINES]:
        yield form % (place_of(line), nanoseconds(line["device_ns"]), nanoseconds(line["host_ns"]),
                      moved_text(line["uploads"], line["upload_bytes"]), moved_text(line["downloads"], line["download_bytes"]),
                      line["faults_read"] + line["faults_write"], top_reason(line))
        if line.get("advice"):
            yield "   " + line["advice"]["text"]


def text(merged):
    lines = ["gpushim: " + verdict_of(merged), time_line(merged)]
    lines += [] if len(merged.reports) > 1 else [" device: " + merged.first["device"]]
    lines += [*operation_lines(merged), moved_line(merged.counters), *reader_lines(merged.readers), event_line(merged.counters)]
    lines += process_lines(merged) if len(merged.reports) > 1 else []
    lines += line_lines(merged) if merged.lines else []
    return "\n".join(lines)
