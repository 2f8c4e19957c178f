# SPDX-License-Identifier: Apache-2.0
"""Options of subcommands and the variables that they set; needs no package."""
import argparse
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from gpushim import command, command_run, variables


def parse(*words):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    variables.add_options(parser)
    return parser.parse_args(words).variables


class TestReport(unittest.TestCase):
    def test_reports_are_those_of_run_and_kernel(self):
        """Other commands read the report themselves."""
        for name, unknown in (("run", []), ("verify", ["--report", "--line-profile"]), ("doctor", ["--report", "--line-profile"])):
            self.assertEqual(command.make_parser().parse_known_args([name, "--report", "--line-profile"])[1], unknown, name)

    def test_words_of_the_report(self):
        self.assertEqual(parse("--report"), {"GPUSHIM_REPORT": "1"})
        self.assertEqual(parse("--line-profile"), {"GPUSHIM_REPORT": "lines"})
        self.assertEqual(parse("--report", "--line-profile"), {"GPUSHIM_REPORT": "1,lines"})
        self.assertEqual(parse("--line-profile", "--report"), {"GPUSHIM_REPORT": "lines,1"})
        self.assertEqual(parse("--set", "REPORT=json:a.json", "--line-profile"), {"GPUSHIM_REPORT": "json:a.json,lines"})

    def test_the_program_begins_behind_the_options(self):
        self.assertEqual(command_run.split(["--line-profile", "a.py", "--report"]), (["--line-profile"], ["a.py", "--report"]))


if __name__ == "__main__":
    unittest.main()
