#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes calls of the emulated CUDA libraries fail, one program and one fault a process, and judges what becomes of it.

    run_faults.py                              every call of every program, each kind of fault (make test-faults)
    run_faults.py --sample 300 --seed 7        so many faults, drawn with that seed
    run_faults.py --programs fourier --kinds late,hang --every 10
    run_faults.py --programs fourier --kinds late --call 17      one fault; prints what the program said

A program (tests/faults/programs) runs plainly for what is right, then on the emulated libraries without a fault, which tells
how many calls it makes, then once for each fault. Outcomes:

    right      exit status 0, results as plain's, on stderr nothing but lines of SAID_ON
    stopped    the device failed with the only copy of an array: the line that names it, SIGABRT. Only where the context
               was lost
    ended      a call never returned: SIGINT ended the program
    wrong, hang, crash, said: other results, no end within the limit, another exit status, other lines on stderr. All
    are failures.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import json
import os
import pickle
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.path.join(HERE, "programs")
LIMIT = 60.0        # seconds for a program, which takes one
END_LIMIT = 20.0    # seconds between SIGINT and the end

# By kind, what EMULATED_CUDA_FAULT is for call k.
KINDS = {"oom": "oom:%d", "five": "oom:%d:5", "error": "error:%d", "sticky": "sticky:%d", "late": "late:%d",
         "hang": "hang:%d", "stuck": "stuck:%d"}
LOSES_CONTEXT = {"sticky", "late"}
NEVER_RETURNS = {"hang", "stuck"}

# What a sample has besides: faults that were answered wrongly once, as (program, what EMULATED_CUDA_FAULT is, the only
# right outcome or None).
KNOWN = (
    ("chains", "oom:cuMemcpyDtoHAsync_v2:1:5", "right"),  # a download that fails more than once
    ("chains", "error:cuEventRecord:4:3", "right"),
    ("fourier", "oom:cuCtxGetCurrent:10:5", "right"),
    ("chains", "sticky:cuLaunchKernel:1", "right"),  # the host still has all operands
    ("selection", "sticky:cuLaunchKernel:1", "right"),
    ("blas", "error:cublasSetPointerMode_v2:2", "right"),  # products after a dot that left its mode
    ("linear_algebra", "error:nvrtc*:1:1000000", "right"),
    ("linear_algebra", "error:cu[bs]*Create*:1:1000000", "right"),
    ("eviction", "oom:cuMemAlloc*:10:60", "right"),
    ("chains", "oom:cuMemHostRegister*:1:1000000", "right"),
    ("chains", "error:cuInit:1", "right"),
    ("processes", "late:226", None),  # a child that cannot have its array is waited for
    ("chains", "hang:cuLaunchKernel:5", "ended"),
    ("fourier", "stuck:cuLaunchKernel:5", "ended"),
    ("selection", "hang:cuInit:1", "ended"),  # while NumPy is imported
)

OPTIONS = {"eviction": {"GPUSHIM_MEM_LIMIT": "2M"}}
TOLERANCE = 1e-9

SAID_ON = [re.compile(pattern) for pattern in (
    r"gpushim: (CUDA|NVRTC|cuBLAS|cuSOLVER|cuFFT): .*",
    r"gpushim: device cuda is not usable \(.*\); NumPy computes on the CPU",
    r"gpushim: the device is not used any more \(.*\); NumPy computes on the CPU",
    r"gpushim: the device refused an operation; the CPU computed it",
)]
STOPPED = re.compile(r"gpushim: the device failed and holds the only copy: the array at 0x[0-9a-f]+ of \d+ bytes; "
                     r"stopping rather than going on with wrong numbers")

Outcome = collections.namedtuple("Outcome", "program kind call name what detail")


class Setting:
    """Where the programs run: library, emulated libraries, and a folder of ours."""

    def __init__(self, options):
        self.library, self.emulation = options.library, options.emulation
        self.background, self.python = options.background, options.python
        self.folder = tempfile.mkdtemp(prefix="gpushim-faults-")
        self.scale = options.scale

    def environment(self, program, fault=None, trace=None):
        base = {k: v for k, v in os.environ.items() if not k.startswith(("GPUSHIM_", "EMULATED_", "LD_"))}
        base.update({"LD_PRELOAD": self.library, "LD_LIBRARY_PATH": self.emulation, "GPUSHIM_DEVICE": "cuda",
                     "GPUSHIM_MODE": "force", "OPENBLAS_NUM_THREADS": "1",
                     "GPUSHIM_CACHE_DIR": os.path.join(self.emulation, "cache")})
        if not self.background:
            base.update({"GPUSHIM_BACKGROUND": "0", "GPUSHIM_FEED_MS": "0"})
        base.update(OPTIONS.get(program, {}))
        if fault:
            base["EMULATED_CUDA_FAULT"] = fault
        if trace:
            base["EMULATED_CUDA_TRACE"] = trace
        return base

    def place(self, name):
        return os.path.join(self.folder, name)


def run_plain(setting, program):
    out = setting.place(program + ".plain")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GPUSHIM_", "LD_"))}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    subprocess.run([setting.python, os.path.join(PROGRAMS, program + ".py"), out], check=True, env=environment,
                   timeout=LIMIT)
    with open(out, "rb") as file:
        return pickle.load(file)


def differs(expected, path):
    """None, or what differs first."""
    try:
        with open(path, "rb") as file:
            got = pickle.load(file)
    except (OSError, EOFError, pickle.UnpicklingError) as error:
        return "no results: %s" % error
    if [row[0] for row in got] != [row[0] for row in expected]:
        return "other results"
    for (name, exact, dtype, shape, data), (_, _, other_dtype, other_shape, other) in zip(expected, got):
        if (dtype, shape) != (other_dtype, other_shape):
            return "%s: %s %s in place of %s %s" % (name, other_dtype, other_shape, dtype, shape)
        if data == other:
            continue
        if exact:
            return "%s: other bytes" % name
        a, b = (np.frombuffer(x, np.dtype(dtype)) for x in (data, other))
        scale = max(1.0, float(np.abs(a).max()))
        tolerance = TOLERANCE if np.dtype(dtype).itemsize >= 8 and a.dtype.char not in "F" else 1e-4
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
            return "%s: off by %g" % (name, np.abs(a - b).max())
    return None


def time_used(session):
    """Ticks of the processor that the session's processes have had (a kernel that nobody compiled before is compiled by
    one), and whether one of them could use more."""
    used, is_runnable = 0, False
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if int(fields[3]) == session:
            used += int(fields[11]) + int(fields[12])
            is_runnable |= fields[0] in "RD"
    return used, is_runnable


def wait_for(process, trace, limit):
    """True where it ended by itself; False where a call is known never to return; None: the limit is reached. On a busy
    machine what still computes, or would, has more time: ten times that."""
    begin, end, used = time.monotonic(), time.monotonic() + limit, None
    while time.monotonic() < end:
        try:
            process.wait(0.05 if trace else 1)
            return True
        except subprocess.TimeoutExpired:
            if trace and os.path.exists(trace) and b"# never returns" in open(trace, "rb").read():
                return False
        if time.monotonic() > end - 2 and end < begin + 10 * limit:
            before, (used, is_runnable) = used, time_used(process.pid)
            end += 20 if is_runnable or used != before else 0
    return None


def interrupt(process):
    """SIGINT, as from a terminal: once, and again where the program went on. True: it ended."""
    try:
        process.wait(0.5)
        return True
    except subprocess.TimeoutExpired:
        pass
    process.send_signal(signal.SIGINT)
    try:
        process.wait(END_LIMIT)
        return True
    except subprocess.TimeoutExpired:
        return False


def judge(kind, status, lines, difference):
    strange = [line for line in lines if not any(p.fullmatch(line) for p in SAID_ON)]
    if status == 0:
        if difference is not None:
            return "wrong", difference
        return ("said", strange[0]) if strange else ("right", "")
    if status == -signal.SIGABRT and kind in LOSES_CONTEXT and len(strange) == 1 and STOPPED.fullmatch(strange[0]):
        return "stopped", ""
    return "crash", "status %s: %s" % (status, (strange or lines or [""])[-1])


def judge_interrupted(kind, has_ended, status, lines):
    if not has_ended:
        return "hang", "SIGINT does not end it"
    if status in (-signal.SIGINT, 130, 1) or status == 0:
        return "ended", ""
    return "crash", "status %s after SIGINT: %s" % (status, (lines or [""])[-1])


def run_fault(setting, expected, program, kind, call, name, verbose=False):
    """`kind` of KINDS with the number of a call and its name, or call 0 and `name` what EMULATED_CUDA_FAULT is."""
    fault = KINDS[kind] % call if call else name
    base = setting.place("%s.%s" % (program, re.sub(r"\W", "_", fault)))
    trace = base + ".trace" if kind in NEVER_RETURNS else None
    with open(base + ".stderr", "wb") as stderr:
        process = subprocess.Popen([setting.python, os.path.join(PROGRAMS, program + ".py"), base],
                                   env=setting.environment(program, fault, trace), stderr=stderr,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
        has_ended = wait_for(process, trace, LIMIT * setting.scale)
        interrupted = has_ended is False
        if interrupted:
            has_ended = interrupt(process)
        if not has_ended:
            if verbose and shutil.which("gdb"):
                subprocess.run(["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all bt"])
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    with open(base + ".stderr", errors="replace") as file:
        lines = [line for line in file.read().splitlines() if line]
    if verbose:
        print("\n".join(lines))
    if interrupted:
        what, detail = judge_interrupted(kind, has_ended, process.returncode, lines)
    elif not has_ended:
        what, detail = "hang", "; ".join(lines[-2:])
    else:
        what, detail = judge(kind, process.returncode, lines,
                             differs(expected, base) if process.returncode == 0 else None)
    for suffix in ("", ".stderr", ".trace"):
        if os.path.exists(base + suffix):
            os.remove(base + suffix)
    return Outcome(program, kind, call, name, what, detail)


def list_calls(setting, expected, program):
    """Names of the program's calls, the first one first. Kernels that are not compiled yet are, in a run of their own."""
    out, trace = setting.place(program + ".whole"), setting.place(program + ".trace")
    for turn in range(2):
        if os.path.exists(trace):
            os.remove(trace)
        done = subprocess.run([setting.python, os.path.join(PROGRAMS, program + ".py"), out], stderr=subprocess.PIPE,
                              env=setting.environment(program, trace=trace), timeout=LIMIT * 5)
        difference = differs(expected, out) if done.returncode == 0 else "status %d" % done.returncode
        if difference or done.stderr:
            sys.exit("%s, without a fault: %s %s" % (program, difference, done.stderr.decode()))
    with open(trace) as file:
        return file.read().split()


def choose(options, calls):
    """(program, kind, call, name) of the faults to try."""
    faults = []
    for program, names in calls.items():
        for kind in options.kinds:
            numbers = [options.call] if options.call else range(1 + options.offset, len(names) + 1, options.every)
            faults += [(program, kind, k, names[k - 1]) for k in numbers
                       if k <= len(names) and fnmatch.fnmatch(names[k - 1], options.function)]
    random.Random(options.seed).shuffle(faults)
    known = [(program, spec.split(":")[0], 0, spec) for program, spec, _ in KNOWN if program in calls]
    return known + faults[:options.sample] if options.sample else faults


def is_failure(outcome):
    expected = {spec: what for _, spec, what in KNOWN}.get(outcome.name)
    return outcome.what != expected if expected else outcome.what not in ("right", "stopped", "ended")


def report(outcomes):
    table = collections.Counter((o.program, o.kind, o.what) for o in outcomes)
    kinds = sorted({o.what for o in outcomes})
    print("%-16s %-8s %7s  %s" % ("program", "kind", "faults", "  ".join("%8s" % what for what in kinds)))
    for program, kind in sorted({(o.program, o.kind) for o in outcomes}):
        counts = [table[program, kind, what] for what in kinds]
        print("%-16s %-8s %7d  %s" % (program, kind, sum(counts), "  ".join("%8d" % count for count in counts)))
    counts = collections.Counter(o.what for o in outcomes)
    print("%-16s %-8s %7d  %s" % ("all", "", len(outcomes), "  ".join("%8d" % counts[what] for what in kinds)))


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=lambda text: text.split(","),
                        default=sorted(f[:-3] for f in os.listdir(PROGRAMS) if f.endswith(".py") and f != "results.py"))
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=list(KINDS))
    parser.add_argument("--every", type=int, default=1, help="each that many-th call")
    parser.add_argument("--offset", type=int, default=0, help="calls that are left out at the begin")
    parser.add_argument("--function", default="*", help="calls of functions of this pattern only")
    parser.add_argument("--call", type=int, help="this call only; prints what the program says")
    parser.add_argument("--sample", type=int, help="so many faults, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="begins no fault later than this after the first one")
    parser.add_argument("--background", action="store_true", help="with the library's background threads: the same call may "
                        "be another one in each run")
    parser.add_argument("--scale", type=float, default=1, help="of the time limits")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "libgpushim.so"))
    parser.add_argument("--emulation", default=os.path.join(ROOT, "build-dev", "tests", "emulation"))
    parser.add_argument("--json", help="file that gets all outcomes, a line each")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse_options(arguments)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where it was ignored, for the programs
    setting = Setting(options)
    begin = time.monotonic()
    try:
        expected = {program: run_plain(setting, program) for program in options.programs}
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            lists = pool.map(lambda program: list_calls(setting, expected[program], program), options.programs)
            calls = dict(zip(options.programs, lists))
        print("calls: " + ", ".join("%s %d" % (program, len(names)) for program, names in calls.items()), flush=True)
        faults, outcomes, first = choose(options, calls), [], time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            def attempt(fault):
                program, kind, call, name = fault
                if options.seconds and time.monotonic() - first > options.seconds:
                    return None
                return run_fault(setting, expected[program], program, kind, call, name, bool(options.call))
            for outcome in pool.map(attempt, faults):
                if outcome is None:
                    continue
                outcomes.append(outcome)
                if options.json:
                    with open(options.json, "a") as file:
                        file.write(json.dumps(outcome._asdict()) + "\n")
                if is_failure(outcome):
                    print("%s: --programs %s --kinds %s --call %d (%s): %s" % (
                        outcome.what.upper(), outcome.program, outcome.kind, outcome.call, outcome.name, outcome.detail),
                        flush=True)
    finally:
        shutil.rmtree(setting.folder, ignore_errors=True)
    report(outcomes)
    failed = sum(map(is_failure, outcomes))
    print("%d faults, %d failed, %.0f s" % (len(outcomes), failed, time.monotonic() - begin))
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
