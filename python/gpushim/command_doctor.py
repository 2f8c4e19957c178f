# SPDX-License-Identifier: Apache-2.0
"""`gpushim doctor`: imports NumPy under gpushim, and prints what the library says of itself."""
import subprocess
import sys

from gpushim import launch, variables

PROGRAM = """
import sys
try:
    import numpy
except ImportError as error:
    sys.exit("gpushim: NumPy cannot be imported: %s" % error)
"""


def add_to(commands):
    variables.add_options(commands.add_parser(
        "doctor", help="print device, libraries, hooks and options; the exit status is 0 where gpushim is active", allow_abbrev=False))


def execute(options):
    environment = launch.environment_with(dict(options.variables, GPUSHIM_DOCTOR="1"))
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, errors="replace")
    print(done.stdout, end="")
    return 0 if done.returncode == 0 and "\nstate: active\n" in done.stdout else 1
