# SPDX-License-Identifier: Apache-2.0
"""Options of subcommands and the variables that they set; needs no package."""
import contextlib
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import gpushim
from gpushim import bench_programs, command, command_run, launch, parsing, variables


def parse(*words):
    parser = parsing.Parser("gpushim", allow_abbrev=False)
    variables.add_options(parser)
    return parser.parse_args(words).variables


def refusal(function, *words):
    """What a wrong usage prints on stderr."""
    error = io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.suppress(SystemExit):
        raise AssertionError("%s is taken: %s" % (words, function(*words)))
    return error.getvalue()


def run_command(*words):
    return command.main(list(words))


class TestWrongWords(unittest.TestCase):
    def test_names(self):
        """One line, which names the wrong word alone, and what is near."""
        for words, told in ((("run", "--reprot", "a.py"), "gpushim run: unknown option --reprot; did you mean --report?"),
                            (("run", "--devise=host", "a.py"), "gpushim run: unknown option --devise; did you mean --device?"),
                            (("bench", "--rnus", "3", "a.py"), "gpushim bench: unknown option --rnus; did you mean --runs?"),
                            (("kernel", "install", "--naem", "x"), "gpushim kernel install: unknown option --naem; did you mean --name?"),
                            (("run", "--qqq", "a.py"), "gpushim run: unknown option --qqq"),
                            (("runn", "a.py"), "gpushim: unknown command runn; did you mean run?"),
                            (("a.py",), "gpushim: a command is expected, not a.py; did you mean gpushim run a.py?"),
                            (("path", "x"), "gpushim path: unknown word x")):
            self.assertEqual(refusal(run_command, *words), told + "\n")
        self.assertIn("run, bench, verify", refusal(run_command, "zzz"))

    def test_values(self):
        choices = "gpushim: --device: auto, cuda, host, none or cpu is expected, not "
        self.assertEqual(refusal(parse, "--device", "hots"), choices + "hots; did you mean host?\n")
        self.assertEqual(refusal(parse, "--device", "foo"), choices + "foo\n")
        self.assertEqual(refusal(parse, "--device", "GPU"), choices + "GPU; did you mean cuda?\n")
        self.assertEqual(refusal(parse, "--set", "MODE=atuo"), "gpushim: --set: auto, force or off is expected, not atuo; did you mean auto?\n")
        self.assertEqual(parse("--device", "Host", "--mode", "ON"), {"GPUSHIM_DEVICE": "Host", "GPUSHIM_MODE": "ON"})


    def test_values_of_the_commands_own_options(self):
        for words, told in ((("advise", "--gpu", "h20", "a.py"), r"advise: argument --gpu: h200, .* or rtx4090 is expected, not h20; did you mean h200\?"),
                            (("kernel", "instal"), r"kernel: argument .*: install or uninstall is expected, not instal; did you mean install\?"),
                            (("bench", "--runs", "0", "a.py"), "bench: argument --runs: a whole number from 1 on is expected, not 0"),
                            (("bench", "--min-speedup", "x", "a.py"), "bench: argument --min-speedup: a number from 0 on is expected, not x"),
                            (("bench", "--require-gpu", "101%", "a.py"), "bench: argument --require-gpu: a percentage up to 100%, as 50%, is expected, "
                             "not 101%"),
                            (("run",), "run: a script, -m with a module, or a program is expected")):
            self.assertRegex(refusal(run_command, *words), "^gpushim %s\n$" % told)
        self.assertEqual(command.make_parser().parse_args(["advise", "--gpu", "H200"]).gpu, "h200")

    def test_ends_in_words(self):
        self.assertEqual([launch.end_in_words(code) for code in (0, 3, -15, -99)], ["status 0", "status 3", "signal SIGTERM", "signal 99"])

    def test_names_of_the_module(self):
        self.assertLessEqual({*gpushim.__all__, "__version__"}, set(dir(gpushim)))


class TestReport(unittest.TestCase):
    def test_reports_are_those_of_run_and_kernel(self):
        """Other commands read the report themselves."""
        for name, unknown in (("run", []), ("verify", ["--report", "--line-profile"]), ("doctor", ["--report", "--line-profile"])):
            self.assertEqual(command.make_parser().parse_known_args([name, "--report", "--line-profile"])[1], unknown, name)

    def test_words_of_the_report(self):
        self.assertEqual(parse("--report"), {"GPUSHIM_REPORT": "1"})
        self.assertEqual(parse("--line-profile"), {"GPUSHIM_REPORT": "lines"})
        self.assertEqual(parse("--report", "--line-profile"), {"GPUSHIM_REPORT": "1,lines"})
        self.assertEqual(parse("--line-profile", "--report"), {"GPUSHIM_REPORT": "1,lines"})
        for words in (("--set", "REPORT=json:a.json", "--line-profile"), ("--line-profile", "--set", "REPORT=json:a.json"),
                      ("--set", "REPORT=lines,json:a.json", "--set", "REPORT=json:a.json")):
            self.assertEqual(parse(*words), {"GPUSHIM_REPORT": "json:a.json,lines"}, words)
        self.assertEqual(parse("--report", "--report"), {"GPUSHIM_REPORT": "1"})

    def test_reports_that_exclude_each_other(self):
        self.assertEqual(refusal(parse, "--set", "REPORT=json:a.json", "--report"),
                         "gpushim: --report: GPUSHIM_REPORT cannot be both json:a.json and 1\n")
        self.assertIn("both 1 and dir:d", refusal(parse, "--report", "--set", "REPORT=dir:d"))

    def test_report_that_the_library_does_not_read(self):
        self.assertEqual(refusal(parse, "--set", "REPORT=lnies"), "gpushim: --set: 0, 1, lines, json:FILE or dir:DIR is expected for the "
                         "report, not lnies; did you mean lines?\n")

    def test_the_program_begins_behind_the_options(self):
        parser = command.make_parser().subcommands["run"]
        self.assertEqual(command_run.split(["--line-profile", "a.py", "--report"], parser), (["--line-profile"], ["a.py", "--report"]))


class TestPrograms(unittest.TestCase):
    """Which words of `gpushim bench` are programs, and which options."""

    def split(self, *words):
        return bench_programs.split(list(words), command.make_parser().subcommands["bench"])

    def test_scripts_are_programs_of_their_own(self):
        self.assertEqual(self.split("a.py", "b.py"), ([], [["a.py"], ["b.py"]]))
        self.assertEqual(self.split("--runs", "3", "a.py", "b.py", "--json", "f", "--quiet", "c.py"),
                         (["--runs", "3", "--json", "f", "--quiet"], [["a.py"], ["b.py"], ["c.py"]]))
        self.assertEqual(self.split("a.py", "--json=f"), (["--json=f"], [["a.py"]]))

    def test_arguments(self):
        self.assertEqual(self.split("a.py", "3", "--json", "f", "--", "b.py", "--size", "5"),
                         ([], [["a.py", "3", "--json", "f"], ["b.py", "--size", "5"]]))
        self.assertEqual(self.split("a.py --n '3 4'", "b.py", "--runs", "2"), (["--runs", "2"], [["a.py", "--n", "3 4"], ["b.py"]]))
        self.assertEqual(self.split("--quiet", "--", "-m", "module", "--json", "f"), (["--quiet"], [["-m", "module", "--json", "f"]]))
        self.assertEqual(self.split("python", "a.py", "b.py"), ([], [["python", "a.py", "b.py"]]))

    def test_words_that_belong_to_nothing(self):
        self.assertEqual(refusal(self.split, "a.py", "b.py", "3"), "gpushim bench: 3 behind programs of their own: a script is quoted with "
                         "its arguments, as 'b.py 3'\n")
        self.assertIn("as 'script.py x'", refusal(self.split, "a.py", "--runs", "3", "x"))


if __name__ == "__main__":
    unittest.main()
