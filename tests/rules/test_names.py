# SPDX-License-Identifier: Apache-2.0
"""A function that other files call is named gsh_<its file>_...: the name says where it stands."""
import os
import re
import unittest

from source_tree import LAYERS, read, stem_of, tree

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
NAME = re.compile(r"\b(gsh_\w+)\s*\(")
# Functions that stand for a row of cuda_calls.def: a macro of cuda_entry.h makes their names of the row.
BY_TABLE = {"interpose/cuda/cuda_registered.c": re.compile(r"gsh_cuda_entry_cu\w+$")}


def outside_braces(text):
    """The text without what stands in braces; each outer pair is left as {}."""
    depth, out = 0, []
    for part in re.split(r"([{}])", DIRECTIVE.sub("", TEXT.sub('""', COMMENT.sub(" ", text)))):
        depth -= part == "}"
        if depth == 0:
            out.append(part)
        depth += part == "{"
    return "".join(out)


def functions(text):
    """Names of the functions with external linkage that a C text defines."""
    found = []
    for declaration in outside_braces(text).split(";"):
        for head in declaration.split("}")[:-1]:
            name = NAME.search(head)
            if name and "=" not in head and not re.search(r"\b(?:static|typedef)\b", head):
                found.append(name.group(1))
    return found


def entries(text):
    """Names of the functions that an assembler text defines."""
    return re.findall(r"^\s*\.type\s+(gsh_\w+)\s*,\s*[@%]function", text, re.M)


def is_named_for(path, name):
    """Whether the name begins with that of the file; a file that is named in the plural may give its functions the singular."""
    stem = stem_of(path)
    stems = [stem] + ([stem[:-1]] if stem.endswith("s") else [])
    return any(re.match("gsh_%s(_|$)" % each, name) for each in stems) or (
        path in BY_TABLE and BY_TABLE[path].match(name) is not None)


class TestNames(unittest.TestCase):
    def test_functions_carry_their_files_name(self):
        found = [(path, name) for path in tree(LAYERS, (".c", ".S"))
                 for name in (functions if path.endswith(".c") else entries)(read(path))]
        self.assertGreater(len(found), 800)
        self.assertEqual([pair for pair in found if not is_named_for(*pair)], [])

    def test_names_of_tables_are_still_needed(self):
        self.assertEqual([path for path in BY_TABLE if not any(BY_TABLE[path].match(name) for name in functions(read(path)))], [])

    def test_a_planted_name_is_found(self):
        text = "int gsh_two_ready(void)\n{\n    if (1) {\n    }\n    return 1;\n}\nstatic int gsh_three_is(int a) { return a; }\n"
        self.assertEqual(functions(text), ["gsh_two_ready"])
        self.assertTrue(is_named_for(os.path.join("base", "two.c"), "gsh_two_ready"))
        self.assertTrue(is_named_for("kernels/ops.c", "gsh_op_find"))
        self.assertFalse(is_named_for("base/one.c", "gsh_two_ready"))


if __name__ == "__main__":
    unittest.main()
