# SPDX-License-Identifier: Apache-2.0
"""Makes docs/user/coverage.md: for each numeric ufunc, dtype and form of call, whether the device computes
it. Found by making each call under the shim (force mode, no minimum sizes) and reading its counters.

    coverage_table.py [--library FILE] [--device host|cuda]     prints the document

The calls are made by processes with the library preloaded, one a core, each for a share of the ufuncs.
"""
import argparse
import collections
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTYPES = {"?": "bool", "b": "int8", "h": "int16", "i": "int32", "l": "int64", "B": "uint8", "H": "uint16",
          "I": "uint32", "L": "uint64", "e": "float16", "f": "float32", "d": "float64", "F": "complex64",
          "D": "complex128"}
SHORT = {"bool": "bool", "int": "i", "uint": "u", "float": "f", "complex": "c"}
LENGTH = 24
# The rest of the document, which function_coverage.py makes; it is kept.
FUNCTIONS = "## Functions on resident arrays"


def numeric_ufuncs():
    """[(name, ufunc)], each ufunc once; clip is the one that np.clip hides."""
    core = np._core if hasattr(np, "_core") else np.core
    found = {}
    for ufunc in [getattr(np, name, None) for name in dir(np)] + [core.umath.clip]:
        if isinstance(ufunc, np.ufunc) and ufunc.signature is None:
            if any(set(loop) <= set(DTYPES) | set("->qQ") for loop in ufunc.types):
                found.setdefault(ufunc.__name__, ufunc)
    return sorted(found.items())


# --- the calls -----------------------------------------------------------------------------------

def operands_of(ufunc, char):
    """Arrays of the dtype that the ufunc takes (ldexp: with integers), or None."""
    values = np.array([1, 0, 1, 1, 0, 1] * (LENGTH // 6)).astype(char)
    for second in (values, values.astype("i")):
        operands = [values] + [second] * (ufunc.nin - 1)
        try:
            result = ufunc(*operands)
        except (TypeError, ValueError):
            continue
        results = result if isinstance(result, tuple) else (result,)
        if all(part.dtype.char in DTYPES or part.dtype.char in "qQ" for part in results):
            return operands
    return None


def empty_outputs(ufunc, operands):
    result = ufunc(*operands)
    results = result if isinstance(result, tuple) else (result,)
    return tuple(np.zeros_like(part) for part in results)


def prepare(form, ufunc, operands):
    """A function without arguments that makes the call, or None: the ufunc has no such form."""
    first = operands[0]
    reduces = ufunc.nin == 2 and ufunc.nout == 1
    if form in ("reduce", "accumulate", "reduceat"):
        if not reduces:
            return None
        function, places = getattr(ufunc, form), np.array([0, 5, 11])
        return (lambda: function(first, places)) if form == "reduceat" else (lambda: function(first))
    if form == "outer":
        return (lambda: ufunc.outer(*operands)) if ufunc.nin == 2 else None
    if form == "at":
        target, places = first.copy(), np.array([0, 3, 5, 3])
        others = [operand[:4].copy() for operand in operands[1:]]
        return (lambda: ufunc.at(target, places, *others)) if ufunc.nout == 1 else None
    if form == "call":
        return lambda: ufunc(*operands)
    out, mask = empty_outputs(ufunc, operands), np.arange(LENGTH) % 3 == 0
    if form == "out":
        return lambda: ufunc(*operands, out=out)
    return lambda: ufunc(*operands, out=out, where=mask)


FORMS = ("call", "out", "where", "reduce", "accumulate", "reduceat", "at", "outer")


class Counters:
    """The shim's counts of calls so far, from its own report."""

    def __init__(self):
        self.report = ctypes.CDLL(None).gpushim_report_json
        self.report.restype, self.report.argtypes = ctypes.c_size_t, [ctypes.c_char_p, ctypes.c_size_t]
        self.buffer = ctypes.create_string_buffer(1 << 20)

    def read(self):
        """Counter {"device": calls, reason: calls}."""
        length = self.report(self.buffer, len(self.buffer))
        counts = collections.Counter()
        for row in json.loads(self.buffer.raw[:length])["operations"]:
            counts["device"] += row["device_calls"]
            counts.update(row["reasons"])
        return counts


def try_form(counters, form, ufunc, operands):
    """"device", a reason's code, or None where NumPy has no such call."""
    call = prepare(form, ufunc, operands)
    if call is None:
        return None
    before = counters.read()
    try:
        call()
    except (TypeError, ValueError):
        return None
    change = counters.read() - before
    reasons = [reason for reason, calls in change.items() if reason != "device" and calls]
    return min(reasons) if reasons else "device" if change["device"] else "unseen"


def measure(share, shares):
    """{ufunc: {dtype: {form: what}}} as this process, under the shim, sees it; of every `shares`-th ufunc."""
    counters, table = Counters(), {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, ufunc in numeric_ufuncs()[share::shares]:
            for char, dtype in DTYPES.items():
                operands = operands_of(ufunc, char)
                if operands is not None:
                    cell = {form: try_form(counters, form, ufunc, operands) for form in FORMS}
                    table.setdefault(name, {})[dtype] = {form: what for form, what in cell.items() if what}
    return table


def measure_in_process(library, device, shares=min(len(os.sched_getaffinity(0)), 16)):
    """measure() of all ufuncs in processes under the shim."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("GPUSHIM_") or name == "GPUSHIM_CACHE_DIR"}
    with tempfile.TemporaryDirectory() as folder:
        env.update(LD_PRELOAD=library, GPUSHIM_DEVICE=device, GPUSHIM_MODE="force", GPUSHIM_MIN_ELEMENTS="0",
                   GPUSHIM_MIN_REDUCE="0", GPUSHIM_ARENA_MIN="1", GPUSHIM_REPORT="json:%s/report-%%p.json" % folder)
        processes = [subprocess.Popen([sys.executable, os.path.abspath(__file__), "--measure", str(share), str(shares)],
                                      env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
                     for share in range(shares)]
        answers = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise RuntimeError("exit statuses %s" % [process.returncode for process in processes])
    return dict(sorted(item for answer in answers for item in json.loads(answer).items()))


# --- the document --------------------------------------------------------------------------------

LETTERS = dict(zip(FORMS, "cowraRiO"))


def cell_text(cell):
    """Of one ufunc and dtype: the forms that stay on the CPU."""
    if cell is None:
        return ""
    on_cpu = [LETTERS[form] for form in FORMS if cell.get(form, "device") != "device"]
    return "all" if not on_cpu else "-" if len(on_cpu) == len(cell) else "not " + "".join(on_cpu)


def short(dtype):
    kind = dtype.rstrip("0123456789")
    return SHORT[kind] + dtype[len(kind):]


def reasons_text(table):
    """One line per reason and form: the pairs concerned, by ufunc."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, cells in table.items():
        for dtype, cell in cells.items():
            for form, what in cell.items():
                if what != "device":
                    found[what, form][name].append(short(dtype))
    lines = []
    for (reason, form), names in sorted(found.items()):
        per_dtypes = collections.defaultdict(list)
        for name, dtypes in names.items():
            per_dtypes["every dtype" if len(dtypes) == len(table[name]) else " ".join(dtypes)].append(name)
        for dtypes, listed in sorted(per_dtypes.items()):
            lines.append("| `%s` | %s | %s | %s |" % (reason, form, dtypes, ", ".join(listed)))
    return lines


def totals(table):
    """(pairs whose call runs on the device, pairs; forms on the device, forms)."""
    cells = [cell for cells in table.values() for cell in cells.values()]
    forms = [what for cell in cells for what in cell.values()]
    return sum(cell["call"] == "device" for cell in cells), len(cells), forms.count("device"), len(forms)


def document(table):
    pairs, all_pairs, forms, all_forms = totals(table)
    lines = [
        "# What runs on the device", "",
        "Made by `make docs` (tests/coverage/coverage_table.py), which makes each of these calls on arrays under",
        "gpushim, forced to the device, with outputs in gpushim's memory (`GPUSHIM_ARENA_MIN=1`), and reads its",
        "counters. `make test` makes them again.", "",
        "supported: %d of %d ufunc x dtype pairs that have a numeric loop (%.1f %%)" % (
            pairs, all_pairs, 100.0 * pairs / all_pairs), "",
        "with every form of call: %d of %d (%.1f %%)" % (forms, all_forms, 100.0 * forms / all_forms), "",
        "A pair is there if NumPy computes the ufunc on arrays of that dtype, with whatever loop it promotes them to",
        "(not longdouble, object, strings or dates). `all`: every form that the ufunc has runs on the device;",
        "`not ...`: all but these; `-`: none; empty: no such pair. Forms: " +
        ", ".join("`%s` %s" % (LETTERS[form], form) for form in FORMS) + " (`where` with `out`).", "",
        "| ufunc | " + " | ".join(map(short, DTYPES.values())) + " |", "|---" * (1 + len(DTYPES)) + "|"]
    for name, cells in table.items():
        lines.append("| %s | " % name + " | ".join(cell_text(cells.get(dtype)) for dtype in DTYPES.values()) + " |")
    lines += ["", "## Left to the CPU", "", "Reasons: [report.md](report.md#reason-codes).", "",
              "| reason | form | dtypes | ufuncs |", "|---|---|---|---|"]
    return "\n".join(lines + reasons_text(table)) + "\n"


def functions_section():
    """What the document says of functions."""
    with open(os.path.join(ROOT, "docs", "user", "coverage.md"), encoding="utf-8") as stream:
        _, heading, text = stream.read().partition(FUNCTIONS)
    return "\n" + heading + text if heading else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default=os.environ.get("GPUSHIM_LIBRARY") or
                        os.path.join(ROOT, "build", "libgpushim.so"))
    parser.add_argument("--device", default=os.environ.get("GPUSHIM_DEVICE") or "host")
    parser.add_argument("--measure", nargs=2, type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        json.dump(measure(*arguments.measure), sys.stdout)
    else:
        table = measure_in_process(os.path.abspath(arguments.library), arguments.device)
        print(document(table) + functions_section(), end="")


if __name__ == "__main__":
    main()
