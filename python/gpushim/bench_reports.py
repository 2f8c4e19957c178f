# SPDX-License-Identifier: Apache-2.0
"""What the reports of a program's processes (docs/user/report.md) say together."""
import collections

from gpushim import work_share

COUNTERS = ("upload_bytes", "uploads", "download_bytes", "downloads")


def reasons_of(rows):
    """[{code, calls, seconds}], the longest first: a row's time on the CPU is divided among its reasons by their calls."""
    calls, nanoseconds = collections.Counter(), collections.Counter()
    for row in rows:
        for code, count in row["reasons"].items():
            calls[code] += count
            nanoseconds[code] += row["host_ns"] * count / max(row["host_calls"], 1)
    order = sorted(calls, key=lambda code: (-nanoseconds[code], -calls[code], code))
    return [{"code": code, "calls": calls[code], "seconds": nanoseconds[code] * 1e-9} for code in order]


def share_of(reports):
    """The part of the work of NumPy's hooked calls that the device did, from 0 to 1; None: there was no such call."""
    return work_share.share_of(*map(sum, zip(*map(work_share.work_of, reports))))


def summary(reports):
    """All processes together, the wall time of the one with the most calls on the device; None: there is no report."""
    if not reports:
        return None
    rows = [row for report in reports for row in report["operations"]]
    total = {name: sum(row[name] for row in rows) for name in ("device_ns", "host_ns", "device_calls", "host_calls")}
    counters = {name: sum(report["counters"].get(name, 0) for report in reports) for name in COUNTERS}
    busiest = max(reports, key=lambda report: sum(row["device_calls"] for row in report["operations"]))
    verdict = busiest["verdict"]
    return {"device": busiest["device"], "state": verdict["state"], "processes": len(reports), "share": share_of(reports),
            "wall_s": verdict["wall_s"], "plain_s": verdict["plain_s"], "parts": verdict["parts"],
            "device_seconds": total["device_ns"] * 1e-9, "host_seconds": total["host_ns"] * 1e-9,
            "device_calls": total["device_calls"], "host_calls": total["host_calls"], **counters, "reasons": reasons_of(rows)}
