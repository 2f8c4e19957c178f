# SPDX-License-Identifier: Apache-2.0
"""docs/user/coverage.md says what this library does with this NumPy."""
import os
import re
import unittest

import numpy as np

import coverage_table

LIBRARY = os.path.abspath(os.environ.get("GPUSHIM_LIBRARY") or
                          os.path.join(coverage_table.ROOT, "build", "libgpushim.so"))
DEVICE = os.environ.get("GPUSHIM_DEVICE") or "host"
LEAST_SUPPORTED = 0.98


class TestCoverage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = coverage_table.measure_in_process(LIBRARY, DEVICE)

    def test_nearly_all_pairs_are_supported(self):
        supported, pairs, _, _ = coverage_table.totals(self.table)
        self.assertGreater(pairs, 800)
        self.assertGreaterEqual(supported / pairs, LEAST_SUPPORTED)

    def test_document_is_up_to_date(self):
        if int(np.__version__.split(".")[0]) < 2:
            self.skipTest("the document is about NumPy 2")
        if DEVICE != "host":
            self.skipTest("the document is about the host device")
        with open(os.path.join(coverage_table.ROOT, "docs", "user", "coverage.md"), encoding="utf-8") as stream:
            written = stream.read().split("\n## Functions on resident arrays", 1)[0]
        now = coverage_table.document(self.table)
        self.assertEqual(*[dict(re.findall(r"^\| (\w+) (\|.*)$", text, re.M)) for text in (now, written)],
                         "run `make docs`")


if __name__ == "__main__":
    unittest.main()
