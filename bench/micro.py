# SPDX-License-Identifier: Apache-2.0
"""Single operations, NumPy against gpushim against CuPy: time against size, transfers, overheads.

    .venv/bin/python bench/micro.py [--cases add,matmul,...] [--sizes 1e1,1e4,...] [--max 1e8]

"resident": operands and result stay where the contender computes. "host": the operands were just
written by the host, and the result is read by the host inside the timed region (CuPy: asarray and
asnumpy). The processes take turns; warm medians; synchronised before the clock stops.
"""
import ctypes
import os
import sys
import time

import common

SIZES = [10 ** e for e in range(1, 10)]
MATMUL_SIDES = [2 ** e for e in range(8, 14)]
GIB = 1 << 30
PAGE, CHUNK = 4096, 2 << 20

# name: (operands, function of (xp, operands), dtype of the operands)
ELEMENTWISE = {
    "add": (2, lambda xp, a, b: a + b, "f8"),
    "multiply": (2, lambda xp, a, b: a * b, "f8"),
    "exp": (1, lambda xp, a: xp.exp(a), "f8"),
    "sum": (1, lambda xp, a: a.sum(), "f8"),
    "copy": (1, lambda xp, a: a.copy(), "f8"),
    "fill": (1, lambda xp, a: a.fill(1.5), "f8"),
    "astype": (1, lambda xp, a: a.astype("f4"), "f8"),
    "T.copy": (1, lambda xp, a: a.T.copy(), "f8"),
}
MATMUL = {
    "matmul f64": (2, lambda xp, a, b: a @ b, "f8"),
    "matmul f32": (2, lambda xp, a, b: a @ b, "f4"),
}
ORDER = {
    "sort": (1, lambda xp, a: xp.sort(a), "f8"),
    "sort i8": (1, lambda xp, a: xp.sort(a), "i8"),
    "sort i4": (1, lambda xp, a: xp.sort(a), "i4"),
    "argsort": (1, lambda xp, a: xp.argsort(a), "f8"),
    "argsort i8": (1, lambda xp, a: xp.argsort(a), "i8"),
    "unique": (1, lambda xp, a: xp.unique(a), "i8"),
    "median": (1, lambda xp, a: xp.median(a), "f8"),
    "searchsorted": (2, lambda xp, a, b: xp.searchsorted(a, b), "f8"),
    "bincount": (1, lambda xp, a: xp.bincount(a & 1023), "i8"),
    "histogram": (1, lambda xp, a: xp.histogram(a, 100), "f8"),
}
CASES = dict(ELEMENTWISE, **MATMUL, **ORDER)


# ---- in the worker -----------------------------------------------------------------------------

def _shape(case, size):
    """Matrices where the case wants them; about `size` elements."""
    if case in MATMUL:
        return (size, size)
    if case == "T.copy":
        side = max(1, int(size ** 0.5))
        return (side, side)
    return (size,)


def _host_operands(case, size):
    import numpy
    count, _, dtype = CASES[case]
    shape = _shape(case, size)
    if case in ORDER:
        rng = numpy.random.default_rng(1)
        return [rng.random(size) if dtype == "f8" else
                rng.integers(numpy.iinfo(dtype).max, size=size, dtype=dtype) for _ in range(count)]
    # Values in [0.5, 1.5): no operation here overflows, underflows or warns.
    return [(numpy.arange(shape[0] * shape[-1] if len(shape) == 2 else size, dtype=dtype)
             .reshape(shape) % 1000) / 1000 + numpy.array(0.5, dtype) for _ in range(count)]


def _bytes_of(array, step):
    """Every `step`-th byte, as a memoryview: reading and writing it is the CPU's work under gpushim too."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.T.reshape(-1)
    return memoryview(flat.view("u1"))[::step]


def _read(array, step=PAGE):
    """Reads a byte of every page (or of every `step` bytes), as a program that uses the values."""
    if getattr(array, "ndim", 0):
        _bytes_of(array, step).tobytes()
    else:
        float(array)


def _write(array):
    """Writes a byte of every page from the host, leaving the values as they are."""
    pages = _bytes_of(array, PAGE)
    pages[:] = pages.tobytes()


def operation(contender, case, size, where, budget):
    """Median seconds of one operation with resident operands, or from and to the host."""
    xp, function = contender.xp, CASES[case][1]
    operands = _host_operands(case, size)
    if where == "host":
        if contender.name == "cupy":
            def once():
                _read(xp.asnumpy(function(xp, *map(xp.asarray, operands))), CHUNK)
            return common.measure(once, budget)

        def prepare():
            for array in operands:
                _write(array)
                if contender.library and contender.residency(array) >= 2:
                    raise RuntimeError("what the host wrote is on the device")

        def once():
            result = function(xp, *operands)
            _read(operands[0] if result is None else result)
        return common.measure(once, budget, prepare=prepare)
    if contender.name == "cupy":
        operands = [xp.asarray(a) for a in operands]

    def once():
        result = function(xp, *operands)
        contender.synchronize()
        return result
    if contender.library:
        _make_resident(contender, once, operands)
    answer = common.measure(lambda: once() is None, budget)
    if contender.library:
        answer["residency"] = [contender.residency(a) for a in operands]
    return answer


def _make_resident(contender, once, operands, limit=3.0):
    """Repeats the operation until the policy has moved its operands, for at most `limit` seconds."""
    end = time.perf_counter() + limit
    for _ in range(1000):
        once()
        if all(contender.residency(a) >= 2 for a in operands) or time.perf_counter() > end:
            return


def _pooled(nbytes):
    """An array written by the host, in memory that has been used, and been on the device, before."""
    import numpy
    for last in (False, True):
        array = numpy.empty(nbytes // 8)
        ctypes.memset(array.ctypes.data, 63, nbytes)
        if not last:
            _read(array + 1.0)
            del array
    return array


def transfer(contender, kind, repeats=5):
    """GB/s of a first upload of 1 GiB, or of fetching a 1 GiB result; mode force."""
    import numpy
    xp, rates = contender.xp, []
    for _ in range(repeats):
        if contender.name == "cupy":
            rates.append(_cupy_transfer(contender, kind))
            continue
        host = _pooled(GIB)
        contender.synchronize()
        before = contender.counters()
        if kind == "upload":
            started = time.perf_counter()
            host[::CHUNK // 32] + 0.0
            contender.synchronize()
            seconds = time.perf_counter() - started
            moved = contender.counters()["upload_bytes"] - before["upload_bytes"]
        else:
            result = host + 0.0
            contender.synchronize()
            started = time.perf_counter()
            if kind == "download, in bulk":
                with open(os.devnull, "wb", buffering=0) as nowhere:
                    nowhere.write(result)
            else:
                _read(result, CHUNK)
            seconds = time.perf_counter() - started
            moved = contender.counters()["download_bytes"] - before["download_bytes"]
            assert numpy.array_equal(result, host)
            del result
        del host
        if moved < GIB:
            return {"error": "only %d of %d bytes were moved" % (moved, GIB)}
        rates.append(moved / seconds / 1e9)
    return {"gb_per_s": sorted(rates)[len(rates) // 2], "rates": rates}


def _cupy_transfer(contender, kind):
    """The same for CuPy, from and to memory that was touched before."""
    import numpy
    host = numpy.ones(GIB // 8)
    started = time.perf_counter()
    device = contender.xp.asarray(host)
    contender.synchronize()
    seconds = time.perf_counter() - started
    if kind != "upload":
        started = time.perf_counter()
        device.get(out=host)
        seconds = time.perf_counter() - started
    return GIB / seconds / 1e9


def resident_loop(contender, size=10 ** 6, count=1000):
    """1000 elementwise operations on resident arrays: seconds of one, bytes moved meanwhile."""
    xp = contender.xp
    a, b = (xp.asarray(x) for x in _host_operands("add", size))

    def loop(count):
        c = a
        for _ in range(count // 2):
            c = c * b
            c = c + a
        contender.synchronize()
        return c
    for _ in range(20):
        loop(100)
        if contender.residency(a) in (None, 2, 3) and contender.residency(b) in (None, 2, 3):
            break
    before = contender.counters()
    started = time.perf_counter()
    loop(count)
    answer = {"seconds": (time.perf_counter() - started) / count}
    after = contender.counters()
    answer.update({key: after[key] - before[key] for key in ("upload_bytes", "download_bytes", "launches")
                   if key in after})
    return answer


def overhead(contender, what, rounds):
    """Seconds of one call that is always declined: x + x on 10 elements, or a tiny-calls program."""
    xp = contender.xp
    x = xp.arange(10.0)
    big = xp.zeros(10 ** 5)

    def tiny_add(count):
        for _ in range(count):
            x + x

    def tiny_calls(count):
        for i in range(count // 4):
            start = i % 900 * 100
            piece = big[start:start + 100]
            piece += 1.0
            big[start + 5] = big[start + 6] + 1.0
    function = {"x + x, 10 elements": tiny_add, "tiny calls": tiny_calls}[what]
    function(20000)
    started = time.perf_counter()
    function(rounds)
    return {"seconds": (time.perf_counter() - started) / rounds}


HANDLERS = {"warm": common.warm, "operation": operation, "transfer": transfer, "resident_loop": resident_loop,
            "overhead": overhead}


# ---- in the parent -----------------------------------------------------------------------------

def bytes_needed(case, size):
    elements = size * size if case in MATMUL else size
    return 8 * elements * (2 * (CASES[case][0] + 1) + 1)


def sweep(workers, options, lines):
    """The operations by size; {panel: series} for the plot."""
    common.ask_all(workers, 1, "warm")
    panels = {}
    for case in options.cases:
        sizes = MATMUL_SIDES if case in MATMUL else options.sizes
        print("\n%s" % case)
        rows = []
        for where in ("resident", "host"):
            for size in sizes:
                if bytes_needed(case, size) > common.memory_available() * 0.8:
                    print("%s: does not fit into memory, left out" % common.count_text(size))
                    continue
                answers = common.ask_all(workers, options.rounds, "operation", case=case,
                                         size=size, where=where, budget=options.budget)
                seconds = {name: answer.get("seconds") for name, answer in answers.items()}
                rows.append([where, common.count_text(size)] +
                            [common.seconds_text(s) for s in seconds.values()] +
                            [_ratio(seconds, "numpy"), _ratio(seconds, "cupy")])
                for name, answer in answers.items():
                    lines.write(case=case, where=where, size=size, contender=name, **answer)
                    if "seconds" in answer:
                        series = panels.setdefault("%s, %s" % (case, where), {})
                        series.setdefault(name, []).append((size, answer["seconds"]))
        common.print_table(["operands", "size"] + list(workers) + ["NumPy/gpushim", "CuPy/gpushim"],
                           rows)
    return panels


def _ratio(seconds, name):
    if seconds.get(name) and seconds.get("gpushim"):
        return "%.2fx" % (seconds[name] / seconds["gpushim"])
    return "-"


def transfers(options, lines):
    """In mode force, in processes of their own: the pools start fresh."""
    print("\ntransfers of 1 GiB, GB/s")
    options.contenders = ",".join(n for n in options.contenders.split(",") if n != "numpy")
    workers = common.start_workers(__file__, options, MODE="force")
    rows = []
    for kind in ("upload", "download, in bulk", "download, page by page fault"):
        row = [kind]
        for name, worker in workers.items():
            answer = worker.ask("transfer", kind=kind)
            lines.write(case="transfer", kind=kind, contender=name, **answer)
            row.append("%.1f" % answer["gb_per_s"] if "gb_per_s" in answer else answer["error"])
        rows.append(row)
    common.print_table(["what"] + list(workers), rows)
    close(workers)


def resident(workers, lines):
    print("\n1000 elementwise operations on resident arrays of 1e6")
    rows = []
    for name, worker in workers.items():
        answer = worker.ask("resident_loop")
        lines.write(case="resident loop", contender=name, **answer)
        rows.append([name, common.seconds_text(answer["seconds"]),
                     answer.get("upload_bytes", "-"), answer.get("download_bytes", "-"),
                     answer.get("launches", "-")])
    common.print_table(["", "one operation", "bytes up", "bytes down", "launches"], rows)


def overheads(workers, lines):
    """Plain and shim take turns; the median of the differences counts."""
    print("\nhook overhead of declined calls (pairs in turns)")
    pair = {name: workers[name] for name in ("numpy", "gpushim") if name in workers}
    if len(pair) < 2:
        return
    rows = []
    for what, rounds, pairs in (("x + x, 10 elements", 200000, 21), ("tiny calls", 1000000, 9)):
        times = {name: [] for name in pair}
        for _ in range(pairs):
            for name, worker in pair.items():
                times[name].append(worker.ask("overhead", what=what, rounds=rounds)["seconds"])
        ratio = sorted(g / n for n, g in zip(times["numpy"], times["gpushim"]))[pairs // 2]
        plain = sorted(times["numpy"])[pairs // 2]
        lines.write(case="overhead", what=what, numpy=plain, ratio=ratio, times=times)
        rows.append([what, common.seconds_text(plain), "%+.1f ns" % ((ratio - 1) * plain * 1e9),
                     "%+.2f %%" % ((ratio - 1) * 100)])
    common.print_table(["a call", "plain", "added", "relative"], rows)


def close(workers):
    for worker in workers.values():
        worker.close()


def main():
    parser = common.parser(__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(CASES), type=lambda text: text.split(","))
    parser.add_argument("--sizes", default=SIZES,
                        type=lambda text: [int(float(s)) for s in text.split(",")])
    parser.add_argument("--max", type=float, default=1e9, help="largest size")
    parser.add_argument("--skip", default="", help="sweep,transfers,resident,overhead: leave out")
    options = parser.parse_args()
    if options.worker:
        common.serve(common.Contender(options.worker), HANDLERS)
        return
    options.cases = [c for c in options.cases if c in CASES] or sys.exit("no such case")
    options.sizes = [size for size in options.sizes if size <= options.max]
    lines = common.JsonLines(options.out, "micro")
    skip = options.skip.split(",")
    workers = common.start_workers(__file__, options)
    print("device %s, mode %s" % (common.default_device(), os.environ.get("GPUSHIM_MODE", "auto")))
    if "overhead" not in skip:
        overheads(workers, lines)
    panels = sweep(workers, options, lines) if "sweep" not in skip else {}
    if "resident" not in skip:
        resident(workers, lines)
    close(workers)
    if "transfers" not in skip:
        transfers(options, lines)
    print("JSON lines:", lines.path)
    if panels:
        common.plot(os.path.join(options.out, "micro.png"), "single operations", panels)


if __name__ == "__main__":
    main()
