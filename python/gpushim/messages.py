# SPDX-License-Identifier: Apache-2.0
"""What the command says on stderr."""
import contextlib
import sys


def complain(error):
    """One line on stderr; a closed or broken stderr changes nothing else."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print("gpushim: %s" % error, file=sys.stderr, flush=True)
