# SPDX-License-Identifier: Apache-2.0
"""Chains of operations on resident operands: NumPy, gpushim, CuPy, torch.compile and jax.jit in turns.

    .venv/bin/python bench/fusion.py [--sizes 1e6,1e7,1e8] [--cases chain,mean,...] [--check]

float64. Operands and results stay on the device; each measured call is synchronised; warm medians. gpushim runs in mode
force. torch and jax get the same functions, compiled as a whole; what they cannot do (masks of data-dependent size) is
left out for them. --check compares every answer with NumPy's.
"""
import functools
import math
import subprocess
import sys
import time

import numpy as np

import common


def chain(xp, a, b):
    return a * b + a / (b + 1) - a


def expsin(xp, a, b):
    return xp.exp(-a ** 2) * xp.sin(b)


def mean(xp, a, b):
    return xp.sqrt(xp.log1p(a) * xp.exp(b) + xp.maximum(a, b)).mean()


def cumulative_normal(xp, x):
    """Abramowitz and Stegun 26.2.17."""
    k = 1 / (1 + 0.2316419 * abs(x))
    poly = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = 0.3989422804014327 * xp.exp(-x * x / 2) * poly
    return xp.where(x < 0, tail, 1 - tail)


def black_scholes(xp, a, b):
    spot, strike, rate, sigma = a * 100, b * 100, 0.02, 0.3
    root = sigma * xp.sqrt(a + 0.5)
    d1 = (xp.log(spot / strike) + (rate + sigma * sigma / 2) * (a + 0.5)) / root
    d2 = d1 - root
    discounted = strike * xp.exp(-rate * (a + 0.5))
    call = spot * cumulative_normal(xp, d1) - discounted * cumulative_normal(xp, d2)
    return call, call - spot + discounted


def softmax(xp, a, b):
    if xp.__name__ == "torch":
        shifted = xp.exp(a - xp.amax(a, 1, True))
        return shifted / shifted.sum(1, True)
    shifted = xp.exp(a - a.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def standardise(xp, a, b):
    if xp.__name__ == "torch":
        return (a - a.mean(0)) / a.std(0, correction=0)
    return (a - a.mean(axis=0)) / a.std(axis=0)


def stencil(xp, a, b):
    inner = 0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
    if xp.__name__ == "jax.numpy":
        return a.at[1:-1, 1:-1].set(inner)
    a[1:-1, 1:-1] = inner
    return a


def mandelbrot(xp, a, b):
    c = a * 3 - 2 + 1j * (b * 2 - 1)
    z, count = c * 0, xp.zeros(a.shape, "i8")
    for _ in range(10):
        inside = z.real * z.real + z.imag * z.imag < 4
        count += inside
        z[inside] = z[inside] ** 2 + c[inside]
    return count


def table1(xp, a, b):
    if xp.__name__ == "torch":
        return xp.arange(a.numel(), device=a.device).reshape(1000, -1).T * 2
    return xp.arange(a.size).reshape(1000, -1).T * 2


CASES = {case.__name__: case for case in (chain, expsin, mean, black_scholes, softmax, standardise, stencil, mandelbrot,
                                          table1)}
SLOW = 1  # s: what takes NumPy longer is called once, for it has nothing to prepare
SQUARE = {"softmax", "standardise", "stencil"}
ONLY_ARRAYS = {"mandelbrot"}  # not for compilers of whole functions


class Compiler:
    """torch or jax as a contender."""

    def __init__(self, name):
        self.name, self.library = name, None
        if name == "torch":
            import torch
            self.xp, self.version = torch, "torch " + torch.__version__
            self.synchronize = torch.cuda.synchronize
            self.make = lambda array: torch.from_numpy(array).cuda()
            self.compile = self.compile_anew
        else:
            import jax
            jax.config.update("jax_enable_x64", True)
            self.xp, self.version = jax.numpy, "jax " + jax.__version__
            self.make = jax.numpy.asarray
            self.compile = jax.jit
            self.synchronize = lambda: None

    def compile_anew(self, function):
        """All cases are one function to torch, which gives up compiling it again after some."""
        self.xp.compiler.reset()
        return self.xp.compile(function, dynamic=False)

    def run(self, function, operands):
        result = function(*operands)
        if self.name == "jax":
            for part in result if isinstance(result, tuple) else (result,):
                part.block_until_ready()
        self.synchronize()
        return result

    def counters(self):
        return {}


@functools.lru_cache(maxsize=4)
def values_of(size):
    """The same for every contender."""
    return np.arange(size) * 7919 % 100003 / 100003.0 + 0.001, np.arange(size) * 104729 % 99991 / 99991.0 + 0.001


def operands_of(name, size):
    if name not in SQUARE:
        return values_of(size)
    side = math.isqrt(size)
    return tuple(array[:side * side].reshape(side, side) for array in values_of(size))


def resident(contender, array):
    if isinstance(contender, Compiler):
        return contender.make(array)
    if contender.name == "cupy":
        return contender.xp.asarray(array)
    return array + 0.0  # on gpushim's device


def digest(result):
    """Few numbers that tell results apart."""
    parts = result if isinstance(result, tuple) else (result,)
    numbers = []
    for part in parts:
        part = part.get() if hasattr(part, "get") else part.cpu().numpy() if hasattr(part, "cpu") else np.asarray(part)
        part = np.atleast_1d(np.asarray(part, "f8"))
        numbers += [float(part.mean()), float(part.ravel()[part.size // 3]), float(part.ravel()[-1])]
    return numbers


def question(contender, case, size, budget, check):
    if isinstance(contender, Compiler) and case in ONLY_ARRAYS:
        return {"error": "absent"}
    operands = [resident(contender, array) for array in operands_of(case, size)]
    xp = contender.xp
    if isinstance(contender, Compiler):
        compiled = contender.compile(lambda a, b: CASES[case](xp, a, b))
        once = lambda: contender.run(compiled, operands)
    else:
        def once():
            result = CASES[case](xp, *operands)
            contender.synchronize()
            return result
    try:
        start = time.perf_counter()
        first = once()
        seconds = time.perf_counter() - start
        numbers = digest(first) if check else None
        del first
        if contender.name == "numpy" and seconds > SLOW:
            return {"seconds": seconds, "numbers": numbers}
        once()
        work = common.launched(contender, once)
        answer = common.measure(lambda: once() is None, budget)
    except Exception as error:  # pylint: disable=broad-except  # what one cannot do is a row without it
        return {"error": "%s: %s" % (type(error).__name__, str(error)[:200])}
    answer["numbers"] = numbers
    answer.update(work)
    return answer


def agrees(numbers, expected):
    return all(math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) for x, y in zip(numbers, expected))


def importable(name):
    code = {"torch": "import torch; torch.zeros(1).cuda()",
            "jax": "import jax; assert jax.devices()[0].platform == 'gpu'"}[name]
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def main():
    parser = common.parser(__doc__)
    parser.set_defaults(contenders="numpy,gpushim,cupy,torch,jax", budget=0.2, rounds=1)
    parser.add_argument("--sizes", default="1e6,1e7,1e8")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.worker:
        compiled = options.worker in ("torch", "jax")
        contender = Compiler(options.worker) if compiled else common.Contender(options.worker)
        common.serve(contender, {"chain": question})
        return 0
    names = options.contenders.split(",")
    for name in ("torch", "jax"):
        if name in names and not importable(name):
            names.remove(name)
            print("%s: not importable here or without a GPU, left out" % name)
    options.contenders = ",".join(names)
    lines = common.JsonLines(options.out, "fusion")
    workers = common.start_workers(__file__, options, MODE="force", BACKGROUND="0")  # warm at once
    table, wrong = [], 0
    for case in options.cases.split(","):
        for size in (int(float(text)) for text in options.sizes.split(",")):
            answers = common.ask_all(workers, options.rounds, "chain", case=case, size=size, budget=options.budget,
                                     check=options.check)
            expected = answers.get("numpy", {}).get("numbers")
            cells = []
            for who, answer in answers.items():
                lines.write(case=case, size=size, contender=who, **answer)
                good = not answer.get("numbers") or not expected or agrees(answer["numbers"], expected)
                wrong += not good
                cells.append(common.seconds_text(answer.get("seconds")) + ("" if good else " WRONG"))
                if answer.get("error", "absent") != "absent":
                    print("%s %s: %s" % (who, case, answer["error"]))
            table.append([case, common.count_text(size)] + cells + [answers.get("gpushim", {}).get("launches", "-")])
    common.print_table(["chain", "size"] + list(workers) + ["launches"], table)
    for worker in workers.values():
        worker.close()
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
