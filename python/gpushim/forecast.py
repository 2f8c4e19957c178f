# SPDX-License-Identifier: Apache-2.0
"""What a program would take on a GPU, from two runs on this machine: a measured one on the CPU alone, and one on the emulated device,
which decides, fuses and transfers as that GPU would (offload/forecast.h). All times are seconds; docs/user/advise.md has the sums."""
import collections

from gpushim.messages import counted

PYTHON = 5e-6    # that Python takes round a call of NumPy's
FREEING = 0.5    # of a call's time, at most, is what giving its memory back takes
MODEL = 3        # times what the cost model says, at most, do copies of slices and transposes take (policy/cost_model.h)
RECORD = 3e-6    # that the program's thread takes for a call that the device gets (docs/results/performance.md: 1e5 elements)
SUBMIT = 1e-5    # and for each kernel that they become (the same, chains of 1e6)
DRIVER_END = 0.12  # that a process ends later that has used the GPU
START_SHARE = 0.25  # of the start's time is what gains must reach (policy/one_time_cost.h)
SAME = 0.95  # of the time here is as long as here
TRANSFERS = ("upload", "download", "small")


def by_call(report, kind):
    """{(file, line, name): [calls, seconds]} of a report's lines of one kind."""
    sums = collections.defaultdict(lambda: [0, 0.0])
    for entry in report.get("advice_lines", []):
        if entry["kind"] == kind:
            total = sums[entry["file"], entry["line"], entry["name"]]
            total[0] += entry["calls"]
            total[1] += entry["ns"] * 1e-9
    return sums


def by_line(sums):
    """{(file, line): [calls, seconds]} of sums by call."""
    lines = collections.defaultdict(lambda: [0, 0.0])
    for key, numbers in sums.items():
        for place, number in enumerate(numbers):
            lines[key[:2]][place] += number
    return lines


def moved_seconds(measured, emulated):
    """{(file, line): (of measured calls, beside them)}: the CPU's seconds of the calls that the GPU gets. Beside measured calls,
    memory of their results is given back, and there are calls that are measured only in the arena (assignments and the like): for
    these the cost model's seconds count. Both are at most what the line took, by its samples, beside calls and Python itself."""
    plain, left, sent = by_call(measured, "host"), by_call(emulated, "host"), by_call(emulated, "device")
    sampled, hooked, calls = by_line(by_call(measured, "sample")), by_line(plain), by_line(sent)
    known = by_line({key: [0, max(plain[key][1] - (left[key][1] if key in left else 0), 0)] for key in sent if key in plain})
    modelled = by_line({key: numbers for key, numbers in sent.items() if key not in plain})
    moved = {}
    for line, (count, _) in calls.items():
        rest = max(sampled[line][1] - hooked[line][1] - PYTHON * count, 0)
        moved[line] = known[line][1], min(rest, MODEL * modelled[line][1] + FREEING * known[line][1])
    return moved


def started(wall, steady, ready):
    """Seconds of a process whose GPU is ready after `ready` seconds, which until then runs on the CPU."""
    gain = (wall - steady) / wall
    return wall if gain <= 0 or ready >= wall else min(wall - (wall - ready) * gain + DRIVER_END, wall)


def forecast(measured, emulated, wall):
    """The forecast as a dictionary, the keys of which docs/user/advise.md explains. measured, emulated: the reports of both runs,
    wall: seconds of the measured one."""
    sums = emulated["forecast"]
    known, beside = map(sum, zip((0, 0), *moved_seconds(measured, emulated).values()))
    numpy = sum(number for _, number in by_call(measured, "host").values()) + beside
    moved = known + beside
    calls = sum(count for count, _ in by_call(emulated, "device").values())
    parts = {"kernels": sums["kernels_ns"] * 1e-9, "calls": calls * RECORD + sums["launches"] * SUBMIT,
             "transfers": (sums["uploads_ns"] + sums["downloads_ns"] + sums["locks_ns"]) * 1e-9,
             "numpy": numpy - moved, "python": max(wall - numpy, 0)}
    steady = sum(parts.values())
    start = sums["start_ns"] * 1e-9
    gain = max(wall - steady, 0) / wall
    first = started(wall, steady, start + START_SHARE * start / gain) if gain > 0 else wall
    return {"gpu": sums["gpu"], "wall": wall, "numpy": numpy, "moved": moved, "device_calls": calls, "launches": sums["launches"],
            "parts": dict(parts, start=start), "steady": steady, "first": first, "next": min(started(wall, steady, start), first),
            "upload_bytes": emulated["counters"]["upload_bytes"], "download_bytes": emulated["counters"]["download_bytes"],
            "memory_bytes": emulated["counters"]["device_peak_bytes"], "gpu_memory_bytes": sums["memory_bytes"]}


def verdict(result):
    """One line."""
    wall, first, gpu = result["wall"], result["first"], result["gpu"]
    share = 100 * result["moved"] / result["numpy"] if result["numpy"] > 0 else 0
    about = "%.0f %% of the time of NumPy's calls would move" % share
    if result["memory_bytes"] > result["gpu_memory_bytes"]:
        about += "; its arrays (%.1f GB) do not fit into the GPU's memory" % (result["memory_bytes"] / 1e9)
    if first >= SAME * wall:
        gain, start = max(wall - result["steady"], 0), result["parts"]["start"]
        return "on an %s this run would take as long as here, %s: the GPU would gain %s, and starts in %s; %s" % (
            gpu, seconds(wall), seconds(gain), seconds(start), about)
    return "on an %s this run would take about %s instead of %s: %.1f times as fast; %s" % (
        gpu, seconds(first), seconds(wall), wall / first, about)


def seconds(number):
    """The number as text, in ms or s."""
    if number < 0.1:
        return "%.*f ms" % (0 if number >= 0.01 else 1, 1e3 * number)
    return "%.*f s" % (2 if number < 10 else 1, number)


def describe(result):
    """The verdict and the parts, as lines."""
    parts = result["parts"]
    yield verdict(result)
    yield "a later run, which starts the GPU at once: %s; without the GPU's start: %s" % (
        seconds(result["next"]), seconds(result["steady"]))
    rows = (("Python", parts["python"], "and functions that gpushim does not know"),
            ("NumPy's calls", parts["numpy"], "that stay on the CPU, of %s" % seconds(result["numpy"])),
            ("calls", parts["calls"], counted(result["device_calls"], "call", "calls") + " handed over"),
            ("kernels", parts["kernels"], counted(result["launches"], "launch", "launches")),
            ("transfers", parts["transfers"], "%.1f MB to the GPU, %.1f MB back" % (
                result["upload_bytes"] / 1e6, result["download_bytes"] / 1e6)),
            ("start", parts["start"], "beside the program"))
    for name, number, what in rows:
        yield "  %-18s %9s  %s" % (name, seconds(number), what)
