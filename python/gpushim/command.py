# SPDX-License-Identifier: Apache-2.0
"""The command `gpushim`. docs/user/command.md is its reference."""
import importlib
import os
import sys

from gpushim import bench_programs, command_run
from gpushim.files import MissingLibrary
from gpushim.launch import PYTHON_FILES
from gpushim.messages import complain
from gpushim.parsing import USAGE_ERROR, Parser, suggestion

# Each a module command_NAME with add_to(commands), which adds its parser, and execute(options), which returns the exit status. What
# needs a package besides Python's own is imported in execute.
SUBCOMMANDS = ("run", "bench", "verify", "advise", "report", "doctor", "kernel", "path", "clean")
# Commands with programs: what parts these from the options.
SPLITS = {"run": command_run.split, "bench": bench_programs.split, "verify": command_run.split, "advise": command_run.split}
BROKEN_PIPE = 141  # exit status, as a shell's of SIGPIPE


def make_parser():
    parser = Parser("gpushim", description="Runs unchanged NumPy programs on an NVIDIA GPU.", allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="command")
    for name in SUBCOMMANDS:
        importlib.import_module("gpushim.command_" + name).add_to(commands)
        commands.choices[name].set_defaults(parser=commands.choices[name])
    parser.subcommands = commands.choices
    return parser


def check_command(word, parser):
    """Ends with an error where the first word is neither a command nor an option."""
    if word.endswith(PYTHON_FILES):
        parser.error("a command is expected, not %s; did you mean gpushim run %s?" % (word, word))
    if not word.startswith("-") and word not in SUBCOMMANDS:
        parser.error("unknown command %s%s" % (word, suggestion(word, SUBCOMMANDS) or "; there are " + ", ".join(SUBCOMMANDS)))


def execute(parser, options):
    if options.version:
        import gpushim
        print("gpushim %s" % gpushim.__version__)
        return 0
    if options.command is None:
        parser.print_help(sys.stderr)
        return USAGE_ERROR
    return importlib.import_module("gpushim.command_" + options.command).execute(options)


def main(words=None):
    """The exit status."""
    words, program, parser = sys.argv[1:] if words is None else words, [], make_parser()
    if words:
        check_command(words[0], parser)
    try:
        if words and words[0] in SPLITS:  # the program's words are not options of ours
            given, program = SPLITS[words[0]](words[1:], parser.subcommands[words[0]])
            words = [words[0], *given]
        options, unknown = parser.parse_known_args(words)
        if unknown:
            getattr(options, "parser", parser).refuse(unknown)
        options.program = program
        status = execute(parser, options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # who reads has enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        complain("%s: %s" % (error.filename, error.strerror) if error.filename and error.strerror else error)
        return 1
    except (ValueError, MissingLibrary) as error:
        complain(error)
        return 1
