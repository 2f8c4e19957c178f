# SPDX-License-Identifier: Apache-2.0
"""Options of subcommands that stand for the library's: each sets GPUSHIM_NAME in options.variables."""
import argparse

PREFIX = "GPUSHIM_"


class Pair(argparse.Action):
    """--set NAME=VALUE: a variable of the library's, with or without its prefix."""

    def __call__(self, parser, namespace, value, option=None):
        name, equals, text = value.partition("=")
        if not name or not equals:
            parser.error("%s: NAME=VALUE is expected, not %r" % (option, value))
        namespace.variables[name if name.startswith(PREFIX) else PREFIX + name] = text


class Variable(argparse.Action):
    """An option that stands for the variable of its name."""

    def __call__(self, _parser, namespace, value, option=None):
        namespace.variables[PREFIX + self.dest.upper()] = value if self.nargs != 0 else "1"


class Report(argparse.Action):
    """A word of GPUSHIM_REPORT's list, which may be given beside others."""

    def __call__(self, _parser, namespace, _value, option=None):
        name = PREFIX + "REPORT"
        words = [word for word in namespace.variables.get(name, "").split(",") if word]
        namespace.variables[name] = ",".join(words + [self.const])


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
