# SPDX-License-Identifier: Apache-2.0
"""What `gpushim bench` says: a table that is Markdown and is read on a terminal too, and JSON."""
import os
import platform
import shlex

import gpushim
from gpushim import bench_checks
from gpushim.bench_statistics import speedup_text
from gpushim.bench_turns import PLAIN, SHIM
from gpushim.messages import counted
from gpushim.report_words import device_text

VERSION = 1  # of the JSON
HEADER = ("program", PLAIN, SHIM, "speed-up", "on the device", "moved", "output")
MOST_REASONS = 3
UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"))
BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B"))


def in_units(value, units):
    size, unit = next((each for each in units if value >= each[0]), units[-1])
    return "%.3g %s" % (value / size, unit) if value < 1000 * size else "%.0f %s" % (value / size, unit)


def time_text(summary):
    """Median and spread, which one run has not."""
    if not summary:
        return "-"
    spread = " ± " + in_units(summary["spread"], UNITS) if len(summary["seconds"]) > 1 else ""
    return in_units(summary["median"], UNITS) + spread


def output_text(measurement):
    if measurement.failure is not None:
        return "failed"
    if measurement.unsteady:
        return "unsteady"
    if measurement.differences:
        return "differs"
    return "same" if measurement.seconds[SHIM] else "-"


def report_texts(report):
    """(share on the device, bytes moved)."""
    if report is None:
        return "-", "-"
    share = "-" if report["share"] is None else "%.0f %%" % (report["share"] * 100)
    return share, "%s up, %s down" % (in_units(report["upload_bytes"], BYTES), in_units(report["download_bytes"], BYTES))


def lines_of(measurement):
    """Its rows of the table: what is known of the process stands in the first one."""
    facts = [*report_texts(measurement.report), output_text(measurement)]
    rows = []
    for name, row in measurement.rows().items():
        rows.append([name.replace("|", "\\|"), time_text(row[PLAIN]), time_text(row[SHIM]), speedup_text(row["speedup"]) if row["speedup"] else "-", *facts])
        facts = [""] * len(facts)
    return rows


def table(measurements):
    rows = [list(HEADER)] + [line for measurement in measurements for line in lines_of(measurement)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    rows.insert(1, ["-" * width for width in widths])
    return ["| %s |" % " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]


def reason_lines(measurement):
    """One line: for what reasons calls stayed on the CPU."""
    reasons = measurement.report["reasons"][:MOST_REASONS] if measurement.report else []
    told = ["%s %s (%s)" % (reason["code"], in_units(reason["seconds"], UNITS), counted(reason["calls"], "call", "calls")) for reason in reasons]
    return ["- %s: on the CPU: %s" % (measurement.name, ", ".join(told))] if told else []


def problem_lines(problems):
    return ["- FAIL %s: %s: %s" % (problem.kind, problem.name, problem.text) for problem in problems]


def machine():
    """Where it was measured."""
    cpu = platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            cpu = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), cpu)
    except OSError:
        pass
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(), "python": platform.python_version()}


def devices_of(measurements):
    reports = [measurement.report for measurement in measurements if measurement.report]
    return sorted({device_text(report["device"], report["state"]) for report in reports})


def text(measurements, problems):
    """All of it, as lines."""
    here = machine()
    lines = table(measurements) + [""]
    for measurement in measurements:
        lines += reason_lines(measurement)
    lines += problem_lines(problems)
    lines.append("- Seconds of the whole process: median ± median absolute deviation. Speed-up: quotient of the medians (95 % interval).")
    lines.append("- Device: %s. CPU: %s, %d cores." % ("; ".join(devices_of(measurements)) or "none", here["cpu"], here["cores"]))
    return lines


def printable(lines, encoding):
    """The lines as text in an encoding that may lack characters."""
    text = "\n".join(lines)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("±", "+-").encode(encoding, "backslashreplace").decode(encoding)
    return text


def program_facts(measurement):
    return {"name": measurement.name, "command": shlex.join(measurement.words), "rows": measurement.rows(),
            "report": measurement.report, "output": output_text(measurement), "failure": measurement.failure,
            "unsteady": measurement.unsteady, "differences": measurement.differences}


def facts(measurements, problems, how, status):
    """The JSON object (docs/user/command.md)."""
    settings = {"runs": how.runs, "warmup": how.warmup, "timeout": how.timeout, "variables": how.variables, "outputs": how.outputs,
                "rtol": how.tolerance.rtol, "atol": how.tolerance.atol}
    return {"version": VERSION, "gpushim_version": version(), "machine": machine(), "settings": settings, "status": status,
            "programs": [program_facts(measurement) for measurement in measurements],
            "problems": [dict(problem._asdict(), status=bench_checks.STATUS[problem.kind]) for problem in problems]}


def version():
    """The package's; None where it is not installed."""
    try:
        return gpushim.__version__
    except ImportError:
        return None
