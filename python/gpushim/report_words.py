# SPDX-License-Identifier: Apache-2.0
"""The report's words: for its text and its page alike. The verdict's are those of the library (config/report_verdict.c)."""
from gpushim import files, report_data

PARTS = (  # key of the verdict's parts, its label, what it is
    ("program_s", "Python and what is not hooked", "the program itself, other libraries, and NumPy's functions that gpushim does not know"),
    ("cpu_s", "NumPy on the CPU", "NumPy's own code of calls that are hooked"),
    ("device_s", "waiting for the device", "the device computes, and the program waits for it"),
    ("transfers_s", "transfers", "the program waits until arrays are moved"),
    ("start_s", "start and compilation", "the program waits for the start of the device, for kernels and libraries"),
    ("dispatch_s", "gpushim", "deciding, recording and submitting calls"))
LEAST = 5e-4  # seconds of a part that is named
DEVICE_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
TIME_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def in_units(value, units):
    """Three significant digits and a suitable unit."""
    size, unit = next((each for each in units if value >= 0.9995 * each[0]), units[-1])
    number = value / size
    return "%.*f %s" % (0 if number >= 99.95 or size == units[-1][0] else 1 if number >= 9.995 else 2, number, unit)


def seconds(number):
    return "%.*f s" % (0 if number >= 100 else 1 if number >= 10 else 2 if number >= 1 else 3, number)


def nanoseconds(number):
    """"-" where no time was measured."""
    return in_units(number * 1e-9, TIME_UNITS) if number else "-"


def size(number):
    return in_units(number, DEVICE_UNITS)


def comparison(verdict):
    wall, plain = verdict["wall_s"], verdict["plain_s"]
    if plain >= 1.05 * wall > 0:
        faster = "%.*f times as fast" % (plain < 9.95 * wall, plain / wall)
    else:
        faster = "slower" if plain < 0.95 * wall else "about as fast"
    return "%s instead of an estimated %s, %s" % (seconds(wall), seconds(plain), faster)


def device_text(device, state):
    """The device of a report whose verdict has that state."""
    return "not started" if state == "not-started" else device


FORKED = "start workers by spawn or forkserver: a forked child computes on the CPU"


def is_forked(report):
    return report.get("process", {}).get("forked", False)


def advice_of(report):
    """What to change about a process; empty: nothing is known."""
    return FORKED if is_forked(report) else report["verdict"].get("advice", "")


def why_not(what, verdict):
    return "%s%s; NumPy computed on the CPU" % (what, ": " + verdict["why_not"] if verdict["why_not"] else "")


def of_one(report):
    """The verdict on a process."""
    verdict, device = report["verdict"], report["device"].partition(",")[0]
    state = verdict["state"]
    if is_forked(report):
        return "a forked child, which computes on the CPU; one that is started by spawn or forkserver does not"
    if state == "started" and verdict["device_work_s"] <= 0:
        return "nothing ran on %s; NumPy computed on the CPU" % device
    if state == "started":
        return "%.0f %% of NumPy's hooked work ran on %s: %s" % (100 * verdict["share"], device, comparison(verdict))
    if state == "cores":
        return "NumPy ran on the CPU's cores (%s): %s" % (report["device"], comparison(verdict))
    if state == "not-started" and not verdict["why_not"]:
        return "the device was not started: predicted gain %s, start %s; NumPy computed on the CPU" % (
            seconds(verdict["foregone_s"]), seconds(verdict["start_price_s"]))
    return why_not({"inactive": "not active", "retired": "the device was given up", "not-started": "the device was not started"}.get(state, state), verdict)


def verdict_of(merged):
    if len(merged.reports) == 1:
        return of_one(merged.first)
    share = report_data.share(merged)
    if share is None:
        return "%d processes: no hooked call of NumPy's" % len(merged.reports)
    together = {key: sum(report["verdict"][key] for report in merged.reports) for key in ("wall_s", "plain_s")}
    return "%d processes: %.0f %% of NumPy's hooked work ran on a device: together %s" % (
        len(merged.reports), 100 * share, comparison(together))


def top_reason(row):
    return max(row["reasons"], key=lambda code: row["reasons"][code]) if row["reasons"] else "-"


def why_of(line):
    """The most frequent call of a line of the program, those on the CPU before others, and the reason or who read."""
    calls = [call for call in line.get("calls") or () if call["calls"]]
    top = max(calls, key=lambda call: (not call["on_device"], call["calls"]), default=None)
    name = name_of(top) if top else ""
    if line["host_calls"]:
        return "%s: %s" % (name, top_reason(line)) if name else top_reason(line)
    reader = "read by " + line["reader"] if line.get("reader") else ""
    return ", ".join(filter(None, (name, reader))) or "no hooked call"


def name_of(row):
    return ("%s %s" % (row["name"], row["signature"])).strip()


def name_of_reader(reader):
    return ("code of " if reader["kind"] == "library" else "") + reader["name"]


def place_of(line):
    return "%s:%d" % (files.shown(line["file"]), line["line"]) if line["line"] else line["file"]
