# SPDX-License-Identifier: Apache-2.0
"""Counts and costs over all steps of a run, and what is printed of them."""
import contextlib
import re
import time

from runner.process import NOTHING, SKIPPED, Spent

SHOWN_STEPS = 10
TOLD_LINES = 12
# What a compiler, a test runner or a comparison prints where something is wrong.
TELLING = re.compile(r"error|fail|differs|assert|warning:|killed|timed? ?out|too few|no process", re.I)


def cost(spent):
    return "%7.1f s of processors %7.1f s" % (spent.processor, spent.wall)


def told(output):
    """Of a failing step's output the lines that say most, at most TOLD_LINES: for a log of which only the end is kept."""
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("ok ")]
    return ([line for line in lines if TELLING.search(line)] or lines)[-TOLD_LINES:]


class Totals:
    """The one line that each step prints, and at the end the stages, the longest steps, what failed, and the sum."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures, self.steps, self.stages = [], [], []

    def add(self, name, passed, failed, skipped, spent=NOTHING, output=""):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        self.steps.append((name, spent))
        print("%-4s %-44s %5d passed %3d failed %3d skipped %s"
              % ("FAIL" if failed else "ok", name, passed, failed, skipped, cost(spent)), flush=True)
        if failed:
            self.failures.append((name, output))
            print(output[-20000:].rstrip(), flush=True)

    def add_status(self, name, status, spent, output):
        """One step that counts as one test."""
        skipped = status == SKIPPED
        self.add(name, status == 0, not skipped and status != 0, skipped, spent, output)
        return status == 0

    @contextlib.contextmanager
    def stage(self, name):
        """The steps made meanwhile are added up under this name."""
        start, first = time.monotonic(), len(self.steps)
        yield
        processor = sum(spent.processor for _, spent in self.steps[first:])
        self.stages.append((name, Spent(time.monotonic() - start, processor)))

    def print_costs(self):
        longest = sorted(self.steps, key=lambda row: -row[1].processor)[:SHOWN_STEPS]
        spents = [spent for _, spent in self.stages]
        in_all = ("all", Spent(sum(spent.wall for spent in spents), sum(spent.processor for spent in spents)))
        for title, rows in ("stages", self.stages and self.stages + [in_all]), ("longest steps", longest if self.stages else ()):
            if rows:
                print(title + ":")
                print("\n".join("     %-58s %s" % (name, cost(spent)) for name, spent in rows))

    def finish(self):
        self.print_costs()
        if self.failures:
            for name, output in self.failures:
                print("\n".join(["failed: " + name] + ["    " + line[:200] for line in told(output)]))
        if self.passed + self.failed == 0:
            print("nothing ran")
            self.failed += 1
        print("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        return 1 if self.failed else 0
