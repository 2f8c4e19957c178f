# SPDX-License-Identifier: Apache-2.0
"""What the fault handler can reach, checked on the call graph that gcc writes of each file without optimisation
(-fcallgraph-info): a function that ends in `_sigsafe`, or in `_after_fork` where the process is a forked child's only thread;
a static inline function of a header, which carries no suffix and whose calls are followed; and what sigsafe_calls.txt lists,
each with its reason: functions of libc, what pointers point to, and where the path ends."""
import collections
import os
import re
import subprocess
import tempfile
import unittest

from source_tree import BUILD, LAYERS, ROOT, read, tree

LIST = os.path.join(ROOT, "tests", "rules", "sigsafe_calls.txt")
ENTRY = "offload/memory/fault.c", "on_segv_sigsafe"
SUFFIXES = "_sigsafe", "_after_fork"
NODE = re.compile(r'^node: \{ title: "([^"]+)" label: "[^\\"]*\\n([^"\\]+?):\d+:\d+(?:\\n[^"]*)?"( shape : ellipse)? \}', re.M)
EDGE = re.compile(r'^edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)" label: "([^"]+):(\d+):(\d+)" \}', re.M)


def relative(path):
    return os.path.relpath(path, ROOT) if path.startswith(ROOT + os.sep) else path


def source_files():
    return [os.path.join(ROOT, path) for path in tree(LAYERS, (".c", ".h"))]


class Rows:
    """The list: rows of words, the reason behind a colon; what a row allows but nobody reaches is stale."""

    def __init__(self):
        self.libc, self.ends, self.pointers, self.used = set(), set(), {}, set()
        for line in read(LIST).splitlines():
            words = line.partition(": ")[0].split()
            if not words or line.startswith("#"):
                continue
            if not line.partition(": ")[2]:
                raise ValueError("%s gives no reason" % line)
            if words[0] == "pointer":
                self.pointers[words[1], words[2]] = [tuple(word.split(":")) for word in words[3:]]
            else:
                {"libc": self.libc, "end": self.ends}[words[0]].add(words[1])

    def stale(self):
        return sorted(str(row) for row in (self.libc | self.ends | set(self.pointers)) - self.used)


class Graph:
    """Functions are (file, name): the file that defines it. Files are compiled when something in them is reached; `replaced`
    has other texts for some of them."""

    graphs = {}  # of the files as they are

    def __init__(self, rows, replaced=None):
        self.rows, self.replaced = rows, replaced or {}
        self.texts = {relative(path): read(path) for path in source_files()}
        self.texts.update(self.replaced)
        self.includes = sorted({"-I" + os.path.dirname(os.path.join(ROOT, path)) for path in self.texts})
        self.defined = collections.defaultdict(list)
        for path, text in self.texts.items():
            if path.endswith(".c"):
                for name in re.findall(r"^(?:[\w ]+[ *]+)?(gsh_\w+)\([^;{]*\)\n\{", text, re.M):
                    self.defined[name].append(path)
        self.calls, self.inline, self.compiled = collections.defaultdict(list), set(), set()

    def compile(self, path):
        if path in self.compiled:
            return
        self.compiled.add(path)
        source = os.path.join(ROOT, path)
        if path not in self.replaced and path in self.graphs:
            self.take(path, source, self.graphs[path])
            return
        with tempfile.TemporaryDirectory() as folder:
            if path in self.replaced:
                source = os.path.join(folder, os.path.basename(path))
                with open(source, "w", encoding="utf-8") as file:
                    file.write(self.replaced[path])
            output = os.path.join(folder, "out.s")
            subprocess.run(["gcc", "-O0", "-fcallgraph-info", "-std=gnu17", "-D_GNU_SOURCE", "-S", "-o", output,
                            "-I" + os.path.dirname(os.path.join(ROOT, path))] + self.includes + [source], check=True)
            graph = read(os.path.join(folder, "out.ci"))
            if path not in self.replaced:
                self.graphs[path] = graph
            self.take(path, source, graph)

    def take(self, path, source, text):
        places = {title: place for title, place, _ in NODE.findall(text)}
        external = {title for title, _, is_external in NODE.findall(text) if is_external}

        def function(title):
            name = title.rsplit(":", 1)[-1]
            return (None if title in external else path), name

        for title, place in places.items():
            if title not in external and place.endswith(".h"):
                self.inline.add(function(title))
        for caller, callee, file, line, column in EDGE.findall(text):
            where = path if file == source else relative(file)
            callee = (where, self.expression(where, line, column)) if callee == "__indirect_call" else function(callee)
            self.calls[function(caller)].append((callee, "%s:%s" % (where, line)))

    def expression(self, path, line, column):
        """What is called at this place of a source, for instance `(*table.member`."""
        text = self.texts[path].splitlines()[int(line) - 1][int(column) - 1:]
        return "*" + re.match(r"[\w.\[\]>-]*", text).group()

    def targets(self, path, expression):
        """What a pointer points to; None: nobody says."""
        member = re.fullmatch(r"\*(gsh_\w+_events)\.(\w+)", expression)
        if member is None:
            row = (path, expression[1:])
            self.rows.used.add(row)
            return self.rows.pointers.get(row)
        found = []
        for file, text in self.texts.items():
            table = re.search(r"^const struct \w+ %s = \{(.*?)^\};" % member.group(1), text, re.M | re.S)
            value = table and re.search(r"\.%s = (\w+)" % member.group(2), table.group(1))
            if value:
                found.append((None if value.group(1).startswith("gsh_") else file, value.group(1)))
        return found if member.group(2).endswith(SUFFIXES) and len(found) == 1 else None

    def define(self, function):
        """The function with the file that defines it; a file of None: not ours."""
        path, name = function
        if path is None and self.defined[name]:
            path = self.defined[name][0]
        if path is not None:
            self.compile(path)
        return path, name

    def faults(self):
        """What is reached from the entry and must not be, with the calls that lead there."""
        found, todo, seen = [], [(self.define(ENTRY), [])], set()
        while todo:
            (path, name), way = todo.pop()
            if (path, name) in seen:
                continue
            seen.add((path, name))
            story = "%s, by %s" % (name, " > ".join(way))
            if name.startswith("*"):
                targets = self.targets(path, name)
                found += ["%s: nobody says what it calls" % story] if targets is None else []
                todo += [(self.define(tuple(target)), way) for target in targets or ()]
            elif path is None:
                self.rows.used.add(name)
                found += [] if name in self.rows.libc else ["%s: not listed" % story]
            elif not name.endswith(SUFFIXES) and (path, name) not in self.inline:
                found.append("%s: no suffix says that it may be" % story)
            elif name in self.rows.ends:
                self.rows.used.add(name)
            else:
                todo += [(self.define(callee), way + [place]) for callee, place in self.calls[path, name]]
        self.seen = seen
        return sorted(found)


class TestSigsafe(unittest.TestCase):
    maxDiff = None

    def test_the_handler_reaches_only_what_may_run_there(self):
        rows = Rows()
        graph = Graph(rows)
        self.assertEqual(graph.faults(), [])
        self.assertGreater(len(graph.seen), 90)
        self.assertEqual(rows.stale(), [])

    def test_functions_that_become_pointers_are_listed(self):
        """Handlers of fork, which run in the fault handler in a child that ran none, and what is told of errors."""
        listed = {tuple(target) for targets in Rows().pointers.values() for target in targets}
        missing = []
        for path in source_files():
            for call in re.findall(r"^    gsh_(?:forked_add|forked_detect|errors_on_found)\(([^;]*)\);", read(path), re.M):
                child = call.split(",")[-1].strip()
                missing += [] if child == "NULL" or (relative(path), child) in listed else ["%s: %s" % (relative(path), child)]
        self.assertEqual(missing, [])

    def test_listed_functions_are_libcs_own(self):
        """A name that the library exports is its own function, whoever calls it."""
        exported = set(re.findall(r"\b(\w+);", read(os.path.join(BUILD, "exports.map"))))
        self.assertGreater(len(exported), 50)
        self.assertEqual(sorted(Rows().libc & exported), [])

    def planted(self, statement, header):
        """The faults found where the handler also does this."""
        path = "offload/memory/coherence_fault.c"
        text, place = read(os.path.join(ROOT, path)), "    gsh_block_acquire_sigsafe(block);\n"
        self.assertEqual(text.count(place), 1)
        text = text.replace(place, "    %s\n" % statement + place)
        text = text.replace('#include "coherence_fault.h"\n', '#include "coherence_fault.h"\n#include %s\n' % header)
        return "\n".join(Graph(Rows(), {path: text}).faults())

    def test_planted_faults_are_found(self):
        for statement, header, fault in (
                ("free(malloc(1));", "<stdlib.h>", "malloc, by "),
                ("gsh_arena_lock();", '"arena_internal.h"', "gsh_arena_lock, by "),
                ("gsh_coherence_events.run_for_host_read();", '"coherence_events.h"', "*gsh_coherence_events.run_for_host_read, by "),
                ("void (*go)(void) = gsh_arena_unlock; go();", '"arena_internal.h"', "*go, by ")):
            self.assertIn(fault, self.planted(statement, header), statement)


if __name__ == "__main__":
    unittest.main()
