# SPDX-License-Identifier: Apache-2.0
"""The command's words: a parser whose errors are one line and name what is near, and kinds of values."""
import argparse
import math
import re

USAGE_ERROR = 2  # exit status


def suggestion(word, words):
    """"; did you mean X?", or nothing where none of the words is near."""
    import difflib
    near = difflib.get_close_matches(word, words, 1)
    return "; did you mean %s?" % near[0] if near else ""


def alternatives(words):
    return "%s or %s" % (", ".join(words[:-1]), words[-1])


class Parser(argparse.ArgumentParser):
    """subcommands: {name: Parser}, where there are any."""

    subcommands = {}

    def error(self, message):
        self.exit(USAGE_ERROR, "%s: %s\n" % (self.prog, message))

    def _check_value(self, action, value):
        """argparse's, with the nearest word."""
        if action.choices is not None and value not in action.choices:
            words = list(action.choices)
            raise argparse.ArgumentError(action, "%s is expected, not %s%s" % (alternatives(words), value, suggestion(value, words)))

    def knows(self, word):
        """Whether the word is an option of this parser's, with or without a value behind "="."""
        return word.partition("=")[0] in self._option_string_actions

    def count_options(self, words):
        """How many words at the beginning are options and their values; those that are not known count as options with a value."""
        count = 0
        while count < len(words) and (self.knows(words[count]) or re.match("--.", words[count])):
            action = self._option_string_actions.get(words[count])
            count += 1 if "=" in words[count] or (action and action.nargs == 0) else 2
        return min(count, len(words))

    def refuse(self, unknown):
        """Ends with the name of the first option among words that the parser did not take, or else with the first word."""
        word = next((word for word in unknown if word.startswith("-")), unknown[0]).partition("=")[0]
        is_option = word.startswith("-")
        self.error("unknown %s %s%s" % ("option" if is_option else "word", word,
                                        suggestion(word, list(self._option_string_actions)) if is_option else ""))


def number_from(least, kind=float):
    """A parser of finite numbers from `least` on."""
    def parse(text):
        try:
            value = kind(text)
            if math.isfinite(value) and value >= least:
                return value
        except ValueError:
            pass
        raise argparse.ArgumentTypeError("a %s from %g on is expected, not %s" % ("whole number" if kind is int else "number", least, text))
    return parse
