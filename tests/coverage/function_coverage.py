# SPDX-License-Identifier: Apache-2.0
"""How much of NumPy's and SciPy's public API stays on the device, call by call, on operands that are there.

    function_coverage.py [--library FILE] [--device host|cuda] [--json FILE [--merge]] [--only REGEX] [--write] [--table]

Each call of function_cases.txt is made in a process under the library, forced to the device, and in this one without it;
the results are compared. Of a call's operands and results
  RESIDENT  less than 1 % of the operands' bytes went to the host and 1 % came from it; large results are on the device
  PARTLY    less than half went to the host, or something that was made there was uploaded
  HOST      half or more went to the host, or the result of a call without operands was made there
--write puts the table into docs/user/coverage.md; --table makes it of --json's file, and calls nothing.
"""
import argparse
import collections
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import warnings

import coverage_table
import function_operands
from function_worker import SMALL

ROOT = coverage_table.ROOT
SECONDS = {"library": 120, "plain": 60}
CALLS_OF_A_PROCESS = 40
CLASSES = ("RESIDENT", "PARTLY", "HOST", "ERROR")


def classify(row):
    if "error" in row:
        return "ERROR"
    size, down, up = row["size"], row["down"], row["up"]
    if size == 0:
        return "HOST" if row["on_host"] else "PARTLY" if max(down, up) > SMALL else "RESIDENT"
    if down >= size / 2:
        return "HOST"
    moved = down > max(size / 100, SMALL / 4) or up > max(size / 100, SMALL)
    return "PARTLY" if moved or row["on_host"] else "RESIDENT"


class Worker:
    """A process under the library; one that has died, hangs, or is old is replaced."""

    def __init__(self, library, device):
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith("GPUSHIM_") or name == "GPUSHIM_CACHE_DIR"}
        self.env.update(GPUSHIM_DEVICE=device, GPUSHIM_MODE="force", LD_PRELOAD=library)
        self.process, self.served = None, 0

    def start(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "function_worker.py")
        self.process = subprocess.Popen([sys.executable, script], env=self.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.process.stdout.readline()
        self.served = 0

    def ask(self, name, path):
        if self.process is None or self.served >= CALLS_OF_A_PROCESS:
            self.stop()
            self.start()
        self.served += 1
        try:
            self.process.stdin.write(json.dumps([name, path]) + "\n")
            self.process.stdin.flush()
            answered = select.select([self.process.stdout], [], [], SECONDS["library"])[0]
            line = self.process.stdout.readline() if answered else ""
        except BrokenPipeError:
            line = ""
        if line.strip():
            return json.loads(line)
        self.stop()
        return {"error": "no answer"}

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def run_plain(code, scratch):
    """(result, None) or (None, the error)."""
    signal.alarm(SECONDS["plain"])
    try:
        _, names = function_operands.prepare(code, scratch)
        return function_operands.canonical(function_operands.run(code, names)), None
    except Exception as error:
        return None, type(error).__name__
    finally:
        signal.alarm(0)


def compare(case, row, path, scratch):
    """None, words, or "not there": plain NumPy refuses the call alike."""
    expected, refused = run_plain(case.code, scratch)
    if "error" in row:
        return "not there" if refused and row["error"].startswith(refused) else None
    if refused:
        return None
    with open(path, "rb") as stream:
        return function_operands.difference(pickle.load(stream), expected, case.signs_are_free)


def shard_of(cases, shard):
    number, count = map(int, shard.split("/"))
    return dict(list(cases.items())[number - 1::count])


def measure(cases, worker, rows, save):
    """Adds {name: row} to rows."""
    def too_long(*_):
        raise TimeoutError
    signal.signal(signal.SIGALRM, too_long)
    with tempfile.TemporaryDirectory() as folder:
        path, scratch = os.path.join(folder, "result.pickle"), os.path.join(folder, "scratch.npy")
        for name, case in cases.items():
            row = worker.ask(name, path)
            row.update(area=case.area, in_cupy=case.in_cupy, wrong=compare(case, row, path, scratch))
            row["class"] = classify(row)
            rows[name] = row
            if row["wrong"] == "not there":
                del rows[name]
            share = [100 * row.get(way, 0) / max(row.get("size", 1), 1) for way in ("up", "down")]
            print("%-9s %-34s up %6.1f %% down %6.1f %% %s" % (row["class"], name, *share, row.get("declined", row)),
                  flush=True)
            save()


# --- the table -----------------------------------------------------------------------------------

HEADING = coverage_table.FUNCTIONS


def count_line(title, rows):
    counts = collections.Counter(row["class"] for row in rows)
    resident = counts["RESIDENT"]
    share = 100.0 * resident / max(len(rows), 1)
    return "| %s | %d | %d (%.1f %%) | %d | %d |" % (title, len(rows), resident, share, counts["PARTLY"],
                                                 counts["HOST"] + counts["ERROR"])


def section(rows, device):
    """The part of docs/user/coverage.md on functions."""
    lines = [HEADING, "",
             "Made by tests/coverage/function_coverage.py on the device `%s`: each call of" % device,
             "function_cases.txt, forced to the device, on operands that are there. Resident: less than 1 % of the operands' bytes went either way, and large",
             "results are on the device. Partly: less than half went to the host. Host: more did.", "",
             "| calls | number | resident | partly | host |", "|---|---|---|---|---|"]
    parts = [(title, [row for row in rows.values() if row["area"].startswith("NumPy:") == is_numpy])
             for title, is_numpy in (("all of NumPy", True), ("all of SciPy", False))]
    for title, chosen in parts:
        if chosen:
            lines.append(count_line(title, chosen))
            lines.append(count_line(title + " that CuPy has", [row for row in chosen if row["in_cupy"]]))
    areas = dict.fromkeys(row["area"] for row in rows.values())
    for area in areas:
        lines.append(count_line("of " + area, [row for row in rows.values() if row["area"] == area]))
    lines += ["", "| calls of | partly | host |", "|---|---|---|"]
    for area in areas:
        named = [", ".join(name.replace("|", "\\|") for name, row in rows.items()
                           if row["area"] == area and row["class"] in classes)
                 for classes in (("PARTLY",), ("HOST", "ERROR"))]
        if any(named):
            lines.append("| of %s | %s | %s |" % (area, *named))
    return "\n".join(lines) + "\n"


def write(text):
    path = os.path.join(ROOT, "docs", "user", "coverage.md")
    with open(path, encoding="utf-8") as stream:
        kept = stream.read().split(HEADING)[0]
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(kept.rstrip("\n") + "\n\n" + text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default=os.environ.get("GPUSHIM_LIBRARY") or
                        os.path.join(ROOT, "build", "libgpushim.so"))
    parser.add_argument("--device", default=os.environ.get("GPUSHIM_DEVICE") or "host")
    parser.add_argument("--json", default="function_coverage.json")
    parser.add_argument("--only", default="", help="names that this matches")
    parser.add_argument("--shard", default="1/1", metavar="K/N", help="each Nth call from the Kth on")
    for flag in ("merge", "write", "table"):
        parser.add_argument("--" + flag, action="store_true")
    options = parser.parse_args()
    rows = {}
    if options.merge or options.table:
        with open(options.json, encoding="utf-8") as stream:
            rows = json.load(stream)

    def save():
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=0)
    warnings.simplefilter("ignore")
    if not options.table:
        worker = Worker(os.path.abspath(options.library), options.device)
        try:
            measure(shard_of(function_operands.matches(options.only), options.shard), worker, rows, save)
        finally:
            worker.stop()
    print(section(rows, options.device))
    if options.write:
        write(section(rows, options.device))
    wrong = {name: row["wrong"] or row.get("error") for name, row in rows.items() if row["wrong"] or row["class"] == "ERROR"}
    for name, words in wrong.items():
        print("wrong: %s: %s" % (name, words))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
