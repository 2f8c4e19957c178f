# SPDX-License-Identifier: Apache-2.0
"""Whether two runs of a program have the same output. Differences are lines of text; none: the outputs are the same."""
import collections
import math
import os
import re

from gpushim import bench_arrays, launch

# A sign belongs to a number unless a letter stands before it; digits within a word are no number.
NUMBER = re.compile(r"(?:(?<![A-Za-z_])[-+]|(?<![\w.]))(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?:nan|inf)(?![\w]))")
INTEGER = re.compile(r"[-+]?\d+")
SHOWN = 60  # characters of a text that is not a number
MOST = 3    # differences that are told of one text

# ignored: compiled patterns of text that is not compared. Numbers a, b are the same where |a - b| <= atol + rtol |b|.
Tolerance = collections.namedtuple("Tolerance", "rtol atol ignored stderr")


def is_close(value, expected, tolerance):
    """Two integers must be equal. NaN is NaN."""
    if INTEGER.fullmatch(value) and INTEGER.fullmatch(expected):
        return value.lstrip("+") == expected.lstrip("+")
    value, expected = float(value), float(expected)
    if math.isnan(value) or math.isnan(expected) or math.isinf(value) or math.isinf(expected):
        return value == expected or (math.isnan(value) and math.isnan(expected))
    return abs(value - expected) <= tolerance.atol + tolerance.rtol * abs(expected)


def pieces(text):
    """[(number or word, whether it is a number, its line)]. White space only parts words."""
    found = []
    for line, content in enumerate(text.splitlines(), 1):
        at = 0
        for match in NUMBER.finditer(content):
            found += [(word, False, line) for word in content[at:match.start()].split()]
            found.append((match.group(), True, line))
            at = match.end()
        found += [(word, False, line) for word in content[at:].split()]
    return found


def shown(piece):
    return piece if len(piece) <= SHOWN else piece[:SHOWN] + "..."


def text_differences(value, expected, tolerance):
    """Of two texts: numbers by tolerance, the rest literally."""
    for pattern in tolerance.ignored:
        value, expected = pattern.sub("", value), pattern.sub("", expected)
    ours, theirs, found = pieces(value), pieces(expected), []
    for (our, our_number, _), (their, their_number, line) in zip(ours, theirs):
        same = is_close(our, their, tolerance) if our_number and their_number else our == their
        if not same:
            found.append("line %d: %s instead of %s" % (line, shown(our), shown(their)))
    if not found and len(ours) != len(theirs):
        longer = max(ours, theirs, key=len)[min(len(ours), len(theirs))]
        found.append("line %d: %s %s" % (longer[2], "lacks" if len(ours) < len(theirs) else "has more:", shown(longer[0])))
    return found[:MOST] + ["%d more differences" % (len(found) - MOST)] * (len(found) > MOST)


def bytes_differences(value, expected, tolerance):
    """Of two files' or streams' bytes: as text where both are text."""
    if value == expected:
        return []
    try:
        return text_differences(value.decode(), expected.decode(), tolerance)
    except UnicodeDecodeError:
        return ["the bytes differ (%d instead of %d)" % (len(value), len(expected))]


def file_differences(path, expected, tolerance):
    """Of two files, by the ending of their name."""
    if os.path.splitext(path)[1] in bench_arrays.ENDINGS and bench_arrays.is_available():
        return bench_arrays.differences(path, expected, tolerance)
    with open(path, "rb") as ours, open(expected, "rb") as theirs:
        return bytes_differences(ours.read(), theirs.read(), tolerance)


def status_in_words(status):
    if status is None:
        return "no end within the time (--timeout)"
    return "%s%s" % ("exit " * (status >= 0), launch.end_in_words(status))


def output_differences(outcome, expected, tolerance):
    """Of two Outcomes (program_run)."""
    found = []
    if outcome.status != expected.status:
        found.append("%s instead of %s" % (status_in_words(outcome.status), status_in_words(expected.status)))
    for name in ("stdout", "stderr") if tolerance.stderr else ("stdout",):
        told = bytes_differences(getattr(outcome, name), getattr(expected, name), tolerance)
        found += ["%s, %s" % (name, text) for text in told]
    for path in sorted(set(outcome.files) | set(expected.files)):
        if path in outcome.files and path in expected.files:
            found += ["%s: %s" % (path, text) for text in file_differences(outcome.files[path], expected.files[path], tolerance)]
        else:
            found.append("%s: %s" % (path, "not written" if path in expected.files else "written"))
    return found
