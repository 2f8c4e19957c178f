# SPDX-License-Identifier: Apache-2.0
"""Linear algebra: gpushim against CuPy on resident operands, batches of small matrices also against NumPy.

    .venv/bin/python bench/linalg.py [--sides 512,1024,...] [--cases solve,svd,...] [--check]

float64 unless the row says otherwise. Operands and results stay on the device; each call is synchronised; the processes
take turns; warm medians. gpushim runs in mode force. "from host" rows: the operands were just written by the host, which
reads the result inside the timed region. --check compares what does not depend on signs of vectors.
"""
import math
import sys

import numpy as np

import common
import micro

LIMIT = 1.1  # times CuPy: rows beyond are marked


def eigenvalues(result):
    return result[0]


def whole(result):
    return result


def lengths(result):
    """Of the diagonal of R."""
    return abs(result[1].diagonal(0, -2, -1))


def middle(result):
    return result[1]


# name: (operand maker, function of (xp, operands), part of the result that is comparable)
CASES = {
    "matmul": ("two", lambda xp, a, b: xp.matmul(a, b), whole),
    "solve": ("two", lambda xp, a, b: xp.linalg.solve(a, b), whole),
    "solve one": ("vector", lambda xp, a, b: xp.linalg.solve(a, b), whole),
    "inv": ("one", lambda xp, a: xp.linalg.inv(a), whole),
    "det": ("one", lambda xp, a: xp.linalg.slogdet(a)[1], whole),
    "cholesky": ("positive", lambda xp, a: xp.linalg.cholesky(a), whole),
    "qr": ("one", lambda xp, a: xp.linalg.qr(a), lengths),
    "eigh": ("symmetric", lambda xp, a: xp.linalg.eigh(a), eigenvalues),
    "eigvalsh": ("symmetric", lambda xp, a: xp.linalg.eigvalsh(a), whole),
    "svd": ("one", lambda xp, a: xp.linalg.svd(a), middle),
    "svdvals": ("one", lambda xp, a: xp.linalg.svd(a, compute_uv=False), whole),
}
LARGE = ("solve", "solve one", "inv", "det", "cholesky", "qr", "eigh", "eigvalsh", "svd", "svdvals")
SMALL = ("solve", "inv", "det", "cholesky", "qr", "eigh", "svd")


def operands_of(kind, shape, dtype):
    """The same values for every contender; well-conditioned, but not special."""
    generator = np.random.default_rng(7)
    a = generator.standard_normal(shape).astype(dtype)
    if kind == "one":
        return [a]
    if kind == "two":
        return [a, generator.standard_normal(shape).astype(dtype)]
    if kind == "vector":
        return [a, generator.standard_normal(shape[:-1]).astype(dtype)]
    symmetric = a + a.swapaxes(-1, -2)
    if kind == "positive":
        symmetric += 4 * math.sqrt(shape[-1]) * np.eye(shape[-1], dtype=dtype)
    return [symmetric]


def digest(part):
    part = part.get() if hasattr(part, "get") else np.asarray(part)
    part = np.atleast_1d(part).astype("f8").ravel()
    return [float(part.sum()), float(abs(part).sum()), float(part[0]), float(part[-1])]


def question(contender, case, shape, dtype, budget, check):
    kind, function, comparable = CASES[case]
    xp = contender.xp
    operands = operands_of(kind, tuple(shape), dtype)
    if contender.name == "cupy":
        operands = [xp.asarray(array) for array in operands]
    else:
        operands = [array + array.dtype.type(0) for array in operands]  # on gpushim's device

    def once():
        result = function(xp, *operands)
        contender.synchronize()
        return result
    numbers = (lambda result: digest(comparable(result))) if check else (lambda result: None)
    return common.answer_with_numbers(contender, once, numbers, budget)


def rows(options):
    """(case, shape, dtype, who is asked)"""
    both = ("gpushim", "cupy")
    everyone = ("numpy",) + both
    for side in options.sides:
        for dtype in ("f4", "f8"):
            yield "matmul", (side, side), dtype, both
    for dtype in ("f4", "f8"):
        yield "matmul", (1000, 64, 64), dtype, everyone
    for case in LARGE:
        for side in (side for side in options.sides if side <= 4096):
            yield case, (side, side), "f8", both
    for case in SMALL:
        yield case, (10000, 16, 16), "f8", everyone
    for case in ("svd", "qr"):
        yield case, (8192, 512), "f8", both


def agrees(numbers, expected):
    size = max(abs(expected[1]), 1e-30)
    return all(abs(x - y) <= 1e-4 * size for x, y in zip(numbers, expected))


def line(case, shape, dtype, answers):
    """A table's row, and whether the answers differ."""
    times = {who: answer.get("seconds") for who, answer in answers.items()}
    known = [answer["numbers"] for answer in answers.values() if answer.get("numbers")]
    differs = any(not agrees(numbers, known[0]) for numbers in known[1:])
    ours, theirs = times.get("gpushim"), times.get("cupy")
    ratio = "%.2f" % (ours / theirs) if ours and theirs else "-"
    mark = " SLOW" if ours and theirs and ours > LIMIT * theirs else ""
    cells = [common.seconds_text(times.get(who)) for who in ("numpy", "gpushim", "cupy")]
    launches = answers.get("gpushim", {}).get("launches", "-")
    return ["%s %s %s" % (case, "x".join(map(str, shape)), dtype)] + cells + [
        ratio + mark + (" WRONG" if differs else ""), launches], differs


def measure_all(options, workers, lines):
    table, wrong = [], 0
    for case, shape, dtype, asked in rows(options):
        if case not in options.cases:
            continue
        some = {who: worker for who, worker in workers.items() if who in asked}
        answers = common.ask_all(some, options.rounds, "linalg", case=case, shape=shape, dtype=dtype,
                                 budget=options.budget, check=options.check)
        for who, answer in answers.items():
            lines.write(case=case, shape=shape, dtype=dtype, contender=who, **answer)
            if "error" in answer:
                print("%s %s: %s" % (who, case, answer["error"]))
        row, differs = line(case, shape, dtype, answers)
        wrong += differs
        table.append(row)
        print("  ".join(map(str, row)), flush=True)
    return table, wrong


def measure_from_host(options, workers, lines, table):
    """matmul of the largest matrices, operands written and result read by the host."""
    for case in ("matmul f32", "matmul f64") if "matmul" in options.cases else ():
        answers = common.ask_all(workers, options.rounds, "operation", case=case, size=options.sides[-1], where="host",
                                 budget=options.budget)
        for who, answer in answers.items():
            lines.write(case=case + " from host", size=options.sides[-1], contender=who, **answer)
        table.append(line(case + " from host", (options.sides[-1],) * 2, "", answers)[0])


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--sides", default="512,1024,2048,4096,8192")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.sides = [int(side) for side in options.sides.split(",")]
    options.cases = options.cases.split(",")
    if options.worker:
        common.serve(common.Contender(options.worker), {"warm": common.warm, "linalg": question,
                                                          "operation": micro.operation})
        return 0
    lines = common.JsonLines(options.out, "linalg")
    workers = common.start_workers(__file__, options, MODE="force")
    common.ask_all(workers, 1, "warm")
    table, wrong = measure_all(options, workers, lines)
    measure_from_host(options, {who: worker for who, worker in workers.items() if who != "numpy"}, lines, table)
    common.print_table(["routine", "NumPy", "gpushim", "CuPy", "gpushim / CuPy", "launches"], table)
    for worker in workers.values():
        worker.close()
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
