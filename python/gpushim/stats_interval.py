# SPDX-License-Identifier: Apache-2.0
"""What ran where between two moments: the difference of two reports (gpushim.stats()), and it in words."""
import collections
from dataclasses import dataclass, field

from gpushim import report_text, work_share

SHOWN_OPERATIONS = 8
SHOWN_REASONS = 3
NUMBERS = ("device_calls", "device_ns", "host_calls", "host_ns")


@dataclass
class Interval:
    device_calls: int = 0
    device_ns: int = 0
    host_calls: int = 0
    host_ns: int = 0
    device_work_s: float = 0  # that NumPy takes for the device's calls, and for the CPU's; 0 where times were not measured
    cpu_work_s: float = 0
    upload_bytes: int = 0
    download_bytes: int = 0
    operations: list = field(default_factory=list)  # {"name", "signature", "reasons", NUMBERS}, the most expensive first
    lines: list = field(default_factory=list)  # of the line profile, as the report has them; what the interval added

    @property
    def share(self):
        """Of NumPy's work, that on the device; None: no calls, or times were not measured."""
        return work_share.share_of(self.device_work_s, self.cpu_work_s)


def _rows(stats):
    return {(row["name"], row["signature"]): row for row in stats["operations"]}


def _row_difference(row, earlier):
    result = {"name": row["name"], "signature": row["signature"]}
    result.update({key: row[key] - earlier.get(key, 0) for key in NUMBERS})
    result["reasons"] = collections.Counter(row["reasons"])
    result["reasons"].subtract(earlier.get("reasons", {}))
    return result


def _places(stats):
    return {(line["file"], line["line"]): line for line in stats.get("lines") or ()}


def _line_difference(line, earlier):
    """Calls and advice are those of the whole process."""
    result = {key: value - earlier.get(key, 0) if isinstance(value, int) and key != "line" else value for key, value in line.items()}
    result["reasons"] = collections.Counter(line["reasons"]) - collections.Counter(earlier.get("reasons"))
    return result


def _line_differences(before, after):
    """The dearest first."""
    earlier = _places(before)
    lines = [_line_difference(line, earlier.get(place, {})) for place, line in _places(after).items() if line != earlier.get(place)]
    return sorted(lines, key=lambda line: -line["cost_ns"])


def _cost(row):
    return row["device_ns"] + row["host_ns"], row["device_calls"] + row["host_calls"]


def between(before, after):
    """The Interval of two reports of one process."""
    earlier = _rows(before)
    rows = [_row_difference(row, earlier.get(key, {})) for key, row in _rows(after).items()]
    rows = sorted((row for row in rows if any(_cost(row))), key=_cost, reverse=True)
    sums = {key: sum(row[key] for row in rows) for key in NUMBERS}
    moved = {key: after["counters"][key] - before["counters"][key] for key in ("upload_bytes", "download_bytes")}
    device_work, cpu_work = (max(now - then, 0) for now, then in zip(work_share.work_of(after), work_share.work_of(before)))
    return Interval(operations=rows, lines=_line_differences(before, after), device_work_s=device_work, cpu_work_s=cpu_work, **sums, **moved)


def whole(stats):
    """The Interval of all that a report tells."""
    nothing = {"operations": [], "counters": collections.Counter(), "verdict": {"work": {"device_s": 0, "cpu_s": 0}}}
    return between(nothing, stats)


def time_text(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return "%.3g %s" % (nanoseconds / size, unit)
    return "%d ns" % nanoseconds


def bytes_text(count):
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return "%.3g %s" % (count / size, unit)
    return "%d B" % count


def _calls_text(calls, nanoseconds):
    return "%d (%s)" % (calls, time_text(nanoseconds)) if nanoseconds else str(calls)


def verdict(interval):
    """One line: calls on the device and on the CPU, bytes moved; the share and times where they were measured."""
    if not interval.device_calls + interval.host_calls:
        return "no call of NumPy that gpushim counts"
    begin = "calls on the device"
    if interval.share is not None:
        begin = "%.0f %% of NumPy's hooked work ran on the device: calls there" % (100 * interval.share)
    return begin + " %s, on the CPU %s; moved to the device %s, back %s" % (
        _calls_text(interval.device_calls, interval.device_ns), _calls_text(interval.host_calls, interval.host_ns),
        bytes_text(interval.upload_bytes), bytes_text(interval.download_bytes))


def _operation_text(row):
    reasons = ", ".join("%s %d" % pair for pair in row["reasons"].most_common(SHOWN_REASONS) if pair[1] > 0)
    name = (row["name"] + " " + row["signature"]).strip()
    return "  %-24s device %-18s CPU %-18s %s" % (name, _calls_text(row["device_calls"], row["device_ns"]),
                                                  _calls_text(row["host_calls"], row["host_ns"]), reasons)


def details(interval):
    """A line for each of the most expensive operations, with the reasons for the CPU, and the table of lines where there is one."""
    shown = [_operation_text(row).rstrip() for row in interval.operations[:SHOWN_OPERATIONS]]
    left = len(interval.operations) - len(shown)
    shown += ["  and %d more" % left] if left else []
    return shown + (list(report_text.line_lines(interval.lines)) if interval.lines else [])
