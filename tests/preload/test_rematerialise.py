# SPDX-License-Identifier: Apache-2.0
"""Rows by their own sums: softmax, normalisation, standardisation. What is stored only to be loaded again is computed
again where that is cheaper, and of two equal sums one is computed: the answers, their bits with and without, the warnings
of each call, and what the log says of the kernels.
"""
import re
import unittest

import shim_runner

HEAD = """
import warnings
import numpy as np
from shim_script import attempt, dump, on_device, synchronize
x = on_device(np.random.default_rng(1).normal(size=(1500, 1000))); synchronize()
def run(name, function, *arguments):
    synchronize()
    warnings.warn_explicit("== " + name, UserWarning, "", 0)
    result = function(*arguments)
    synchronize()
    dump(name, result)
"""

FUNCTIONS = """
def centred(x):
    t = x - x.max(1, keepdims=True)
    return t / np.sqrt((t * t).sum(1, keepdims=True))
def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
def tangents(x):
    e = np.tan(x * 0.1)
    return e / (e * e).sum(1, keepdims=True)
def layers(x):
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
def columns(x):
    return (x - x.mean(0)) / x.std(0)
def kept(x):
    t = x - x.max(1, keepdims=True)
    return t, t / (t * t).sum(1, keepdims=True)
def changed(x):
    t = x - x.max(1, keepdims=True)
    s = (t * t).sum(1, keepdims=True)
    x[::2] *= 0.5
    return t / s, x
def thrice(x):
    t = x - x.max(1, keepdims=True)
    s = (t * t).sum(1, keepdims=True)
    r = t / s
    return r, t * (r * r).sum(1, keepdims=True)
def inherited(x):
    y = x.cumsum(1)              # dies before the flush does, and its memory would do for v
    m = y.max(1, keepdims=True)
    t = y - m
    v = y + m
    return v, t / (t * v).sum(1, keepdims=True)
def sums(x):
    x[3] = 2
    s = x.sum(0)
    x[4] = 3
    t = x.sum(0)
    return s, t, x.sum(0), x.sum(0, initial=1.0), x.sum(1), x.T.sum(1)
for function in centred, softmax, tangents, layers, columns, kept, thrice, inherited, sums, changed:
    run(function.__name__, function, x)
"""

WARNINGS = HEAD + """
big = on_device(np.full(x.shape, 1e308)); synchronize()
def twice():
    return big.sum(0), big.sum(0), big.sum(0)
def products():
    t = big * x
    return t / (t * 1e-300).sum(1, keepdims=True)
def quiet():
    with np.errstate(over="ignore"):
        first = big.sum(1)
    return first, big.sum(1)
def loud():
    first = big.sum(1)
    with np.errstate(over="ignore"):
        return first, big.sum(1)
def raised():
    first = big.sum(0)
    with np.errstate(over="raise"):
        return first, big.sum(0)
def synchronized(function):
    result = function()
    synchronize()
    return result
for function in twice, products, quiet, loud, raised:
    attempt(function.__name__, synchronized, function)
"""


def kernels(result):
    """{name: the kernels of its run, as lists of operations}."""
    found, name = {}, None
    for line in result.stderr.splitlines():
        mark = re.search(r"UserWarning: == (\w+)", line)
        name = mark.group(1) if mark else name
        group = re.search(r"graph:   (?:group|alone): (.*)", line)
        if name and group:
            found.setdefault(name, []).append(group.group(1).split())
    return found


class TestRecompute(shim_runner.TestCase):
    ENV = {"GPUSHIM_FUSION": "1", "GPUSHIM_FEED_MS": "0", "GPUSHIM_BACKGROUND": "0", "GPUSHIM_LOG": "graph"}

    def check(self, script, **env):
        return self.assert_same(script, env=dict(self.ENV, **env), rtol=1e-12, atol=1e-12)

    def test_kernels(self):
        found = kernels(self.check(HEAD + FUNCTIONS))
        self.assertEqual(found["centred"], [["max"], ["subtract", "multiply", "sum"], ["sqrt"], ["subtract", "divide"]])
        again = shim_runner.DEVICE == "cuda"  # where an exponential is cheaper than its bytes
        self.assertEqual(found["softmax"][-1], ["subtract", "exp", "divide"] if again else ["divide"])
        self.assertEqual(found["tangents"][-1], ["divide"])
        self.assertEqual(found["thrice"][-2:], [["subtract", "divide", "multiply", "sum"], ["subtract", "multiply"]])
        self.assertEqual(found["inherited"][-2:], [["subtract", "add", "multiply", "sum"], ["subtract", "divide"]])
        self.assertEqual(found["kept"][-1], ["divide"])
        self.assertEqual(found["changed"][-1], ["divide"])
        self.assertEqual([kernel.count("sum") for kernel in found["columns"]].count(1), 2)
        self.assertIn("copy", sum(found["columns"], []))
        self.assertEqual(sum(found["sums"], []).count("sum"), 4)

    def test_bits_are_those_of_single_calls(self):
        fused = self.check(HEAD + FUNCTIONS)
        single = self.check(HEAD + FUNCTIONS, GPUSHIM_FUSION="0")
        self.assert_equal_values(fused, single)

    def test_each_call_warns(self):
        for fusion in "01":
            with self.subTest(fusion=fusion):
                self.check(WARNINGS, GPUSHIM_FUSION=fusion)


if __name__ == "__main__":
    unittest.main()
