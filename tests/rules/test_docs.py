# SPDX-License-Identifier: Apache-2.0
"""Rules of the documents: every link leads somewhere, and every document is found from README.md."""
import os
import re
import unittest

from source_tree import ROOT, all_files, read

CODE = re.compile(r"^(```|~~~).*?^\1|^    [^\n]*$|`[^`\n]*`", re.M | re.S)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"\bdocs/[\w/]+\.md\b")
SOURCE = re.compile(r"(?<![\w/.-])(?:base|config|policy|kernels|verify|offload|interpose|python|tests|bench)/[\w/]+\.(?:c|h|S|def|in|py|cuh|txt)(?!\w)")
PATTERNS = re.compile(r"KIND|NAME|FAMILY|PACKAGE|SHAPE")


def documents():
    return [path for path in all_files((".md",)) if path.endswith(".md")]


def links(path, text):
    """(target as a path from the root, anchor) of each relative link, those in code left out."""
    for target in LINK.findall(CODE.sub("", text)):
        if not re.match(r"[a-z]+:", target):
            file, _, anchor = target.partition("#")
            where = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            yield where, anchor


def anchors(text):
    """The anchors of a document's headings, as GitHub makes them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M):
        slug = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower().replace(" ", "-")
        number = 0
        while slug + ("-%d" % number if number else "") in found:
            number += 1
        found.add(slug + ("-%d" % number if number else ""))
    return found


def broken(path, text):
    """What is wrong with each link of the document that leads nowhere."""
    for where, anchor in links(path, text):
        if not os.path.exists(os.path.join(ROOT, where)):
            yield "%s: no file %s" % (path, where)
        elif anchor and (not where.endswith(".md") or anchor not in anchors(text if where == path else read(where))):
            yield "%s: no heading #%s in %s" % (path, anchor, where)


def reachable(start):
    found, left = set(), [start]
    while left:
        path = left.pop()
        if path not in found:
            found.add(path)
            left += [where for where, _ in links(path, read(path))
                     if where.endswith(".md") and os.path.exists(os.path.join(ROOT, where))]
    return found


class TestDocs(unittest.TestCase):
    def test_links_lead_somewhere(self):
        self.assertEqual([fault for path in documents() for fault in broken(path, read(path))], [])

    def test_broken_links_are_found(self):
        text = "# One thing\n[a](#one-thing) [b](docs/none.md) [c](#two) [d](README.md#none) `[e](none)` [f](https://example.org)\n"
        self.assertEqual(list(broken("README.md", text)),
                         ["README.md: no file docs/none.md", "README.md: no heading #two in README.md",
                          "README.md: no heading #none in README.md"])

    def test_every_document_is_reachable_from_readme(self):
        self.assertEqual(sorted(set(documents()) - reachable("README.md")), [])

    def test_documents_that_the_tree_names_exist(self):
        self.assertEqual(["%s: %s" % (path, name) for path in all_files() for name in NAMED.findall(read(path))
                          if not os.path.exists(os.path.join(ROOT, name)) and path != "tests/rules/test_docs.py"], [])

    def test_files_that_documents_name_exist(self):
        """The results' archive names files as they were."""
        self.assertEqual(["%s: %s" % (path, name) for path in documents() if path != "docs/results/archive.md"
                          for name in SOURCE.findall(read(path))
                          if not PATTERNS.search(name) and not os.path.exists(os.path.join(ROOT, name))], [])


if __name__ == "__main__":
    unittest.main()
