# SPDX-License-Identifier: Apache-2.0
"""Every ufunc, reduction and data movement on resident operands, gpushim against CuPy.

    .venv/bin/python bench/elementwise.py [--size 1e7] [--cases exp,sum,...] [--dtypes f8,...]

Operands and results stay on the device; each call is synchronised; the two processes take turns; warm medians.
gpushim runs in mode force: the question is the kernels and the road to them, not the policy. What CuPy lacks is
measured alone. NumPy can be added with --contenders numpy,gpushim,cupy.
"""
import sys
import time

import common

LIMIT = 1.1  # times CuPy: rows beyond are marked

# Where a ufunc's operands lie, [low, high); all others take UNIT.
UNIT = (0.5, 1.5)
DOMAINS = {"arcsin": (-1, 1), "arccos": (-1, 1), "arctanh": (-1, 1), "arccosh": (1, 2),
           "exp": (-5, 5), "sin": (-10, 10), "cos": (-10, 10), "tan": (-10, 10)}
UNARY = ("negative positive absolute fabs sign square reciprocal conjugate sqrt cbrt exp exp2 expm1 log log2 log10 "
         "log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians spacing modf "
         "frexp floor ceil trunc rint isnan isinf isfinite signbit logical_not").split()
BINARY = ("add subtract multiply divide floor_divide remainder fmod divmod power float_power arctan2 hypot logaddexp "
          "logaddexp2 heaviside copysign nextafter maximum minimum fmax fmin equal not_equal less less_equal greater "
          "greater_equal logical_and logical_or logical_xor").split()
INTEGER = {"invert": 1, "gcd": 2, "lcm": 2, "bitwise_and": 2, "bitwise_or": 2, "bitwise_xor": 2, "left_shift": 2,
           "right_shift": 2, "bitwise_count": 1}
MOVES = {
    "where": lambda xp, a, b: xp.where(a < 1, a, b),
    "clip": lambda xp, a, b: xp.clip(a, 0.7, 1.2),
    "round": lambda xp, a, b: xp.round(a, 2),
    "cumsum": lambda xp, a, b: xp.cumsum(a),
    "cumprod": lambda xp, a, b: xp.cumprod(a),
    "astype f4": lambda xp, a, b: a.astype("f4"),
    "astype i4": lambda xp, a, b: a.astype("i4"),
    "copy": lambda xp, a, b: a.copy(),
    "concatenate": lambda xp, a, b: xp.concatenate([a, b]),
    "repeat": lambda xp, a, b: xp.repeat(a, 2),
    "flip copy": lambda xp, a, b: a[::-1].copy(),
    "roll": lambda xp, a, b: xp.roll(a, 7),
    "diff": lambda xp, a, b: xp.diff(a),
    "linspace": lambda xp, a, b: xp.linspace(0, 1, len(a)),
    "std": lambda xp, a, b: a.std(),
    "mean": lambda xp, a, b: a.mean(),
    "ptp": lambda xp, a, b: xp.ptp(a),
}
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "mean", "std", "argmax", "argmin", "count_nonzero")
SHAPES = ((3000, 3000), (100, 100000))


def _filled(xp, size, domain):
    """The same values in every contender, made where it computes."""
    low, high = domain
    return (xp.arange(size) % 1000) * ((high - low) / 1000.0) + low


def _operands(xp, kind, name, size):
    if kind == "integer":
        return [xp.arange(size) % 1000 + 1, xp.arange(size) % 13 + 1]
    if kind == "take":
        return [_filled(xp, size, UNIT), xp.arange(size) * 7919 % size]
    if kind.startswith("("):
        rows, columns = map(int, kind.strip("()").split(","))
        return [_filled(xp, rows * columns, UNIT).reshape(rows, columns)]
    domain = DOMAINS.get(name, UNIT)
    return [_filled(xp, size, domain), _filled(xp, size, domain)[::-1].copy()]


def _function(xp, kind, name):
    if kind == "unary":
        return lambda ops: getattr(xp, name)(ops[0])
    if kind == "binary":
        return lambda ops: getattr(xp, name)(ops[0], ops[1])
    if kind == "integer":
        return lambda ops: getattr(xp, name)(*ops[:INTEGER[name]])
    if kind == "move":
        return lambda ops: MOVES[name](xp, *ops)
    if kind == "take":
        return lambda ops: xp.take(ops[0], ops[1])
    reduction, axis = name.split()
    return lambda ops: getattr(xp, reduction)(ops[0], axis=int(axis))


def operation(contender, kind, name, size, budget):
    xp = contender.xp
    base = name.split()[0]
    if kind in ("unary", "binary", "integer") and not hasattr(xp, base):
        return {"error": "absent"}
    operands, function = _operands(xp, kind, name, size), _function(xp, kind, name)

    def once():
        result = function(operands)
        contender.synchronize()
        return result
    started = time.perf_counter()
    try:
        once()
    except Exception as error:  # pylint: disable=broad-except  # what CuPy cannot do is a row without it
        return {"error": "%s: %s" % (type(error).__name__, error)}
    first = time.perf_counter() - started
    work = common.launched(contender, once)
    answer = common.measure(lambda: once() is None, budget)
    answer["first"] = first
    answer.update(work)
    return answer


def rows_asked(options):
    rows = [("unary", name) for name in UNARY] + [("binary", name) for name in BINARY]
    rows += [("integer", name) for name in INTEGER]
    rows += [("move", name) for name in MOVES] + [("take", "take")]
    rows += [("(%d,%d)" % shape, "%s %d" % (name, axis))
             for shape in SHAPES for name in REDUCTIONS for axis in (0, 1)]
    asked = options.cases and options.cases.split(",")
    return [row for row in rows if not asked or row[1].split()[0] in asked or row[0] in asked]


def main():
    parser = common.parser(__doc__)
    parser.set_defaults(contenders="gpushim,cupy", budget=0.1)
    parser.add_argument("--size", type=lambda text: int(float(text)), default=10 ** 7)
    parser.add_argument("--cases", help="names of ufuncs, moves, reductions; or kinds: unary, binary, ...")
    options = parser.parse_args()
    if options.worker:
        common.serve(common.Contender(options.worker), {"operation": operation})
        return 0
    lines = common.JsonLines(options.out, "elementwise")
    workers = common.start_workers(__file__, options, MODE="force")
    table, beyond = [], []
    for kind, name in rows_asked(options):
        answers = {who: {} for who in workers}
        for _ in range(options.rounds):
            for who, worker in workers.items():
                answer = worker.ask("operation", kind=kind, name=name, size=options.size, budget=options.budget)
                best = answers[who].get("seconds")
                if "error" in answer or best is None or answer["seconds"] < best:
                    answers[who] = answer
        seconds = {who: answer.get("seconds") for who, answer in answers.items()}
        for who, answer in answers.items():
            lines.write(kind=kind, case=name, size=options.size, contender=who, **answer)
        ratio = seconds["gpushim"] / seconds["cupy"] if seconds.get("cupy") and seconds.get("gpushim") else None
        mark = " <" if ratio and ratio > LIMIT else ""
        if mark:
            beyond.append("%s %s" % (kind, name))
        own = answers["gpushim"]
        table.append([name, kind] + [common.seconds_text(s) for s in seconds.values()] +
                     ["%.2f%s" % (ratio, mark) if ratio else "-", own.get("launches", own.get("error", "-")),
                      own.get("moved", "-")])
    common.print_table(["operation", "kind"] + list(workers) + ["gpushim/CuPy", "launches", "bytes moved"], table)
    print("\nbeyond %.1fx CuPy: %s" % (LIMIT, ", ".join(beyond) or "none"))
    for worker in workers.values():
        worker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
