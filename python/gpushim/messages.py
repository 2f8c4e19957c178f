# SPDX-License-Identifier: Apache-2.0
"""What the command says on stderr, and its words."""
import contextlib
import sys


def complain(error):
    """One line on stderr; a closed or broken stderr changes nothing else."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print("gpushim: %s" % error, file=sys.stderr, flush=True)


def counted(number, one, many):
    """A number of things: "1 transfer", "3 transfers"."""
    return "%d %s" % (number, one if number == 1 else many)
