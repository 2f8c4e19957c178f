# SPDX-License-Identifier: Apache-2.0
"""GPUSHIM_DECISIONS=FILE: a JSON object for each decision, as the text log and the report have them, with all the numbers of which
it was made: replay_decisions (bench/replay_decisions.c) comes to the same facts and verdicts. decisions.jsonl is the log of a
script on the device host."""
import collections
import json
import os
import re
import subprocess
import tempfile
import unittest

import shim_runner
from test_decisions import decisions as text_decisions

REPLAY = os.path.join(os.path.dirname(shim_runner.LIBRARY), "replay_decisions")
LOG = os.path.join(shim_runner.HERE, "decisions.jsonl")
SCRIPT = '''
import os, sys, time
import numpy as np
from shim_script import residency
large = np.random.default_rng(0).standard_normal((500, 500))
a = np.abs(large) + 1.0
deadline = time.monotonic() + 30  # for the device to start
for i in range(10000):
    spectrum = np.fft.fft(a)
    b = np.sqrt(a) * 2.0
    b[:] = a
    total = float((b + a).sum())
    product = a[:300] @ a[:, :200]
    a.T.reshape(-1)
    if i >= 20 and (residency(spectrum) == "device" or time.monotonic() > deadline):
        break
if "fork" in sys.argv:
    child = os.fork()
    if child == 0:
        np.sqrt(a)
        sys.exit(0)
    os.waitpid(child, 0)
'''

CALLS_OF_LOOP = {"add", "assign", "fft", "matmul", "multiply", "reshape", "sqrt", "sum"}


def replay(*arguments):
    """{name: number} of what replay_decisions prints."""
    done = subprocess.run([REPLAY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    sums = (re.match(r"\s*(\S.*?)\s{2,}(\S+)( s)?$", line) for line in done.stdout.splitlines())
    return {match.group(1): float(match.group(2)) for match in sums if match}


def read(path):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


class TestDecisionFile(shim_runner.TestCase):
    def run_script(self, folder, args=(), **env):
        env = dict({"GPUSHIM_MODE": "auto", "GPUSHIM_START_MS": "0"}, GPUSHIM_DECISIONS=folder + "/log.%p", **env)
        result = self.shim_run(SCRIPT, env=env, args=args)
        self.assertEqual(result.returncode, 0, result)
        return result, [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def test_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            result, files = self.run_script(folder, GPUSHIM_LOG="decide")
            self.assertEqual(len(files), 1)
            self.assertTrue(files[0].endswith(".%d" % result.report["pid"]))
            lines = read(files[0])
        made = [line for line in lines if "decision" in line]
        self.assertEqual([line["decision"] for line in made], list(range(1, len(made) + 1)))
        self.assertLessEqual({"version", "pid", "backend", "rates"}, set(lines[0]))
        text = text_decisions(result.stderr)
        self.assertEqual([(line["call"].replace(" ", "_") or "-", line["verdict"], line["reason"]) for line in made],
                         [(line["call"], line["verdict"], line["reason"]) for line in text])
        for line, words in zip(made, text):
            for key in ("host", "device", "upload", "download", "fetch", "debt"):
                self.assertAlmostEqual(line["facts"][key] * 1e9, int(words[key + "_ns"]), delta=1.5)
        self.assertEqual({line["verdict"] for line in made}, {"device", "host"})
        self.assertEqual({(line["kind"], line["op"], line["loop"], line["elements"]) for line in made if line["call"] == "sqrt"},
                         {("elementwise", "sqrt", "float64", 250000)})

    def test_measured(self):
        """Each call that is left to the CPU, as often as the report has it."""
        with tempfile.TemporaryDirectory() as folder:
            result, files = self.run_script(folder)
            lines = read(files[0])
        left = {line["decision"]: line["call"] for line in lines if line.get("verdict") == "host"}
        measured = collections.Counter(left[line["measured"]] for line in lines if "measured" in line)
        self.assertGreater(measured["sqrt"], 0)
        for line in lines:
            self.assertLess(0, line.get("seconds", 1))
        calls = collections.Counter(left.values())
        for call, number in measured.items():
            self.assertEqual(number, calls[call], call)

    def test_shares(self):
        """What the CPU reaches of the rate of products: einsum without BLAS, and LAPACK on small matrices, little of it."""
        script = """
import numpy as np
a = np.random.default_rng(0).standard_normal((60, 60, 60)) + 60 * np.eye(60)
a @ a
np.einsum("bij,bjk->bik", a, a)
np.linalg.inv(a)
np.linalg.inv(a.reshape(-1, 6, 6) + np.eye(6))
"""
        with tempfile.TemporaryDirectory() as folder:
            self.shim_run(script, env={"GPUSHIM_MODE": "auto", "GPUSHIM_DECISIONS": folder + "/log"})
            lines = read(folder + "/log")
        shares = [(line["call"], line["work"]["host_share"]) for line in lines if line.get("call") in ("matmul", "einsum", "inv")]
        self.assertEqual([name for name, _ in shares], ["matmul", "einsum", "inv", "inv"])
        product, einsum, larger, smaller = (share for _, share in shares)
        self.assertEqual(product, 1)
        self.assertLess(einsum, 0.5)
        self.assertAlmostEqual(larger, 10 * smaller)

    def test_replay(self):
        """The log has all that the verdicts were made of."""
        with tempfile.TemporaryDirectory() as folder:
            _, files = self.run_script(folder)
            made = [line for line in read(files[0]) if "decision" in line]
            sums = replay(files[0])
            others = replay(files[0], "--rate", "device_memory=1e15", "--rate", "device_call=0")
        self.assertEqual(sums["decisions"] + sums["without a price"], len(made))
        self.assertGreater(sums["decisions"], 100)
        self.assertEqual((sums["facts other than logged"], sums["verdicts other than logged"]), (0, 0), sums)
        self.assertEqual(others["facts other than logged"], 0)
        self.assertLess(others["predicted, these verdicts"], sums["predicted, these verdicts"])
        if shim_runner.DEVICE == "host":
            self.assertGreater(others["to the device"], 0)

    def test_child_and_force(self):
        with tempfile.TemporaryDirectory() as folder:
            result, files = self.run_script(folder, args=("fork",), GPUSHIM_MODE="force")
            self.assertEqual(len(files), 1)
            made = [line for line in read(files[0]) if "decision" in line]
            self.assertEqual({(line["forced"], line["verdict"]) for line in made}, {(1, "device")})
            self.assertEqual(replay(files[0])["without a price"], len(made))
        calls = collections.Counter(line["call"] for line in made)  # of imports, too, which the report gathers in one row
        for name in CALLS_OF_LOOP:
            self.assertGreaterEqual(calls[name], shim_runner.device_calls(result.report, name), name)
            self.assertGreaterEqual(shim_runner.device_calls(result.report, name), 21, name)
        self.assertLessEqual(len(made), sum(row["device_calls"] for row in result.report["operations"]))  # elements are moved, not decided

    def test_file_that_cannot_be_written(self):
        result = self.shim_run(SCRIPT, env={"GPUSHIM_DECISIONS": "/proc/none/log"})
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("cannot write decisions to /proc/none/log"), 1, result)


class TestReplay(unittest.TestCase):
    def test_same_rates(self):
        sums = replay(LOG)
        self.assertEqual([sums[name] for name in ("decisions", "without a price", "facts other than logged",
                                                  "verdicts other than logged", "measured on the CPU")], [6, 0, 0, 0, 5])
        facts = [line["facts"] for line in read(LOG) if "facts" in line]
        best = [min(fact["host"], fact["device"]) for fact in facts]
        paid = [fact["device"] + fact["upload"] if line == "none" else fact["host"] for fact, line in
                zip(facts, (line["rule"] for line in read(LOG) if "facts" in line))]
        self.assertAlmostEqual(sums["predicted, these verdicts"], sum(paid), delta=1e-8)
        self.assertAlmostEqual(sums["regret, moves ignored"], sum(paid) - sum(best), delta=1e-8)
        self.assertAlmostEqual(sums["regret, uploads less debts"], 0, delta=1e-8)

    def test_other_rates(self):
        """A slow bus keeps the transform on the CPU, a fast device takes the products."""
        slow = replay(LOG, "--rate", "transfer_pageable=1e8")
        self.assertEqual((slow["to the device"], slow["to the CPU"]), (0, 1))
        fast = replay(LOG, "--rate", "device_flops[1]=1e13", "--rate", "device_memory=1e12")
        self.assertGreaterEqual(fast["to the device"], 1)
        self.assertEqual(fast["to the CPU"], 0)

    def test_rules(self):
        self.assertEqual(replay(LOG, "--rule", "host")["to the CPU"], 1)
        self.assertEqual(replay(LOG, "--rule", "device")["to the device"], 5)
        self.assertGreater(replay(LOG, "--rule", "device")["regret, moves ignored"], replay(LOG)["regret, moves ignored"])

    def test_two_logs(self):
        self.assertEqual(replay(LOG, LOG)["decisions"], 12)

    def test_arguments(self):
        for arguments in ([], ["--rate", "x=1", LOG], ["--rule", "none", LOG], ["/none"]):
            done = subprocess.run([REPLAY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)


if __name__ == "__main__":
    unittest.main()
