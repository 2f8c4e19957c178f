# SPDX-License-Identifier: Apache-2.0
"""Random NumPy programs, plain and under the shim: everything that a program can see must agree.

    fuzz.py --seconds N [--seed S] [--device host|cuda] [--library FILE] [--most FAILURES] [--store DIR]
    fuzz.py --case FILE ...      runs stored cases again

Programs are made by hypothesis (fuzz_grammar.py), run plainly in this process and in one under the
shim in force mode (fuzz_worker.py), and compared (fuzz_compare.py). A failing one is made smaller,
printed as a script, and stored in cases/, which `make test` runs (test_fuzz.py).
"""
import argparse
import hashlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import fuzz_compare
import fuzz_program
import fuzz_worker

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CASES = os.path.join(HERE, "cases")  # those that `make test` runs
MOST_STATEMENTS = 12
BATCH = 60
# Variables that batches of programs take turns with: outputs always in the library's memory, or where they would be;
# each call by itself, so that it can tell its warnings, or whole programs recorded and fused.
FUSED = {"GPUSHIM_FPERR": "off", "GPUSHIM_FEED_MS": "0"}
SETTINGS = ({"GPUSHIM_ARENA_MIN": "1"}, dict(FUSED, GPUSHIM_ARENA_MIN="1"), {}, FUSED)


class Failure(AssertionError):
    """A program whose runs differ: statements and what differs."""

    def __init__(self, statements, text):
        super().__init__(text)
        self.statements, self.text = statements, text


class Judge:
    """Runs programs on both sides. `calls` counts the programs."""

    def __init__(self, library, device, patience=60):
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUSHIM_")}
        self.environment.update(LD_PRELOAD=library, GPUSHIM_DEVICE=device, GPUSHIM_MODE="force", PYTHONHASHSEED="0",
                                GPUSHIM_MIN_ELEMENTS="0", GPUSHIM_MIN_REDUCE="0", GPUSHIM_MIN_FLOPS="0",
                                PYTHONDONTWRITEBYTECODE="1", GPUSHIM_CACHE_DIR=os.environ.get("GPUSHIM_CACHE_DIR") or
                                os.path.join(tempfile.gettempdir(), "gpushim-fuzz-%d" % os.getuid()))
        if os.environ.get("GPUSHIM_FUSION"):
            self.environment["GPUSHIM_FUSION"] = os.environ["GPUSHIM_FUSION"]
        self.with_warnings = self.is_strict()
        if self.with_warnings:
            self.environment["GPUSHIM_FPERR"] = "strict"
        self.looks_at_warnings = self.with_warnings
        self.worker = fuzz_worker.Worker(self.environment, patience)
        self.in_order = device == "host"
        self.calls = 0

    def is_strict(self):
        """Whether the library can give NumPy's warnings; asked by its table of options."""
        env = dict(self.environment, GPUSHIM_HELP="1", GPUSHIM_DEVICE="none")
        done = subprocess.run([sys.executable, "-c", "import numpy"], env=env, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, timeout=60)
        return b"GPUSHIM_FPERR" in done.stderr

    def use(self, settings):
        """From the next program on, with these variables."""
        environment = dict(self.environment, **settings)
        self.looks_at_warnings = self.with_warnings and "GPUSHIM_FPERR" not in settings
        if self.worker.environment != environment:
            self.worker.close()
            self.worker.environment = environment

    def difference(self, statements, plain=None):
        """None, or a text."""
        self.calls += 1
        plain = plain or fuzz_program.run(statements)
        try:
            answer = self.worker.ask(statements, plain.observed)
        except fuzz_worker.Died as death:
            return "the process under the shim %s" % death
        return fuzz_compare.first_difference(statements, plain, answer, self.looks_at_warnings, self.in_order)

    def device_calls(self):
        return self.worker.device_calls + self.worker.device_calls_before

    def close(self):
        self.worker.close()


# --- making programs -----------------------------------------------------------------------------

def build_program(draw_integer):
    """A fuzz_grammar.Builder with a program that ran plainly."""
    import fuzz_functions
    import fuzz_grammar
    builder = fuzz_grammar.Builder(draw_integer)
    with fuzz_program.np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        wanted = builder.integer(1, MOST_STATEMENTS)
        for _ in range(wanted):
            builder.pick(fuzz_functions.STATEMENTS)(builder)
    return builder


def batch(judge, seed, end, failures):
    """Up to BATCH programs of one seed; raises the first Failure. Programs whose failure is known are
    not failures any more."""
    import hypothesis
    from hypothesis import strategies

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=BATCH, deadline=None, database=None, print_blob=False,
                         report_multiple_bugs=False, verbosity=hypothesis.Verbosity.quiet,
                         suppress_health_check=list(hypothesis.HealthCheck),
                         phases=(hypothesis.Phase.generate,))
    @hypothesis.given(strategies.composite(lambda draw: build_program(
        lambda low, high: draw(strategies.integers(low, high))))())
    def check(builder):
        if time.monotonic() > end:
            return
        text = judge.difference(builder.statements, builder.run)
        if text and signature(text) not in failures:
            raise Failure(builder.statements, text)

    check()


def signature(text):
    """What makes two failures one: the statement's functions and how it failed, without names and
    numbers."""
    head = re.sub(r"\bv\d+\b|\d+", "#", text.split("\n")[0])
    return re.sub(r"\(.*", "", head) + "|" + re.sub(r"[-\d.e+]+|'[^']*'", "#", text.split("\n")[-1])[:30]


def run_for(judge, seconds, seed, most, folder, batches=sys.maxsize):
    """{signature: Failure} of `seconds` of fuzzing, or of so many batches; programs that fail go to the folder."""
    end, failures, last = time.monotonic() + seconds, {}, seed + batches
    while time.monotonic() < end and len(failures) < most and seed < last:
        settings = SETTINGS[seed % len(SETTINGS)]
        judge.use(settings)
        try:
            batch(judge, seed, end + 60, failures)
        except Failure as failure:
            failures[signature(failure.text)] = failure
            show(judge, failure, seed, settings, folder)
        except BaseExceptionGroup if sys.version_info >= (3, 11) else () as several:  # noqa: F821
            print("seed %d: not reproducible: %s" % (seed, several))
        seed += 1
    return failures


def shrink(judge, failure):
    """The failure with all statements left out that it does not need: those that the rest then misses
    raise the same NameError on both sides. In a fresh process each time, should state matter."""
    statements, text = list(failure.statements), failure.text
    for at in reversed(range(len(statements))):
        fewer = statements[:at] + statements[at + 1:]
        judge.worker.close()
        found = judge.difference(fewer)
        if found and signature(found) == signature(failure.text):
            statements, text = fewer, found
    return Failure(statements, text)


# --- showing and keeping -------------------------------------------------------------------------

def show(judge, failure, seed, settings, folder):
    history = list(judge.worker.history)
    judge.worker.close()
    by_itself = judge.difference(failure.statements) is not None
    if by_itself:
        failure = shrink(judge, failure)
    path = store([failure.statements] if by_itself else history, failure.text, settings, folder)
    print("=" * 100 + "\nseed %d %s: %s" % (seed, settings or "", failure.text))
    if not by_itself:
        print("only after the programs before it, which the file has")
    print("-" * 40 + " " + path + "\n" + script(failure.statements), flush=True)


def store(programs, text, settings, folder):
    os.makedirs(folder, exist_ok=True)
    name = hashlib.sha256(json.dumps(programs).encode()).hexdigest()[:10]
    path = os.path.join(folder, "case_%s.json" % name)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"found": text.split("\n"), "settings": settings, "programs": programs}, stream, indent=1)
        stream.write("\n")
    return path


def script(statements):
    """The program as a Python script of its own."""
    helpers = "\n\n".join(inspect.getsource(function) for function in (
        fuzz_program.numbers, fuzz_program.make, fuzz_program.rows))
    shown = [re.sub(r"observe\((\w+), .*\)$", r"\1", line) for line in statements]
    lines = ["    " + line for line in shown]
    last = "for name in [n for n in dir() if n[0] == 'v' and n[1:].isdigit()]:\n    print(name, repr(globals()[name]))"
    tries = "\n".join("try:\n%s\nexcept Exception as error:\n    print(repr(error))" % line for line in lines)
    return "import numpy as np\n\n%s\n\n%s\n%s\n" % (helpers, tries, last)


def run_cases(judge, paths):
    """The number of stored cases that fail; each in a fresh process."""
    failed = 0
    for path in paths:
        with open(path, encoding="utf-8") as stream:
            case = json.load(stream)
        judge.worker.close()
        judge.use(case["settings"])
        text = next(filter(None, map(judge.difference, case["programs"])), None)
        failed += text is not None
        print("%-4s %s%s" % ("FAIL" if text else "ok", os.path.relpath(path, ROOT), "\n" + text if text else ""))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--device", default=os.environ.get("GPUSHIM_DEVICE") or "host")
    parser.add_argument("--library", default=os.environ.get("GPUSHIM_LIBRARY") or
                        os.path.join(ROOT, "build", "libgpushim.so"))
    parser.add_argument("--most", type=int, default=10)
    parser.add_argument("--case", nargs="+", default=[])
    parser.add_argument("--store", default=CASES, help="folder of failing programs")
    arguments = parser.parse_args()
    judge = Judge(os.path.abspath(arguments.library), arguments.device)
    try:
        if arguments.case:
            return 1 if run_cases(judge, arguments.case) else 0
        seed = int(time.time()) if arguments.seed is None else arguments.seed * 1000000
        failures = run_for(judge, arguments.seconds, seed, arguments.most, arguments.store)
        print("%d programs, %d device calls, %d different failures; first seed %d, warnings %s" % (
            judge.calls, judge.device_calls(), len(failures), seed,
            "compared" if judge.with_warnings else "not compared"))
        return 1 if failures or not judge.device_calls() else 0
    finally:
        judge.close()


if __name__ == "__main__":
    sys.exit(main())
