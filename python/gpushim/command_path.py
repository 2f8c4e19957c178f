# SPDX-License-Identifier: Apache-2.0
"""`gpushim path`: where the library is."""
from gpushim import files


def add_to(commands):
    commands.add_parser("path", help="print the library's path, for LD_PRELOAD=$(gpushim path)",
                        description="Prints the library's path. LD_PRELOAD=$(gpushim path) python script.py does what gpushim run does.")


def execute(_options):
    print(files.library_path())
    return 0
