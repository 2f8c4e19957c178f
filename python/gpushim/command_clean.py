# SPDX-License-Identifier: Apache-2.0
"""`gpushim clean`: empties the library's cache folder."""
import os

from gpushim import cleaning, files


def add_to(commands):
    commands.add_parser("clean", help="remove compiled kernels and profiles of scripts",
                        description="Removes what gpushim has left in its cache folder: compiled kernels, profiles of scripts. Both come "
                                    "again when they are needed.")


def execute(_options):
    folder = files.cache_folder(os.environ)
    if folder is None:
        raise OSError("there is no cache folder: HOME is not set")
    print(cleaning.describe(cleaning.clean(folder), folder))
    return 0
