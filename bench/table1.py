# SPDX-License-Identifier: Apache-2.0
"""The program of the CuPy paper's Table 1, NumPy against gpushim against CuPy, sizes 1e4 to 1e9.

    .venv/bin/python bench/table1.py            everything that fits into this machine's memory
    .venv/bin/python bench/table1.py --demo     shortly: NumPy and gpushim, and the exit report

Each contender runs the same unchanged line in its own process; the processes take turns. Times are
warm medians, with the result computed (synchronised) before the clock stops. Every answer is checked.
"""
import os
import subprocess
import sys
import time
import zlib

import common

SIZES = [10 ** e for e in range(4, 10)]
CHECK_BYTES = 1 << 31  # beyond that a sum is compared instead of every byte


def program(xp, size):
    return xp.arange(size).reshape(1000, -1).T * 2


# ---- in the worker -----------------------------------------------------------------------------

def time_program(contender, size, budget):
    def once():
        result = program(contender.xp, size)
        contender.synchronize()
        return result

    answer = common.measure(lambda: once() is None, budget)
    if contender.library:
        answer["on_device"] = contender.residency(once()) == 3
    return answer


def check(contender, size):
    """Shape, memory order, dtype, sum, and where it is not too large a checksum of every byte."""
    import numpy
    result = program(contender.xp, size)
    answer = {"shape": result.shape, "dtype": str(result.dtype), "sum": int(result.sum()),
              "layout": [result.T.flags.c_contiguous, getattr(result.flags, "writeable", True)]}
    if result.nbytes <= CHECK_BYTES:
        host = result.get(order="A") if contender.name == "cupy" else result
        answer["crc"] = zlib.crc32(memoryview(numpy.ascontiguousarray(host.T)).cast("B"))
    return answer


# ---- in the parent -----------------------------------------------------------------------------

def fits(size, device):
    """Whether operand and result fit, twice where the device's memory is this machine's."""
    return 8 * size * (4.5 if device == "host" else 2.5) < common.memory_available()


def compare(workers, size, options):
    answers = common.ask_all(workers, options.rounds, "time", size=size, budget=options.budget)
    checks = {name: worker.ask("check", size=size) for name, worker in workers.items()}
    expected = checks["numpy"]
    for name, found in checks.items():  # CuPy's results are in C order: the layout is NumPy's alone
        if "error" in found:
            answers[name] = found
        elif {**found, "layout": expected["layout"] if name == "cupy" else found["layout"]} != expected:
            sys.exit("WRONG ANSWER of %s at size %d: %s, NumPy has %s" %
                     (name, size, found, expected))
    return answers


def table_row(size, answers):
    """One line: the size, each contender's time, NumPy's time over gpushim's, where it ran."""
    seconds = {name: answer.get("seconds") for name, answer in answers.items()}
    row = [common.count_text(size)] + [common.seconds_text(s) for s in seconds.values()]
    if "gpushim" in answers:
        both = seconds["numpy"] and seconds["gpushim"]
        row.append("%.2fx" % (seconds["numpy"] / seconds["gpushim"]) if both else "-")
        row.append("device" if answers["gpushim"].get("on_device") else "CPU")
    if seconds.get("cupy") and seconds.get("gpushim"):
        row.append("%.2fx" % (seconds["cupy"] / seconds["gpushim"]))
    return row


def header(workers):
    titles = ["size"] + list(workers)
    if "gpushim" in workers:
        titles += ["speed-up", "ran on"]
    if "gpushim" in workers and "cupy" in workers:
        titles.append("CuPy/gpushim")
    return titles


def exit_report(device, mode, size):
    """What GPUSHIM_REPORT=1 prints for a short script: the program three times, one element read."""
    script = ("import numpy as xp\nfor _ in range(3):\n"
              "    result = xp.arange(%d).reshape(1000, -1).T * 2\nprint(result[-1, -1])\n" % size)
    env = common.under_the_shim(DEVICE=device, MODE=mode, REPORT="1")
    done = subprocess.run([sys.executable, "-c", script], env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0 or done.stdout.strip() != str(2 * (size - 1)):
        sys.exit("WRONG ANSWER: status %d, %r, %s" % (done.returncode, done.stdout, done.stderr))
    return done.stderr


def run(options, device, mode):
    lines = common.JsonLines(options.out, "table1")
    workers = common.start_workers(__file__, options, MODE=mode)
    if "numpy" not in workers:
        sys.exit("the answers are checked against numpy: it must be among the contenders")
    print("arange(size).reshape(1000, -1).T * 2: median seconds; device %s, mode %s" %
          (device, mode))
    if device == "host":
        print("No GPU in use: the device \"host\" is this machine's own CPU cores. It shows that "
              "the path works,\nnot what a GPU gains.")
    for name, worker in workers.items():
        if not worker.ask("warm")["warm"]:
            print("%s: the device took none of the calls while warming up" % name)
    rows, series = [], {name: [] for name in workers}
    for size in options.sizes:
        if not fits(size, device):
            print("%s: does not fit into %.1f GiB of free memory, left out" %
                  (common.count_text(size), common.memory_available() / 2 ** 30))
            continue
        answers = compare(workers, size, options)
        rows.append(table_row(size, answers))
        for name, answer in answers.items():
            lines.write(size=size, contender=name, version=workers[name].version, device=device,
                        mode=mode, **answer)
            if "seconds" in answer:
                series[name].append((size, answer["seconds"]))
    common.print_table(header(workers), rows)
    print("every answer checked against NumPy's")
    for worker in workers.values():
        worker.close()
    print("JSON lines:", lines.path)
    common.plot(os.path.join(options.out, "table1.png"),
                "arange(size).reshape(1000, -1).T * 2", {"Table 1": series})


def main():
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--demo", action="store_true", help="a short run with the exit report")
    parser.add_argument("--sizes", type=lambda text: [int(float(s)) for s in text.split(",")],
                        help="comma-separated (default 1e4 to 1e9)")
    options = parser.parse_args()
    if options.worker:
        contender = common.Contender(options.worker)
        common.serve(contender, {"warm": common.warm, "time": time_program, "check": check})
        return
    device = common.default_device()
    # The cost model would rightly leave all to NumPy where the device is the same CPU.
    mode = os.environ.get("GPUSHIM_MODE") or ("force" if device == "host" else "auto")
    if options.demo and device == "host":
        options.rounds = 1
    options.sizes = options.sizes or (SIZES[:-1] if options.demo else SIZES)
    run(options, device, mode)
    if options.demo:
        print("\nThe exit report (GPUSHIM_REPORT=1) of three rounds of 1e8:\n")
        print(exit_report(device, mode, 10 ** 8))


if __name__ == "__main__":
    main()
