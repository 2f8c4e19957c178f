# SPDX-License-Identifier: Apache-2.0
"""Draws of random numbers: plain NumPy beside gpushim, milliseconds for an array that stays where it was made, and whether the bits are
the same.

    .venv/bin/python bench/generator_draws.py [--size 1e8] [--cases random,standard_normal] [--generators PCG64,Philox] [--rounds 5]

Each process makes the same draws from the same seed, one after the other. Printed are medians, and "differs" where the values of the
last draw, or the state of the generator behind it, are not plain NumPy's.
"""
import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time

import common

CASES = {
    "random": lambda rng, n: rng.random(n),
    "random f4": lambda rng, n: rng.random(n, dtype="f4"),
    "uniform": lambda rng, n: rng.uniform(-1, 2, n),
    "standard_normal": lambda rng, n: rng.standard_normal(n),
    "standard_normal f4": lambda rng, n: rng.standard_normal(n, dtype="f4"),
    "normal": lambda rng, n: rng.normal(1, 2, n),
    "standard_exponential": lambda rng, n: rng.standard_exponential(n),
    "exponential": lambda rng, n: rng.exponential(0.5, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "integers 1000": lambda rng, n: rng.integers(0, 1000, n),
    "integers 1024": lambda rng, n: rng.integers(0, 1024, n),
    "integers 2^40": lambda rng, n: rng.integers(0, 2**40 + 1, n),
    "integers i4": lambda rng, n: rng.integers(-5, 100, n, dtype="i4"),
    "integers u1": lambda rng, n: rng.integers(0, 256, n, dtype="u1"),
}


def work(contender, options):
    for name in options.generators.split(","):
        for case in options.cases.split(","):
            rng = contender.xp.random.Generator(getattr(contender.xp.random, name)(1))
            spent = []
            for _ in range(options.rounds + 1):
                contender.synchronize()
                begin = time.perf_counter()
                values = CASES[case](rng, int(float(options.size)))
                contender.synchronize()
                spent.append(time.perf_counter() - begin)
            where = contender.residency(values)
            digest = hashlib.sha256(values.data).hexdigest() + str(rng.bit_generator.state)
            del values
            print(json.dumps([name, case, statistics.median(spent[1:]) * 1e3, where, digest]), flush=True)


def run(contender, environment, options):
    command = [sys.executable, __file__, "--worker", contender, "--size", options.size, "--cases", options.cases,
               "--generators", options.generators, "--rounds", str(options.rounds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker")
    parser.add_argument("--size", default="1e8")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--generators", default="PCG64,PCG64DXSM,Philox")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.worker:
        work(common.Contender(options.worker), options)
        return
    plain = run("numpy", common.without_the_shim(), options)
    shim = run("gpushim", common.under_the_shim(MODE="force"), options)
    print(common.machine())
    for (name, case, before, _, want), (_, _, after, where, got) in zip(plain, shim):
        print("%-10s %-22s plain %9.2f ms  gpushim %9.3f ms  x %7.1f  %s%s" % (
            name, case, before, after, before / after, "resident" if where == 3 else "on the host", "" if got == want else "  DIFFERS"))


if __name__ == "__main__":
    main()
