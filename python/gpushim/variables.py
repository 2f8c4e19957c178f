# SPDX-License-Identifier: Apache-2.0
"""Options of subcommands that stand for the library's: each sets GPUSHIM_NAME in options.variables."""
import argparse
import re

from gpushim.launch import OFF, ON
from gpushim.parsing import alternatives, suggestion

PREFIX = "GPUSHIM_"
REPORT = PREFIX + "REPORT"
# The words of options that have no other values; in any case.
WORDS = {PREFIX + "DEVICE": ("auto", "cuda", "host", "none", "cpu"), PREFIX + "MODE": ("auto", "force", "off")}
MEANT = {"gpu": "cuda"}  # not cpu, though that is one letter off
REPORTS = ("0", "1", "lines", "json:FILE", "dir:DIR")
IS_REPORT = re.compile("(json|dir):.|(%s)?$" % "|".join(ON + OFF), re.I | re.S)  # without the word "lines"


def check_word(parser, option, name, value):
    """Ends with an error where the variable has words, and the value is none of them."""
    words = WORDS.get(name, ())
    if words and value and value.lower() not in words + ON + OFF:
        parser.error("%s: %s is expected, not %s%s" % (option, alternatives(words), value, suggestion(MEANT.get(value.lower(), value.lower()), words)))


def split_report(value):
    """(where the report goes, whether the word "lines" stands before or behind it) of GPUSHIM_REPORT's value."""
    words = value.split(",")
    if words[0] == "lines":
        return ",".join(words[1:]), True
    return (",".join(words[:-1]), True) if words[-1] == "lines" else (value, False)


def join_reports(parser, option, there, given):
    """GPUSHIM_REPORT's value for both; ends with an error where the library would not read it."""
    (place, has_lines), (other, adds_lines) = split_report(there), split_report(given)
    if not IS_REPORT.match(other):
        parser.error("%s: %s is expected for the report, not %s%s" % (option, alternatives(REPORTS), given, suggestion(given, REPORTS[2:3])))
    if place and other and place != other:
        parser.error("%s: GPUSHIM_REPORT cannot be both %s and %s" % (option, place, other))
    return ",".join(filter(None, (place or other, "lines" * (has_lines or adds_lines))))


def set_variable(parser, option, variables, name, value):
    check_word(parser, option, name, value)
    variables[name] = join_reports(parser, option, variables.get(name, ""), value) if name == REPORT else value


class Pair(argparse.Action):
    """--set NAME=VALUE: a variable of the library's, with or without its prefix."""

    def __call__(self, parser, namespace, value, option=None):
        name, equals, text = value.partition("=")
        if not name or not equals:
            parser.error("%s: NAME=VALUE is expected, not %r" % (option, value))
        set_variable(parser, option, namespace.variables, name if name.startswith(PREFIX) else PREFIX + name, text)


class Variable(argparse.Action):
    """An option that stands for the variable of its name."""

    def __call__(self, parser, namespace, value, option=None):
        set_variable(parser, option, namespace.variables, PREFIX + self.dest.upper(), value)


class Report(argparse.Action):
    """A word of GPUSHIM_REPORT's list, which may be given beside others."""

    def __call__(self, parser, namespace, _value, option=None):
        set_variable(parser, option, namespace.variables, REPORT, self.const)


def add_options(parser, report=True):
    parser.set_defaults(variables={})
    if report:
        parser.add_argument("--report", action=Report, nargs=0, const="1", help="print on stderr at exit which calls ran where, and why")
        parser.add_argument("--line-profile", action=Report, nargs=0, const="lines",
                            help="the report, and what each line of the program cost: transfers, faults, reasons, and what to change")
    parser.add_argument("--trace", action=Variable, metavar="FILE", help="write what happened when, for Perfetto (GPUSHIM_TRACE)")
    parser.add_argument("--mode", action=Variable, help="auto, force or off (GPUSHIM_MODE)")
    parser.add_argument("--device", action=Variable, help="auto, cuda, host, none or cpu (GPUSHIM_DEVICE)")
    parser.add_argument("--set", action=Pair, metavar="NAME=VALUE", help="any other option: GPUSHIM_NAME=VALUE; may be repeated")
