# SPDX-License-Identifier: Apache-2.0
"""`gpushim run`: becomes the program, under gpushim."""
from gpushim import launch, variables
from gpushim.messages import complain

USAGE = "gpushim run [options] (script.py | -m module | program) [arguments]"
NOT_EXECUTABLE, NOT_FOUND = 126, 127  # exit statuses, as a shell's


def add_to(commands):
    parser = commands.add_parser("run", usage=USAGE, help="run a program under gpushim", allow_abbrev=False,
                                 description="Runs a Python script or module by this interpreter, or any program, under gpushim.")
    variables.add_options(parser)


def split(words, parser):
    """(the options, what is to be run): the options end with the first word that is none, or with --."""
    count = parser.count_options(words)
    return words[:count], words[count + 1:] if words[count:count + 1] == ["--"] else words[count:]


def tell_not_started(command, word, error):
    """The exit status where the operating system refuses the program."""
    complain(launch.why_not_started(command, word, error))
    return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


def execute(options):
    """Returns only where the program cannot be started."""
    words = options.program
    launch.check_words(words, options.parser)
    environment = launch.environment_with(options.variables)
    why = launch.why_no_gpu(environment)
    if why is not None:
        complain("no NVIDIA GPU was found: %s; GPUSHIM_DEVICE=cpu uses all cores" % why)
    try:
        launch.execute(launch.arguments_of(words), environment)
    except OSError as error:
        return tell_not_started("run", words[0], error)
