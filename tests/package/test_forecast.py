# SPDX-License-Identifier: Apache-2.0
"""The sums of forecast.py and the advice of advice.py, from reports that are written here. Needs no library and no wheel."""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))
from gpushim import advice, forecast  # noqa: E402

MS = 1_000_000  # ns


def entry(kind, ms, calls=10, line=5, name="sqrt", reason="", size=0):
    return {"file": "model.py", "line": line, "name": name, "signature": "", "kind": kind, "reason": reason,
            "calls": calls, "ns": int(ms * MS), "bytes": size}


def report(*lines, kernels_ms=0.0, launches=0, transfers_ms=0.0):
    return {"advice_lines": list(lines), "counters": {"upload_bytes": 0, "download_bytes": 0, "device_peak_bytes": 0},
            "forecast": {"gpu": "NVIDIA H100 SXM", "memory_bytes": 80e9, "start_ns": 400 * MS, "kernels_ns": kernels_ms * MS,
                         "launches": launches, "uploads_ns": transfers_ms * MS, "downloads_ns": 0, "locks_ns": 0}}


class TestForecast(unittest.TestCase):
    def test_parts(self):
        """2 s, of which 1.6 s are 10 calls of NumPy's that move, and 0.1 s calls that stay."""
        measured = report(entry("host", 1600), entry("host", 100, name="add", reason="dtype"))
        emulated = report(entry("device", 1000), entry("host", 100, name="add", reason="dtype"), kernels_ms=20, launches=5,
                          transfers_ms=30)
        result = forecast.forecast(measured, emulated, 2.0)
        for key, number in (("numpy", 1.7), ("moved", 1.6)):
            self.assertAlmostEqual(result[key], number)
        for part, number in (("python", 0.3), ("numpy", 0.1), ("kernels", 0.02), ("transfers", 0.03),
                             ("calls", 10 * forecast.RECORD + 5 * forecast.SUBMIT), ("start", 0.4)):
            self.assertAlmostEqual(result["parts"][part], number, msg=part)
        self.assertAlmostEqual(result["steady"], 0.45, delta=0.001)
        gain = 1.55 / 2
        self.assertAlmostEqual(result["first"], 2 - (2 - 0.4 - 0.1 / gain) * gain + forecast.DRIVER_END, delta=0.001)
        self.assertAlmostEqual(result["next"], 2 - (2 - 0.4) * gain + forecast.DRIVER_END, delta=0.001)
        self.assertRegex(forecast.verdict(result), r"about 0\.98 s instead of 2\.00 s: 2\.0 times as fast; 94 % of")

    def test_calls_that_stay_on_the_emulated_device(self):
        """Of 10 calls with 1 s, 0.4 s stay there."""
        measured, emulated = report(entry("host", 1000)), report(entry("device", 0, calls=6), entry("host", 400, calls=4))
        self.assertAlmostEqual(forecast.forecast(measured, emulated, 2.0)["moved"], 0.6)

    def test_calls_that_are_not_measured(self):
        """Assignments: the model's seconds, three times at most, and no more than the line took."""
        emulated = report(entry("device", 100, name="assign"))
        for sampled, moved in ((1000, 0.3), (200, 0.2 - 10 * forecast.PYTHON), (0, 0)):
            measured = report(entry("sample", sampled, name="other"))
            self.assertAlmostEqual(forecast.forecast(measured, emulated, 2.0)["moved"], moved, msg=sampled)

    def test_memory_given_back(self):
        """Beside 0.2 s of calls, half of that at most."""
        measured = report(entry("host", 200), entry("sample", 1000, name="other"))
        self.assertAlmostEqual(forecast.forecast(measured, report(entry("device", 100)), 2.0)["moved"], 0.3)

    def test_short_run(self):
        """The GPU is not started for it."""
        result = forecast.forecast(report(entry("host", 200)), report(entry("device", 200, calls=2), launches=1), 0.3)
        self.assertEqual((result["first"], result["next"]), (0.3, 0.3))
        self.assertRegex("\n".join(forecast.describe(result)), r"2 calls handed over\n.* 1 launch\n")
        self.assertIn("as long as here, 0.30 s: the GPU would gain 0.20 s, and starts in 0.40 s", forecast.verdict(result))

    def test_memory(self):
        emulated = report(entry("device", 1))
        emulated["counters"]["device_peak_bytes"] = int(90e9)
        self.assertIn("(90.0 GB) do not fit", forecast.verdict(forecast.forecast(report(), emulated, 1.0)))

    def test_nothing(self):
        result = forecast.forecast(report(), report(), 1.0)
        self.assertEqual((result["moved"], result["steady"], result["first"]), (0, 1.0, 1.0))

    def test_seconds(self):
        self.assertEqual([forecast.seconds(number) for number in (0.00004, 0.0042, 0.0996, 0.5, 12.34)],
                         ["0.0 ms", "4.2 ms", "100 ms", "0.50 s", "12.3 s"])


class TestAdvice(unittest.TestCase):
    def codes(self, measured, emulated):
        return [(row["line"], row["code"]) for row in advice.advise(report(*measured), report(*emulated), 1.0)]

    def test_transfers(self):
        self.assertEqual(self.codes([], [entry("upload", 20, size=8 << 20), entry("download", 30, line=6, size=8 << 20),
                                         entry("small", 10, line=7, size=80)]),
                         [(6, "download"), (5, "upload"), (7, "element")])

    def test_one_upload_is_no_ping_pong(self):
        self.assertEqual(self.codes([], [entry("upload", 20, calls=1, size=8 << 20)]), [])

    def test_python(self):
        """What samples have beyond measured calls; a small rest is the samples' own."""
        self.assertEqual(self.codes([entry("sample", 100), entry("host", 20)], []), [(5, "python")])
        self.assertEqual(self.codes([entry("sample", 100), entry("host", 90)], []), [])

    def test_small_steps_take_pythons_time(self):
        rows = advice.advise(report(entry("sample", 100), entry("host", 20)), report(entry("host", 20, reason="too-small")), 1.0)
        self.assertEqual([(row["code"], round(row["cost"], 6)) for row in rows], [("too-small", 0.1)])

    def test_a_reader_takes_pythons_time(self):
        self.assertEqual(self.codes([entry("sample", 100)], [entry("download", 30, size=8 << 20)]), [(5, "download")])

    def test_a_call_beside_pythons_time(self):
        rows = advice.advise(report(entry("sample", 100), entry("host", 2)), report(entry("host", 2, reason="dtype")), 1.0)
        self.assertEqual([(row["code"], round(row["cost"], 6)) for row in rows], [("python", 0.1)])

    def test_order_and_number(self):
        lines = [entry("host", 10 + line, line=line, reason="dtype") for line in range(1, 15)]
        self.assertEqual(self.codes([], lines), [(line, "dtype") for line in range(14, 4, -1)])

    def test_others_code_and_trifles(self):
        self.assertEqual(self.codes([], [entry("host", 100, reason="dtype", line=0), entry("host", 0.5, line=6, reason="dtype")]),
                         [])

    def test_code_without_a_line(self):
        """Such of no file, and numbers beyond the file's lines."""
        places = (("<string>", 1), ("<frozen runpy>", 5), ("model.py", 4294967295), (os.path.abspath(__file__), 100000), ("model.py", 9))
        lines = [dict(entry("host", 100, reason="dtype", line=number), file=file) for file, number in places]
        self.assertEqual(self.codes([], lines), [(9, "dtype")])

    def test_float64_on_a_gpu_that_is_slow_at_it(self):
        for gpu, signature, told in (("NVIDIA L4", "dd->d", True), ("NVIDIA L4", "ff->f", False), ("NVIDIA H100 SXM", "dd->d", False)):
            emulated = report(dict(entry("host", 100, reason="no-gain"), signature=signature))
            emulated["forecast"]["gpu"] = gpu
            row = advice.advise(report(), emulated, 1.0)[0]
            self.assertEqual((row["code"], "float32" in row["instead"]), ("no-gain", told), row)

    def test_gpus_that_are_slow_at_float64(self):
        """Those of the library whose products of float64 have less than an eighth of the rate of float32."""
        with open(os.path.join(ROOT, "offload", "cuda", "cuda_named.c"), encoding="utf-8") as file:
            rows = re.findall(r'^    \{"[^"]+", "([^"]+)", [^{]*\{([^,]+), ([^}]+)\}', file.read(), re.M)
        self.assertEqual({name for name, single, double in rows if float(double) < float(single) / 8}, set(advice.SLOW_AT_FLOAT64))

    def test_numbers_of_one(self):
        row = advice.advise(report(), report(entry("host", 100, calls=1, reason="dtype")), 1.0)[0]
        self.assertTrue(row["what"].endswith("(1 call)"), row)

    def test_functions(self):
        for source, code in (("x = np.loadtxt(y)", "unknown-function"), ("x = rng.random(5)", "unknown-function"),
                             ("x = reinterp(y)", "python"), ("for x in y:", "python"),
                             ("print(total)", "output"), ('line = f"{x:.3f}"', "output"), ("s = '{}'.format(x)", "output"), ("blueprint(x)", "python")):
            self.assertEqual(advice.problem_of_python(source, 1.0).code, code, source)


if __name__ == "__main__":
    unittest.main()
