# SPDX-License-Identifier: Apache-2.0
"""Which calls of a run the device computed, from the shim's JSON reports (docs/user/report.md).

Counted are the calls of NumPy's numeric ufuncs and of their reduce, accumulate and reduceat, and those of the
BLAS and LAPACK routines that are taken over. Such a call is eligible for the device unless it was declined
for what it works on, not for what is missing in the library: OUTSIDE names the reasons. NumPy's own matrix
products and data movement are neither.
"""
import collections
import glob
import json
import os
import re

import suite_runs

DTYPES = "?bhilqBHILQefdFD"
# Reasons that make a call not eligible: other dtypes; subclasses, sequences and objects; byte-swapped
# and unaligned data; no elements, or shapes and outputs that NumPy refuses; only scalars and 0-d
# arrays ("scalar"); matrices that are singular ("numerical"); calls of the library's own.
OUTSIDE = ("dtype", "operand", "layout", "shape", "read-only", "scalar", "numerical", "nested", "off")
# Reductions whose row in the report is not named as their ufunc: reductions.def.
REDUCTIONS = {"sum", "prod", "max", "min", "any", "all", "parity", "bit_and", "bit_or", "bit_xor"}


def routines():
    """Rows of the report that are BLAS and LAPACK routines: interpose/blas/symbols.def."""
    with open(os.path.join(suite_runs.ROOT, "interpose", "blas", "symbols.def"), encoding="utf-8") as stream:
        return {name.rstrip("_") for name in re.findall(r"^X\(\w+, (\w+),", stream.read(), re.M)}


def numeric_ufuncs():
    """{name: ufunc} of numpy's namespace: those with a loop of only supported dtypes. Generalised
    ones (matmul) are left out."""
    import numpy
    found = {}
    for name in dir(numpy):
        ufunc = getattr(numpy, name, None)
        if isinstance(ufunc, numpy.ufunc) and ufunc.signature is None and any(map(is_numeric, ufunc.types)):
            found[ufunc.__name__] = ufunc
    return found


def is_numeric(loop):
    return all(letter in DTYPES for letter in loop.replace("->", ""))


class Tally:
    """Calls of one kind: on the device, eligible ones that were not, with their reasons, and calls outside."""

    def __init__(self, kind):
        self.kind = kind
        self.device = self.declined = 0
        self.reasons = collections.Counter()  # (reason, operation): calls
        self.outside = collections.Counter()  # reason: calls

    def add_row(self, row):
        self.device += row["device_calls"]
        for reason, calls in row["reasons"].items():
            if reason in OUTSIDE:
                self.outside[reason] += calls
            else:
                self.declined += calls
                self.reasons[reason, row["name"]] += calls

    def share(self):
        eligible = self.device + self.declined
        return self.device / eligible if eligible else 0.0

    def lines(self):
        lines = ["device: %d of %d eligible %s calls (%.1f %%)" % (
            self.device, self.device + self.declined, self.kind, 100 * self.share())]
        if self.outside:
            lines.append("    not eligible: " + ", ".join("%s %d" % pair for pair in self.outside.most_common()))
        by_reason = collections.Counter()
        for (reason, _), calls in self.reasons.items():
            by_reason[reason] += calls
        for reason, calls in by_reason.most_common():
            top = collections.Counter({name: n for (r, name), n in self.reasons.items() if r == reason})
            lines.append("    eligible, but %-14s %7d   %s" % (
                reason, calls, ", ".join("%s %d" % pair for pair in top.most_common(6))))
        return lines


class Counts:
    """Sums over reports: ufunc calls; those of routines; all calls of any kind on the device; groups, the calls that
    ran in them, and those that never ran."""

    def __init__(self):
        self.ufuncs, self.routines = Tally("ufunc and reduce"), Tally("BLAS and LAPACK")
        self.reports = self.any_device = 0
        self.groups = self.grouped = self.needless = 0

    def add_folder(self, folder):
        tally_of = dict.fromkeys(set(numeric_ufuncs()) | REDUCTIONS, self.ufuncs)
        tally_of.update(dict.fromkeys(routines(), self.routines))
        for path in glob.glob(os.path.join(folder, "*.json")):
            try:
                with open(path, encoding="utf-8") as stream:
                    report = json.load(stream)
            except ValueError:  # cut short: its process was killed
                continue
            self.reports += 1
            for key in ("groups", "grouped", "needless"):
                setattr(self, key, getattr(self, key) + report["counters"].get(key, 0))
            for row in report["operations"]:
                self.any_device += row["device_calls"]
                if row["name"] in tally_of:
                    tally_of[row["name"]].add_row(row)

    def grouped_share(self):
        return self.grouped / self.any_device if self.any_device else 0.0

    def groups_text(self):
        return "%d of %d device calls (%.1f %%) ran in %d groups, %d were never needed" % (
            self.grouped, self.any_device, 100 * self.grouped_share(), self.groups, self.needless)

    def text(self):
        return "\n".join(self.ufuncs.lines() + self.routines.lines() + [
            "device: %d calls of all kinds; %d reports" % (self.any_device, self.reports)])
