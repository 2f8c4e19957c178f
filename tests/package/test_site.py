# SPDX-License-Identifier: Apache-2.0
"""The documents as a site (`make site`): every document is a page that its navigation reaches, and a reader needs no network."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from package_venv import ROOT

# What a browser fetches by itself; a link that a reader may follow is no such thing.
FETCHED = re.compile(r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]*)"|<link\b[^>]*\brel="(?:stylesheet|preload|icon|search)"[^>]*\bhref="([^"]*)\"""")
FETCHED_BY_STYLE = re.compile(r"""@import\s|url\(["']?([^)"']*)""")
FAR = re.compile(r"(?:[a-z]+:)?//")


def files(folder, ending):
    for where, _, names in os.walk(folder):
        yield from (os.path.join(where, name) for name in names if name.endswith(ending))


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def documents():
    """The documents as paths from the root, without their endings."""
    for folder in (".", "docs/user", "docs/results", "docs/dev"):
        for name in os.listdir(os.path.join(ROOT, folder)):
            if name.endswith(".md"):
                yield os.path.normpath(os.path.join(folder, name[:-len(".md")]))


class TestSite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        done = subprocess.run(["make", "--no-print-directory", "site", "SITE=" + cls.folder], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)
        if done.returncode != 0:  # broken links among others: Sphinx's warnings are errors
            raise AssertionError(done.stdout)
        cls.pages = {path: text_of(path) for path in files(cls.folder, ".html")}

    def test_each_document_is_in_the_navigation(self):
        first = self.pages[os.path.join(self.folder, "README.html")]
        for name in documents():
            with self.subTest(name):
                self.assertTrue(name == "README" or 'href="%s.html"' % name in first)
                self.assertIn(os.path.join(self.folder, name + ".html"), self.pages)

    def test_nothing_is_fetched_from_other_hosts(self):
        fetched = [(path, "".join(match)) for path, text in self.pages.items() for match in FETCHED.findall(text)]
        fetched += [(path, match) for path in files(self.folder, ".css") for match in FETCHED_BY_STYLE.findall(text_of(path))]
        self.assertGreater(len(fetched), len(self.pages))
        self.assertEqual([each for each in fetched if FAR.match(each[1])], [])

    def test_links_lead_somewhere(self):
        for path, text in self.pages.items():
            for target in re.findall(r'<a\b[^>]*\bhref="([^"#]+)', text):
                if not re.match(r"[a-z]+:", target):
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(path), target)), (path, target))

    def test_first_page(self):
        self.assertIn("url=README.html", self.pages[os.path.join(self.folder, "index.html")])
        self.assertIn("gpushim run script.py", self.pages[os.path.join(self.folder, "README.html")])


if __name__ == "__main__":
    unittest.main()
