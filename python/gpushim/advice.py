# SPDX-License-Identifier: Apache-2.0
"""Which lines of a program stand in the way of a GPU, what they cost there, and what to write instead: from the reports of the two
runs of forecast.py."""
import collections
import linecache
import re

from gpushim import files
from gpushim.forecast import TRANSFERS, moved_seconds, seconds
from gpushim.messages import counted

MOST = 10
LEAST_SHARE, LEAST_SECONDS = 0.005, 1e-3  # of the forecast, that a line must cost to be named
LEAST_SAMPLED, INACCURACY = 0.012, 0.15    # of samples: seconds, and a share
ELEMENT_READS = 8                         # so many small transfers are a loop over single elements
# Functions that have no version for the GPU, and take their time in C.
UNKNOWN = re.compile(r"\b(random|standard_normal|normal|uniform|integers|choice|shuffle|permutation|"
                     r"load|loadtxt|genfromtxt|save|savez|savetxt|tofile|fromfile)\s*\(")
ADVICE = {  # reason: (what stands in the way, what to write)
    "dtype": ("the GPU has no arithmetic for this dtype", "use a numeric dtype (x.astype(np.float64)) instead of objects or strings"),
    "operand": ("an operand is no plain array", "make it one once, before the loop: np.asarray(x)"),
    "too-small": ("calls on few elements, which cost more to hand over than to compute",
                  "compute many of them in one call: stack the small arrays, and give the loop an axis"),
    "no-gain": ("the GPU would be no faster at this, the way of the results to the CPU included",
                "do more with the results on the GPU before the CPU reads them"),
    "data-on-host": ("moving the operands costs more than computing here",
                     "compute more on these arrays before the CPU touches them, or make them by NumPy's functions"),
    "layout": ("unaligned or byte-swapped data", "copy it once into native order: np.ascontiguousarray(x.astype(x.dtype.newbyteorder('=')))"),
    "keywords": ("keywords that the GPU's version does not know", "call it without where=, casting= and the like, or with out= alone"),
    "unsupported": ("this operation has no version for the GPU", "use ufuncs, reductions, products or indexing instead, or do it outside the loop"),
    "overlap": ("operands overlap", "write to another array (out=), and not to a shifted view of an operand"),
    "scalar": ("a result of one number", "keep the numbers of the loop in an array"),
    "errstate": ("np.errstate asks for exceptions or calls", "use the modes 'warn' and 'ignore'"),
    "numerical": ("a singular matrix, or one that is not what the routine asks for", "test the matrix, or use lstsq"),
    "memory": ("the GPU's memory is full", "use smaller parts, or float32"),
    "foreign-output": ("the output is memory that NumPy did not allocate", "let NumPy make the result, or use np.empty for out="),
    "read-only": ("an output is not writeable", "write to an array of its own"),
    "shape": ("shapes that the GPU's version does not take", "use at most 32 axes, and no empty arrays"),
}
SLOW_FLOAT64 = ("the GPU would be no faster at this: it computes float64 much more slowly than float32",
                "use float32 where its 7 digits suffice: x.astype(np.float32), once")
SLOW_AT_FLOAT64 = ("NVIDIA L40S", "NVIDIA L4", "NVIDIA T4", "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4090")  # offload/cuda/cuda_named.c
OTHER = ("this stays on the CPU", "see docs/user/report.md for the reason")
PING_PONG = ("the CPU changes the array between calls, so that it moves again", "change it by NumPy's own functions, or once, outside the loop")
READ_BACK = ("code on the CPU reads results here", "read once, at the end, or only the part that is needed")
ELEMENTS = ("single elements are read one by one", "take x.tolist(), or whole rows, before the loop; or compute on the array")
IN_C = ("%s runs on the CPU", "do it once, outside the loop, or before the data is on the GPU")
OUTPUT = re.compile(r"\b(print|format|str|repr|write)\s*\(|\b[fF][\"']")
IN_OUTPUT = ("text is made or written, on the CPU", "print less often, or only the numbers that are looked at")
NO_LINE = 1 << 31  # such numbers stand for none
IN_PYTHON = ("Python's own time: a loop over elements, or functions that gpushim does not know",
             "replace the loop by operations on whole arrays")

STEPS = ("element", "too-small", "dtype", "download")  # what Python's time on the same line belongs to: small steps, objects, a reader
STEPS_SHARE = 0.1                          # of that time, that calls must take themselves
Problem = collections.namedtuple("Problem", "code cost what instead")


class Line:
    """What both runs counted on one line, in seconds."""

    def __init__(self):
        self.sampled, self.known = 0.0, 0.0  # in all, and in calls of NumPy's
        self.left = collections.defaultdict(lambda: [0, 0.0])   # by reason, on the emulated device
        self.slow_float64 = 0.0  # of "no-gain", in float64 on a GPU that is slow at it
        self.moves = collections.defaultdict(lambda: [0, 0.0, 0])  # by kind of transfer: count, seconds, bytes


def is_users(entry):
    """Not so: what NumPy does while it is imported, threads without a line, code of no file (<string>, <frozen ...>), and lines that the
    file does not have."""
    file, number = entry["file"], entry["line"]
    lines = linecache.getlines(file)
    return 0 < number < NO_LINE and not file.startswith("<") and (not lines or number <= len(lines))


def is_slow_float64(entry, gpu):
    return gpu in SLOW_AT_FLOAT64 and entry["reason"] == "no-gain" and re.search("[dD]", entry["signature"]) is not None


def collect(measured, emulated):
    """{(file, line): Line}"""
    lines = collections.defaultdict(Line)
    for entry in filter(is_users, measured.get("advice_lines", [])):
        line = lines[entry["file"], entry["line"]]
        line.sampled += entry["ns"] * 1e-9 if entry["kind"] == "sample" else 0
        line.known += entry["ns"] * 1e-9 if entry["kind"] == "host" else 0
    for entry in filter(is_users, emulated.get("advice_lines", [])):
        line = lines[entry["file"], entry["line"]]
        if entry["kind"] == "host":
            total = line.left[entry["reason"]]
            line.slow_float64 += entry["ns"] * 1e-9 if is_slow_float64(entry, emulated["forecast"]["gpu"]) else 0
        elif entry["kind"] in TRANSFERS:
            total = line.moves[entry["kind"]]
            total[2] += entry["bytes"]
        else:
            continue
        total[0] += entry["calls"]
        total[1] += entry["ns"] * 1e-9
    for place, (_, beside) in moved_seconds(measured, emulated).items():
        lines[place].known += beside
    return lines


def problem_of_moves(kind, count, cost, moved):
    if kind == "small" and count >= ELEMENT_READS:
        return Problem("element", cost, *ELEMENTS)
    code, words = ("upload", PING_PONG) if kind == "upload" else ("download", READ_BACK)
    return Problem(code, cost, "%s (%s, %.1f MB)" % (words[0], counted(count, "transfer", "transfers"), moved / 1e6), words[1])


def problem_of_python(source, cost):
    name = UNKNOWN.search(source)
    if name:
        return Problem("unknown-function", cost, IN_C[0] % name.group(1), IN_C[1])
    return Problem("output", cost, *IN_OUTPUT) if OUTPUT.search(source) else Problem("python", cost, *IN_PYTHON)


def add_python(found, source, line):
    """Python's time round small steps is theirs; else it is a problem of its own."""
    cost = line.sampled - line.known
    if cost < max(LEAST_SAMPLED, INACCURACY * line.sampled):
        return
    for code in STEPS if not UNKNOWN.search(source) else ():
        for place, problem in enumerate(found):
            if problem.code == code and (code == "element" or problem.cost >= STEPS_SHARE * cost):
                found[place] = problem._replace(cost=problem.cost + cost)
                return
    found.append(problem_of_python(source, cost))


def problems(line, source):
    """The line's problems, dearest first."""
    found = [problem_of_moves(kind, *numbers) for kind, numbers in line.moves.items() if kind != "upload" or numbers[0] > 1]
    for reason, (count, cost) in line.left.items():
        what, instead = SLOW_FLOAT64 if reason == "no-gain" and line.slow_float64 > cost / 2 else ADVICE.get(reason, OTHER)
        found.append(Problem(reason, cost, "%s (%s)" % (what, counted(count, "call", "calls")), instead))
    add_python(found, source, line)
    return sorted(found, key=lambda problem: -problem.cost)


def is_import(source):
    return re.match(r"(import|from)\s", source) is not None


def advise(measured, emulated, steady):
    """The lines to change, dearest first, as dictionaries; steady: seconds that the program would take."""
    rows = []
    for (file, number), line in collect(measured, emulated).items():
        source = linecache.getline(file, number).strip()
        found = problems(line, source)
        cost = sum(problem.cost for problem in found)
        if found and not is_import(source) and cost >= max(LEAST_SECONDS, LEAST_SHARE * steady):
            rows.append({"file": file, "line": number, "source": source, "cost": cost, "code": found[0].code, "what": found[0].what,
                         "instead": found[0].instead, "problems": {problem.code: problem.cost for problem in found if problem.cost > 0}})
    return sorted(rows, key=lambda row: -row["cost"])[:MOST]


def describe(rows):
    """The advice as lines."""
    if not rows:
        yield "no line stands in the way"
        return
    yield "lines that cost most there, with what to change:"
    for row in rows:
        yield "%9s  %s:%d  %s" % (seconds(row["cost"]), files.shown(row["file"]), row["line"], row["source"])
        yield "           %s: %s" % (row["code"], row["what"])
        yield "           %s" % row["instead"]
