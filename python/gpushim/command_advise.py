# SPDX-License-Identifier: Apache-2.0
"""`gpushim advise`: runs a program on the CPU, and says what a GPU would do for it."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from gpushim import advice, command_run, files, forecast, launch
from gpushim.messages import complain

USAGE = "gpushim advise [--gpu NAME] [--json FILE] (script.py | -m module | program) [arguments]"
GPUS = ("h200", "h100", "h100-pcie", "a100", "v100", "l40s", "l4", "t4", "rtx3090", "rtx4090")  # offload/cuda/cuda_named.c
NEVER = str(1 << 62)
COMMON = {"DEVICE": "host", "MODE": "auto", "PROFILE": "0", "HOST_THREADS": "1", "MIN_ELEMENTS": "-1", "MIN_REDUCE": "-1",
          "MIN_FLOPS": "-1"}
# NumPy computes, in its own memory; the device is never started.
MEASURED = dict(COMMON, ADVISE="measure", START_MS=NEVER, ARENA_MIN=NEVER)
EMULATED = dict(COMMON, START_MS="0")


def add_to(commands):
    parser = commands.add_parser("advise", usage=USAGE, help="run a program on the CPU, and forecast what a GPU would do for it",
                                 allow_abbrev=False, description="Runs the program twice on the CPU, and says what it would take on "
                                 "a GPU, and which lines stand in the way.")
    parser.add_argument("--gpu", choices=GPUS, type=str.lower, default="h100", help="the GPU (h100)")
    parser.add_argument("--json", metavar="FILE", help="write forecast and advice to FILE")


@contextlib.contextmanager
def interrupts_left():
    """SIGINT is the program's alone; gives what the program is to do with it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield signal.SIG_IGN if before == signal.SIG_IGN else signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


def run(arguments, variables, folder, **streams):
    """(exit status, seconds, report or None) of the program; OSError: it cannot be started."""
    options = {"GPUSHIM_" + name: value for name, value in variables.items()}
    options["GPUSHIM_REPORT"] = "json:%s/%%p.json" % folder
    begin = time.monotonic()
    with interrupts_left() as action:
        process = subprocess.Popen(arguments, env=launch.environment_with(options),
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, action), **streams)
        status = process.wait()
    taken = time.monotonic() - begin
    with contextlib.suppress(FileNotFoundError), open("%s/%d.json" % (folder, process.pid), encoding="utf-8") as file:
        return status, taken, json.load(file)
    return status, taken, None


def emulate(arguments, gpu, folder):
    """The report of the second run, of which nothing is seen."""
    quiet = {name: subprocess.DEVNULL for name in ("stdin", "stdout", "stderr")}
    return run(arguments, dict(EMULATED, ADVISE=gpu), folder, **quiet)[2]


def show(result, rows, path):
    for line in (*forecast.describe(result), *advice.describe(rows)):
        print(line, file=sys.stderr)
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"version": 1, "verdict": forecast.verdict(result), "forecast": result, "lines": rows}, file, indent=1)
            file.write("\n")


def advise(arguments, options, folder):
    """Runs the program, and prints; its exit status, or what `gpushim run` gives where it cannot be started."""
    try:
        status, wall, measured = run(arguments, MEASURED, folder)
    except OSError as error:
        return command_run.tell_not_started("advise", arguments[0], error)
    if status != 0:
        complain("the program ended with %s: there is no forecast" % launch.end_in_words(status))
        return launch.status_of(status)
    if measured is None:
        complain("the program does not load NumPy, or ends by os._exit: there is no forecast")
        return status
    if sys.stderr.isatty():
        complain("the program has ended; now it runs on the emulated device")
    emulated = emulate(arguments, options.gpu, folder)
    if emulated is None:
        complain("the program's second run, on the emulated device, has failed: there is no forecast")
        return status
    result = forecast.forecast(measured, emulated, wall)
    show(result, advice.advise(measured, emulated, result["steady"]), options.json)
    return status


def execute(options):
    words = options.program
    launch.check_words(words, options.parser)
    files.check_outputs(options.json)
    folder = tempfile.mkdtemp(prefix="gpushim-advise-")
    try:
        return advise(launch.arguments_of(words), options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
