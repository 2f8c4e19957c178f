# SPDX-License-Identifier: Apache-2.0
"""Folders are layers: CMakeLists.txt gives their order, layers.txt the names of the files that stand in them."""
import collections
import fnmatch
import os
import re
import unittest

from source_tree import LAYERS, ROOT, read, stem_of, tree

# The most .c files of a folder, and the most files that may include each other in a circle.
MAX_FILES = 30
MAX_CYCLE = 6
SOURCES = (".c", ".h", ".S", ".def")


def ranked():
    """The layers with C sources, lowest first, and those that are private to their parent folder."""
    calls = re.findall(r"^gsh_layer\((\S+) FRAME \d+( PRIVATE)?\)", read("CMakeLists.txt"), re.M)
    return [folder for folder, _ in calls], {folder for folder, private in calls if private}


def includes():
    """{path: paths of this tree that it includes}."""
    place = {os.path.basename(path): path for path in tree(LAYERS, (".h", ".def"))}
    names = {path: re.findall(r'^\s*#\s*include\s+"([^"]+)"', read(path), re.M) for path in tree(LAYERS, SOURCES)}
    return {path: [place[name] for name in found if name in place] for path, found in names.items()}


def misplaced(paths, patterns):
    """What is wrong with where the files stand; patterns: {folder: patterns of names}."""
    wrong = []
    for path in paths:
        stem, folder = stem_of(path), os.path.dirname(path)
        owners = [owner for owner in patterns if stem in patterns[owner]] or [
            owner for owner in patterns if any(fnmatch.fnmatchcase(stem, pattern) for pattern in patterns[owner])]
        if folder not in owners and not folder.startswith(tuple(owner + "/" for owner in owners)):
            wrong.append("%s belongs to %s" % (path, " or ".join(owners) or "no folder that layers.txt names"))
    return wrong


def against_ranks(graph, order, private):
    """Includes of a layer that stands later in the order, or that is private to another folder."""
    rank = {folder: number for number, folder in enumerate(order)}
    wrong = []
    for path, targets in graph.items():
        own = os.path.dirname(path)
        for target in targets:
            other = os.path.dirname(target)
            hidden = other in private and not (own + "/").startswith(os.path.dirname(other) + "/")
            if own in rank and other in rank and (rank[other] > rank[own] or hidden):
                wrong.append("%s includes %s" % (path, target))
    return wrong


def cycles(graph):
    """Sets of more than one file (.c and .h are one) each of which includes, through others, every other."""
    edges = collections.defaultdict(set)
    for path, targets in graph.items():
        edges[stem_of(path)] |= {stem_of(target) for target in targets} - {stem_of(path)}
    reached = {}
    for start in list(edges):
        found, pending = set(), [start]
        while pending:
            for name in edges.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        reached[start] = found
    groups = {frozenset(other for other in reached[name] if name in reached.get(other, ())) for name in reached}
    return [sorted(group) for group in groups if len(group) > 1]


class TestLayers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.order, cls.private = ranked()
        cls.graph = includes()
        lines = [line.split(":") for line in read("tests/rules/layers.txt").splitlines() if not line.startswith("#")]
        cls.patterns = {folder: names.split() for folder, names in lines}

    def test_every_folder_of_sources_is_a_layer(self):
        self.assertGreater(len(self.order), 20)
        folders = {os.path.dirname(path) for path in tree(LAYERS, (".c",))}
        self.assertEqual(sorted(folders - set(self.order)), [])
        self.assertEqual(sorted(set(self.order) - set(self.patterns)), [])

    def test_files_stand_where_their_names_belong(self):
        self.maxDiff = None
        self.assertEqual(misplaced(tree(LAYERS, SOURCES + (".cuh",)), self.patterns), [])

    def test_layers_txt_names_files_that_exist(self):
        stems = {folder: {stem_of(path) for path in tree((folder,), SOURCES + (".cuh", ".map"))} for folder in self.patterns}
        self.assertEqual([(folder, pattern) for folder, names in self.patterns.items() for pattern in names
                          if not fnmatch.filter(stems[folder], pattern)], [])

    def test_includes_follow_the_ranks(self):
        self.assertEqual(against_ranks(self.graph, self.order, self.private), [])

    def test_cycles_of_files_are_small_and_stay_in_a_layer(self):
        folder = {stem_of(path): os.path.dirname(path) for path in self.graph}
        self.assertEqual([group for group in cycles(self.graph)
                          if len(group) > MAX_CYCLE or len({folder[name] for name in group}) > 1], [])

    def test_folders_are_small(self):
        count = collections.Counter(os.path.dirname(path) for path in tree(LAYERS, (".c",)))
        self.assertEqual({folder: number for folder, number in count.items() if number > MAX_FILES}, {})

    def test_unit_tests_mirror_the_layers(self):
        folders = {os.path.relpath(os.path.dirname(path), "tests/unit") for path in tree(("tests/unit",), (".c",))}
        self.assertGreater(len(folders), 10)
        self.assertEqual(sorted(folders - set(self.order)), [])


class TestTheRulesThemselves(unittest.TestCase):
    """Each rule finds a planted fault."""

    def test_a_misplaced_file(self):
        patterns = {"a": ["one", "one_*"], "b": ["two"]}
        self.assertEqual(misplaced(["a/one.c", "a/one_more.h", "b/two.c"], patterns), [])
        self.assertEqual(misplaced(["a/two.c", "b/three.c"], patterns),
                         ["a/two.c belongs to b", "b/three.c belongs to no folder that layers.txt names"])

    def test_an_include_against_the_ranks(self):
        order, private = ["a", "b/inner", "b", "c"], {"b/inner"}
        self.assertEqual(against_ranks({"b/two.c": ["a/one.h", "b/inner/three.h"], "c/four.c": ["b/two.h"]}, order, private), [])
        self.assertEqual(against_ranks({"a/one.c": ["b/two.h"], "c/four.c": ["b/inner/three.h"]}, order, private),
                         ["a/one.c includes b/two.h", "c/four.c includes b/inner/three.h"])

    def test_a_cycle(self):
        self.assertEqual(cycles({"a/one.c": ["a/one.h", "a/two.h"], "a/two.h": ["a/three.h"], "a/three.h": []}), [])
        self.assertEqual(cycles({"a/one.c": ["a/two.h"], "a/two.c": ["b/three.h"], "b/three.c": ["a/one.h"]}), [["one", "three", "two"]])


if __name__ == "__main__":
    unittest.main()
