# SPDX-License-Identifier: Apache-2.0
"""The command `gpushim`. docs/user/command.md is its reference."""
import argparse
import contextlib
import os
import re
import subprocess
import sys

from gpushim import cleaning, files, launch

PREFIX = "GPUSHIM_"
DOCTOR_PROGRAM = """
import sys
try:
    import numpy
except ImportError as error:
    sys.exit("gpushim: NumPy cannot be imported: %s" % error)
"""
FLAGS = ("--report", "--help", "-h")  # of run, without a value
USAGE_ERROR, NOT_EXECUTABLE, NOT_FOUND = 2, 126, 127  # exit statuses; the latter two as a shell's
RUN_USAGE = "gpushim run [options] (script.py | -m module | program) [arguments]"


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


def add_options(parser):
    parser.set_defaults(variables={})
    parser.add_argument("--report", action=Variable, nargs=0, help="print on stderr at exit which calls ran where, and why")
    parser.add_argument("--mode", action=Variable, help="auto, force or off (GPUSHIM_MODE)")
    parser.add_argument("--device", action=Variable, help="auto, cuda, host, none or cpu (GPUSHIM_DEVICE)")
    parser.add_argument("--set", action=Pair, metavar="NAME=VALUE", help="any other option: GPUSHIM_NAME=VALUE; may be repeated")


def make_parser():
    """The parser, and that of run's options."""
    parser = argparse.ArgumentParser("gpushim", description="Runs unchanged NumPy programs on an NVIDIA GPU.", allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="command")
    run = commands.add_parser("run", usage=RUN_USAGE, help="run a program under gpushim", allow_abbrev=False,
                              description="Runs a Python script or module by this interpreter, or any program, under gpushim.")
    doctor = commands.add_parser("doctor", help="print device, libraries, hooks and options; the exit status is 0 where gpushim is "
                                                "active", allow_abbrev=False)
    for each in run, doctor:
        add_options(each)
    commands.add_parser("path", help="print the library's path, for LD_PRELOAD=$(gpushim path)")
    commands.add_parser("clean", help="remove compiled kernels and profiles of scripts")
    return parser, run


def split(words):
    """(the options of run, what is to be run): the options end with the first word that is none, or with --."""
    count = 0
    while count < len(words) and (words[count] in FLAGS or re.match("--.", words[count])):
        count += 1 if words[count] in FLAGS or "=" in words[count] else 2
    return words[:count], words[count + 1:] if words[count:count + 1] == ["--"] else words[count:]


def complain(error):
    """One line on stderr; a closed or broken stderr changes nothing else."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print("gpushim: %s" % error, file=sys.stderr, flush=True)


def run_program(parser, variables, words):
    """Returns only where the program cannot be started."""
    if not words or words == ["-m"] or (words[0].startswith("-") and words[0] != "-m"):
        parser.error("a script, -m with a module, or a program is expected%s" % (", not " + words[0] if words else ""))
    environment = launch.environment_with(variables)
    why = launch.why_no_gpu(environment)
    if why is not None:
        complain("no NVIDIA GPU was found: %s; GPUSHIM_DEVICE=cpu uses all cores" % why)
    try:
        launch.execute(launch.arguments_of(words), environment)
    except OSError as error:
        complain("%s: %s" % (words[0], error.strerror))
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


def run_doctor(variables):
    environment = launch.environment_with(dict(variables, GPUSHIM_DOCTOR="1"))
    done = subprocess.run([sys.executable, "-c", DOCTOR_PROGRAM], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, errors="replace")
    print(done.stdout, end="")
    return 0 if done.returncode == 0 and "\nstate: active\n" in done.stdout else 1


def run_clean():
    folder = files.cache_folder(os.environ)
    if folder is None:
        raise OSError("there is no cache folder: HOME is not set")
    print(cleaning.describe(cleaning.clean(folder), folder))
    return 0


def run_command(parser, options):
    """Those besides run."""
    if options.version:
        import gpushim
        print("gpushim %s" % gpushim.__version__)
        return 0
    if options.command == "doctor":
        return run_doctor(options.variables)
    if options.command == "clean":
        return run_clean()
    if options.command == "path":
        print(files.library_path())
        return 0
    parser.print_help(sys.stderr)
    return USAGE_ERROR


def main(words=None):
    """The exit status."""
    words = sys.argv[1:] if words is None else words
    parser, run = make_parser()
    try:
        if words[:1] == ["run"]:
            own, program = split(words[1:])
            return run_program(run, run.parse_args(own).variables, program)
        return run_command(parser, parser.parse_args(words))
    except (OSError, ValueError) as error:
        complain(error)
        return 1
