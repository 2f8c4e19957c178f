# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: contenders, each in its own process that answers one question at a
time, so that a run can alternate between them; clocks, machine facts, tables, JSON lines, plots.

A benchmark file runs itself with --worker CONTENDER; there it calls serve(contender, handlers).
A measured function must leave a finished result: it ends with its contender's synchronize().
"""
import argparse
import ctypes
import gc
import json
import mmap
import os
import platform
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = os.path.abspath(os.environ.get("GPUSHIM_LIBRARY") or
                          os.path.join(ROOT, "build", "libgpushim.so"))


# ---- facts -------------------------------------------------------------------------------------

def _first_line(command):
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             cwd=ROOT, timeout=20, check=False).stdout.decode().splitlines()
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return out[0].strip() if out else ""


def memory_available():
    """Bytes that can be allocated without swapping."""
    with open("/proc/meminfo", encoding="ascii") as stream:
        for line in stream:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 1 << 30


def machine():
    """Where the figures were taken: goes into every JSON line."""
    cpu = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
        for line in stream:
            if line.startswith("model name"):
                cpu = line.split(":", 1)[1].strip()
                break
    commit = _first_line(["git", "rev-parse", "--short=12", "HEAD"]) or "unknown"
    if commit != "unknown" and _first_line(["git", "status", "--porcelain"]):
        commit += "+changes"
    return {"cpu": cpu, "cores": os.cpu_count(), "kernel": platform.release(),
            "gpu": _first_line(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]) or None,
            "python": platform.python_version(), "commit": commit}


def default_device():
    """GPUSHIM_DEVICE as given, else cuda where a GPU's driver is present, else host."""
    given = os.environ.get("GPUSHIM_DEVICE")
    if given and given != "auto":
        return given
    return "cuda" if os.path.exists("/dev/nvidiactl") or os.path.exists("/dev/dxg") else "host"


def touch_memory(size=512 << 20):
    """Writes to `size` bytes of huge pages and gives them back: a virtual machine's host may have taken free ones back,
    so that who touches them next waits for it, whoever that is (docs/results/archive.md)."""
    with mmap.mmap(-1, size) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for offset in range(0, size, mmap.PAGESIZE):
            memory[offset] = 1


def without_the_shim():
    """The environment of a process that knows nothing of gpushim."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith("GPUSHIM_") and name != "LD_PRELOAD"}


def under_the_shim(**options):
    """The environment of a process that the library is preloaded into. `options` (names without GPUSHIM_) go before what the
    user has set; the device is the default one otherwise."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("GPUSHIM_")}
    settings.pop("GPUSHIM_LIBRARY", None)
    settings["GPUSHIM_DEVICE"] = default_device()
    settings.update(("GPUSHIM_" + name, value) for name, value in options.items())
    return dict(without_the_shim(), LD_PRELOAD=LIBRARY, **settings)


# ---- in the worker -----------------------------------------------------------------------------

class Contender:
    """What a worker computes with: `xp` (numpy or cupy), synchronize(), and gpushim's functions."""

    def __init__(self, name):
        self.name = name
        self.library = None
        if name == "cupy":
            import cupy as xp
            stream = xp.cuda.get_current_stream()
            self.synchronize = stream.synchronize
            self.version = "cupy " + xp.__version__
        else:
            import numpy as xp
            self.version = "numpy " + xp.__version__
            self._load_synchronize(name)
        self.xp = xp

    def _load_synchronize(self, name):
        library = ctypes.CDLL(None)
        if name == "gpushim":
            self.library = library
            library.gpushim_residency.argtypes = [ctypes.c_void_p]
            library.gpushim_report_json.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
            self.synchronize = library.gpushim_synchronize
        else:
            # NumPy has nothing to wait for; it pays for one call of another library like the others.
            self.synchronize = library.sched_getcpu
        self.synchronize.argtypes = []

    def residency(self, array):
        """0 foreign, 1 host, 2 shared, 3 device; None where this is not gpushim."""
        return self.library.gpushim_residency(array.ctypes.data) if self.library else None

    def report(self):
        buffer = ctypes.create_string_buffer(1 << 20)
        self.library.gpushim_report_json(buffer, len(buffer))
        return json.loads(buffer.value.decode())

    def counters(self):
        """gpushim's counters, {} elsewhere."""
        return self.report()["counters"] if self.library else {}


def warm(contender, limit=20):
    """Computes until gpushim's device holds a result, for at most `limit` seconds."""
    end = time.perf_counter() + limit
    while True:
        result = contender.xp.arange(10 ** 7) * 2
        contender.synchronize()
        if contender.residency(result) in (None, 3):
            return {"warm": True}
        if time.perf_counter() > end:
            return {"warm": False}


def measure(function, budget=0.4, least=3, most=1000, prepare=None):
    """Median seconds of one call. Calls `prepare` untimed before each. The result of a call is
    dropped before the next is made; the first call is a warm-up and not counted."""
    if prepare:
        prepare()
    started = time.perf_counter()
    function()
    first = time.perf_counter() - started
    least = min(least, 2) if first > 1 else least
    inner = 1 if prepare or first > 2e-4 else max(1, int(2e-4 / max(first, 1e-7)))
    times = []
    end = time.perf_counter() + budget
    gc.disable()
    try:
        while len(times) < least or (time.perf_counter() < end and len(times) < most):
            if prepare:
                prepare()
            started = time.perf_counter()
            for _ in range(inner):
                function()
            times.append((time.perf_counter() - started) / inner)
    finally:
        gc.enable()
    return {"seconds": statistics.median(times), "best": min(times), "first": first,
            "repeats": len(times), "inner": inner}


def launched(contender, function):
    """Calls the function once: {"launches", "moved"}, kernels and bytes between CPU and GPU. {} without gpushim."""
    before = contender.counters()
    function()
    after = contender.counters()
    if not after:
        return {}
    moved = [after[name] - before[name] for name in ("upload_bytes", "download_bytes")]
    return {"launches": after["launches"] - before["launches"], "moved": sum(moved)}


def answer_with_numbers(contender, function, digest, budget):
    """The answer of a question about the function: measure()'s and launched()'s figures, and what `digest` makes of a
    result, as "numbers"; or {"error": text}: what a contender cannot do is a row without it."""
    try:
        numbers = digest(function())
        function()
        work = launched(contender, function)
        answer = measure(lambda: function() is None, budget, least=2)
    except Exception as error:  # pylint: disable=broad-except  # the text says which
        return {"error": "%s: %s" % (type(error).__name__, str(error)[:200])}
    return dict(answer, numbers=numbers, **work)


def serve(contender, handlers):
    """The worker's loop: a JSON request a line on stdin, a JSON answer a line on stdout."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints must not disturb the answers
    print(json.dumps({"version": contender.version}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        name = request.pop("question")
        try:
            answer = handlers[name](contender, **request)
        except MemoryError as error:
            answer = {"error": "MemoryError: %s" % error}
        print(json.dumps(answer), file=answers, flush=True)


# ---- in the parent -----------------------------------------------------------------------------

class Worker:
    """One contender's process; `settings` as of under_the_shim."""

    def __init__(self, script, contender, **settings):
        self.contender = contender
        env = under_the_shim(**settings) if contender == "gpushim" else without_the_shim()
        env["PYTHONPATH"] = os.path.join(ROOT, "bench")
        self.process = subprocess.Popen(
            [sys.executable, script, "--worker", contender], env=env, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=None)
        self.version = self._answer()["version"]

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the %s worker ended with status %s" %
                               (self.contender, self.process.wait()))
        return json.loads(line)

    def ask(self, question, **request):
        request["question"] = question
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self):
        """Ends the process; raises where its exit status is not 0."""
        self.process.stdin.close()
        self.process.stdout.close()
        if self.process.wait() != 0:
            raise RuntimeError("the %s worker ended with status %s" %
                               (self.contender, self.process.returncode))


def has_cupy():
    """Whether CuPy can be imported and sees a GPU."""
    return subprocess.run([sys.executable, "-c", "import cupy; cupy.zeros(1).sum().item()"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def parser(description):
    """The command line that the benchmarks share."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--worker", help=argparse.SUPPRESS)
    result.add_argument("--out", default=os.path.join(ROOT, "build", "bench"),
                        help="folder for JSON lines and plots")
    result.add_argument("--contenders", default="numpy,gpushim,cupy",
                        help="comma-separated; cupy is left out where it cannot be imported")
    result.add_argument("--rounds", type=int, default=3, help="alternations between contenders")
    result.add_argument("--budget", type=float, default=0.3, help="seconds per measurement")
    return result


def start_workers(script, options, **settings):
    """{contender: Worker} of those asked for that exist here; `settings` as of under_the_shim."""
    names = options.contenders.split(",")
    if "cupy" in names and not has_cupy():
        names.remove("cupy")
        print("cupy: not importable here, left out")
    if "gpushim" in names and not os.path.exists(LIBRARY):
        sys.exit("no library %s: run `make build` first" % LIBRARY)
    return {name: Worker(script, name, **settings) for name in names}


# OpenBLAS's threads spin for about 0.1 s after a product; the next process's would compete with them.
BREATH = 0.15


def ask_all(workers, rounds, question, **request):
    """{contender: answer}, asked in turns; the times are the medians of the rounds' medians."""
    rows = {name: [] for name in workers}
    for _ in range(rounds):
        for name, worker in workers.items():
            time.sleep(BREATH)
            rows[name].append(worker.ask(question, **request))
        if all("error" in answers[-1] or answers[-1].get("seconds", 0) > 1
               for answers in rows.values()):
            break  # long ones need no repetition
    result = {}
    for name, answers in rows.items():
        result[name] = dict(answers[-1])
        if "seconds" in answers[0]:
            result[name]["seconds"] = statistics.median(a["seconds"] for a in answers)
            result[name]["first"] = answers[0].get("first")
    return result


# ---- what comes out ----------------------------------------------------------------------------

def seconds_text(seconds):
    if seconds is None:
        return "-"
    for unit, scale in (("s ", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return "%.3g %s" % (seconds * scale, unit)
    return "%.3g ns" % (seconds * 1e9)


LIMIT = 1.1  # times CuPy: rows beyond are marked


def agrees(numbers, expected):
    """Whether they differ by less than a thousandth of the first one expected, a norm."""
    return all(abs(x - y) <= 1e-3 * expected[0] for x, y in zip(numbers, expected))


def row_beside_cupy(label, answers):
    """A table's row of {contender: answer_with_numbers()}, and whether the numbers differ."""
    times = {who: answer.get("seconds") for who, answer in answers.items()}
    known = [answer["numbers"] for answer in answers.values() if "numbers" in answer]
    differs = any(not agrees(numbers, known[0]) for numbers in known[1:])
    ours, theirs = times.get("gpushim"), times.get("cupy")
    mark = " <" if ours and theirs and ours > LIMIT * theirs else ""
    own = answers.get("gpushim", {})
    return [label] + [seconds_text(seconds) for seconds in times.values()] + [
        ("%.2f%s" % (ours / theirs, mark) if ours and theirs else "-") + (" WRONG" if differs else ""),
        own.get("launches", own.get("error", "-")), own.get("moved", "-")], differs


def compare_beside_cupy(script, options, name, heading, rows):
    """Asks the question `name` of all contenders for each (label, request), prints a table, and gives whether numbers differ."""
    lines = JsonLines(options.out, name)
    workers = start_workers(script, options, MODE="force")
    table, wrong = [], 0
    for label, request in rows:
        answers = ask_all(workers, options.rounds, name, budget=options.budget, **request)
        for who, answer in answers.items():
            lines.write(case=label, contender=who, **answer)
        cells, differs = row_beside_cupy(label, answers)
        table.append(cells)
        wrong += differs
        print("  ".join(map(str, cells)), flush=True)
    print_table([heading] + list(workers) + ["gpushim/CuPy", "launches", "bytes moved"], table)
    for worker in workers.values():
        worker.close()
    return wrong != 0


def count_text(count):
    exponent = len(str(count)) - 1
    return "1e%d" % exponent if count == 10 ** exponent else str(count)


def print_table(header, rows):
    """Columns aligned right, the first left."""
    cells = [[str(cell) for cell in row] for row in [header] + rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join([row[0].ljust(widths[0])] +
                        [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip())
    sys.stdout.flush()


class JsonLines:
    """FILE.jsonl in the output folder: one object a line, machine and commit in each."""

    def __init__(self, folder, name):
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, name + ".jsonl")
        self.stream = open(self.path, "w", encoding="utf-8")
        self.machine = machine()
        self.bench = name

    def write(self, **fields):
        fields = dict(bench=self.bench, **fields, **self.machine)
        self.stream.write(json.dumps(fields, sort_keys=True) + "\n")
        self.stream.flush()


def plot(path, title, panels):
    """A PNG of seconds against size: panels = {title: {series: [(size, seconds), ...]}}."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib: not importable here, no plot")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(lines, columns, squeeze=False,
                                   figsize=(5.5 * columns, 4 * lines), layout="constrained")
    for axis, (name, series) in zip(axes.flat, panels.items()):
        for label, points in series.items():
            if points:
                axis.loglog(*zip(*sorted(points)), marker="o", markersize=3, label=label)
        axis.set_title(name)
        axis.set_xlabel("side" if name.startswith("matmul") else "elements")
        axis.set_ylabel("seconds")
        axis.grid(True, which="major", alpha=0.3)
        axis.legend()
    for axis in list(axes.flat)[len(panels):]:
        axis.set_visible(False)
    figure.suptitle(title)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    print("plot:", path)
