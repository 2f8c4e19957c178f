# SPDX-License-Identifier: Apache-2.0
"""Sphinx's configuration: `make site` makes a site of the documents, in build-site/, from the repository's root. The pages need no
network: no fonts, scripts or pictures of other hosts, and the search runs in the browser."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "gpushim"
author = "the developers of gpushim"
version = release = re.search(r"project\(gpushim VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/*/*.md"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "gpushim " + version
html_extra_path = ["root"]  # index.html, which leads to README.html
html_show_sphinx = False

# The navigation: captions and pages, in order.
CONTENTS = (
    ("Start", ("docs/user/quickstart", "docs/user/gallery", "docs/user/troubleshooting")),
    ("Use", ("docs/user/command", "docs/user/options", "docs/user/report", "docs/user/advise", "docs/user/verify", "docs/user/timing",
             "docs/user/notebooks", "docs/user/clusters", "docs/user/containers", "docs/user/ci", "docs/user/api")),
    ("What to expect", ("docs/user/coverage", "docs/user/linear_algebra", "docs/user/scipy", "docs/user/numerics", "docs/user/compatibility",
                        "docs/user/dependencies", "docs/results/performance", "docs/results/correctness", "docs/results/archive")),
    ("Development", ("docs/dev/ARCHITECTURE", "docs/dev/ADDING", "docs/dev/testing", "docs/dev/debugging", "CONTRIBUTING", "CHANGELOG",
                     "SECURITY")),
)


def add_contents(_app, page, source):
    """The first page has the navigation, which README.md, as people read it elsewhere, has not."""
    if page == root_doc:
        source[0] += "".join("\n```{toctree}\n:hidden:\n:caption: %s\n\n%s\n```\n" % (caption, "\n".join(pages))
                             for caption, pages in CONTENTS)


def setup(app):
    app.connect("source-read", add_contents)
