# SPDX-License-Identifier: Apache-2.0
"""GPUSHIM_LOG=decide: one line for each decision, which names the call, the verdict and the reason, as the report counts them."""
import collections
import re
import unittest

import shim_runner

SCRIPT = """
import sys, time
import numpy as np, numpy.random
from shim_script import residency
print("BEGIN", file=sys.stderr, flush=True)  # the report has the calls before in a row of their own, that of imports
rng = np.random.default_rng(0)
small, large = np.ones(20000, np.int8), rng.standard_normal((500, 500))
deadline = time.monotonic() + 30  # for the device to start, its libraries to open
calls = 0
while calls < 20 or time.monotonic() < deadline:
    total = small + small
    product = large @ large
    spectrum = np.fft.fft(large)
    calls += 1
    results = [spectrum, product] if PRODUCTS_ON_DEVICE else [spectrum]
    if calls >= 20 and all(residency(result) == "device" for result in results):
        break
    time.sleep(0.01)
print(np.isfinite(product).all(), np.isfinite(spectrum[0, 0]), total.shape)
"""
AUTO = {"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0", "GPUSHIM_LOG": "decide"}
PREFIX = "gpushim: decide: "
PRODUCTS_ON_DEVICE = shim_runner.DEVICE == "cuda"  # the host device multiplies with the same BLAS as NumPy
TIMES = ("host_ns", "modelled_ns", "device_ns", "upload_ns", "download_ns", "fetch_ns", "debt_ns", "gain_ns")


def decisions(stderr):
    """The lines as dictionaries."""
    lines = [line[len(PREFIX):] for line in stderr.splitlines() if line.startswith(PREFIX)]
    return [dict(pair.split("=", 1) for pair in line.split(" ")) for line in lines]


class TestDecisions(shim_runner.TestCase):
    def run_script(self, **env):
        script = SCRIPT.replace("PRODUCTS_ON_DEVICE", repr(PRODUCTS_ON_DEVICE))
        result = self.shim_run(script, env=dict(AUTO, **env))
        self.assertEqual(result.stdout, "True True (20000,)\n")
        return result, decisions(result.stderr.split("BEGIN\n")[-1])

    def of(self, lines, call):
        found = [line for line in lines if line["call"] == call]
        self.assertTrue(found, "no line of %s" % call)
        return found

    def assert_agrees(self, report, lines):
        """Of each operation that has lines: as many as the report has calls, by verdict and reason."""
        rows = {(row["name"].replace(" ", "_"), row["signature"] or "-"): row for row in report["operations"]}
        counts = collections.defaultdict(collections.Counter)
        for line in lines:
            counts[line["call"], line["signature"]][line["reason"]] += 1
        for names, reasons in counts.items():
            row = rows[names]
            self.assertEqual(reasons.pop("none", 0), row["device_calls"], names)
            self.assertEqual(dict(reasons), row["reasons"], names)

    def assert_is_complete(self, line):
        self.assertLessEqual({"call", "signature", "work", "elements", "device", "verdict", "reason"}, set(line))
        self.assertEqual(line["verdict"], "device" if line["reason"] == "none" else "host", line)
        self.assertIn(line["device"], ("idle", "starting", "ready"))
        self.assertRegex(line["reason"], r"^[a-z-]+$")
        for key in TIMES:
            self.assertRegex(line[key], r"^-?\d+$", key)
        host, _, device, _, download, fetch, _, gain = (int(line[key]) for key in TIMES)
        self.assertAlmostEqual(gain, host + download - device - fetch, delta=8)

    def test_by_facts(self):
        result, lines = self.run_script()
        self.assertTrue(lines)
        for line in lines:
            self.assert_is_complete(line)
        self.assert_agrees(result.report, lines)
        self.assertEqual({(line["verdict"], line["reason"]) for line in self.of(lines, "add")}, {("host", "too-small")})
        large = self.of(lines, "fft")
        self.assertIn("device", {line["verdict"] for line in large})
        for line in large:
            self.assertGreater(int(line["gain_ns"]), 0, line)
        if PRODUCTS_ON_DEVICE:
            self.assertIn("device", {line["verdict"] for line in self.of(lines, "matmul")})

    def test_an_option_sends_products(self):
        result, lines = self.run_script(GPUSHIM_MIN_FLOPS="1000000")
        products = self.of(lines, "matmul")
        self.assertGreaterEqual(len(products), 20)
        self.assertEqual({(line["verdict"], line["forced"]) for line in products}, {("device", "1")})
        self.assertIn("too-small", {line["reason"] for line in self.of(lines, "add")})
        self.assert_agrees(result.report, lines)

    def test_force_sends_all(self):
        result, lines = self.run_script(GPUSHIM_MODE="force")
        self.assertEqual({line["verdict"] for line in self.of(lines, "add") + self.of(lines, "matmul")}, {"device"})
        self.assert_agrees(result.report, lines)

    def test_other_levels_have_none(self):
        result, lines = self.run_script(GPUSHIM_MODE="force", GPUSHIM_FUSION="1", GPUSHIM_LOG="graph")
        self.assertEqual(lines, [])
        self.assertTrue(re.search("^gpushim: graph: ", result.stderr, re.M))


if __name__ == "__main__":
    unittest.main()
