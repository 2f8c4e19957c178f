# SPDX-License-Identifier: Apache-2.0
"""What `gpushim bench` measures: programs as words, as `gpushim run` takes them, and their names in tables."""
import collections
import itertools
import os
import re
import shlex

SEPARATOR = "--"  # between the programs of a command line
LONGEST_NAME = 40

Program = collections.namedtuple("Program", "name words")  # names are unique


def is_quoted(word):
    """Whether the word is a program with its arguments, as "a.py --n 3" is."""
    return bool(re.search(r"\s", word)) and not word.endswith(".py") and not os.path.exists(word)


def split_part(words, parser):
    """(options, programs) of the words between two SEPARATORs: scripts and quoted programs, each a program of its own, with options
    before and behind them; or one program, whose words are the rest."""
    options, programs = [], []
    while words:
        count = parser.count_options(words)
        options, words = options + words[:count], words[count:]
        alone = list(itertools.takewhile(lambda word: word.endswith(".py") or is_quoted(word), words))
        rest = words[len(alone):]
        if rest and not parser.knows(rest[0]) and (len(alone) + len(programs) == 0 or len(alone) == 1 and not is_quoted(alone[0])):
            return options, programs + [words]
        if rest and not parser.count_options(rest):
            parser.error("%s behind programs of their own: a script is quoted with its arguments, as '%s %s'"
                         % (rest[0], (alone or ["script.py"])[-1], rest[0]))
        programs += [shlex.split(word) if is_quoted(word) else [word] for word in alone]
        words = rest
    return options, programs


def split(words, parser):
    """(the options, the words of each program)."""
    options, programs = [], []
    for is_separator, part in itertools.groupby(words, SEPARATOR.__eq__):
        found = ([], []) if is_separator else split_part(list(part), parser)
        options, programs = options + found[0], programs + found[1]
    return options, programs


def read(path):
    """The programs of a file: one a line, quoted as in a shell; # begins a comment. OSError; ValueError: a quote is not closed."""
    commands = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                commands.append(shlex.split(line, comments=True))
            except ValueError as error:
                raise ValueError("%s, line %d: %s" % (path, number, error)) from None
    return [command for command in commands if command]


def short_name(words):
    """The words with the script's file name alone."""
    name = " ".join([os.path.basename(words[0]), *words[1:]])
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME - 3] + "..."


def named(commands):
    """[Program]; the second of a name is `NAME #2`."""
    counts, programs = collections.Counter(), []
    for words in commands:
        name = short_name(words)
        counts[name] += 1
        programs.append(Program(name if counts[name] == 1 else "%s #%d" % (name, counts[name]), words))
    return programs
