# SPDX-License-Identifier: Apache-2.0
"""What `gpushim bench` measures: programs as words, as `gpushim run` takes them, and their names in tables."""
import collections
import os
import shlex

SEPARATOR = "--"  # between the programs of a command line
LONGEST_NAME = 40

Program = collections.namedtuple("Program", "name words")  # names are unique


def scripts_alone(command):
    """A command of nothing but scripts is one command for each, as of a pattern of file names."""
    return [[word] for word in command] if all(word.endswith(".py") for word in command) else [command]


def split(words):
    """The words of each program."""
    commands = [[]]
    for word in words:
        if word == SEPARATOR:
            commands.append([])
        else:
            commands[-1].append(word)
    return [program for command in commands if command for program in scripts_alone(command)]


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
