# SPDX-License-Identifier: Apache-2.0
"""python -m gpushim: the command of the same name."""
import sys

from gpushim.command import main

sys.exit(main())
