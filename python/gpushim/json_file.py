# SPDX-License-Identifier: Apache-2.0
"""Files of JSON that the user names."""
import json


def read(path, what):
    """The value in the file. OSError; ValueError: it holds none, and is no `what` ("report")."""
    with open(path, encoding="utf-8") as file:
        try:
            return json.load(file)
        except ValueError:
            raise ValueError("%s: not a %s: no JSON, or a part of it" % (path, what)) from None
