# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation as a site: `ninja gq-site` makes build/docs/site.

Python's reference is that of the built library ($GQ_LIBRARY).
"""

import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(root / "docs" / "sphinx"), str(root / "python")]

import headers  # noqa: E402
import mlir_lexer  # noqa: E402

project = "gq"
copyright = "the gq authors"
version = release = re.search(
    r"^project\(gq VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(), re.M
)[1]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["sphinx"]

html_theme = "furo"
html_title = f"gq {release}"
pygments_style = "friendly"
pygments_dark_style = "monokai"

autodoc_typehints = "none"
autodoc_mock_imports = ["torch"]
napoleon_google_docstring = True
napoleon_numpy_docstring = False
add_module_names = False

# <!-- header: gq/Runtime/Cuda.h -->, <!-- include: README.md from numbers -->
HEADER = re.compile(r"<!-- header: (\S+) -->")
INCLUDE = re.compile(r"<!-- include: (\S+)(?: from (\w+))? -->")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^):#]+)(#[^)]*)?\)")
# Files that are pages though they are elsewhere.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}


def _header(match):
    return headers.markdown((root / "include" / match[1]).read_text())


def _links(text, folder, page):
    """Rewrites the links of a file in `folder` for a page in the folder `page`.

    What is no page, a source or a folder, is named instead.
    """

    def link(match):
        words, target, anchor = match[1], match[2], match[3] or ""
        path = (folder / target).resolve()
        assert path.exists(), f"{target} is not there"
        place = str(path.relative_to(root))
        if place.startswith("docs/") and path.is_file():
            place = place.removeprefix("docs/")
        elif place in PAGES:
            place = PAGES[place]
        else:
            bare = words.strip("`").rstrip("/")
            named = place.endswith(bare)
            return f"`{place}`" if named else f"{words} (`{place}`)"
        return f"[{words}]({os.path.relpath(root / 'docs' / place, page)}{anchor})"

    return LINK.sub(link, text)


def _read(app, name, source):
    page = (root / "docs" / name).parent

    def include(match):
        path = root / match[1]
        text = path.read_text()
        if match[2]:
            marks = rf"<!-- {match[2]} -->(.*)<!-- end of {match[2]} -->"
            text = re.search(marks, text, re.DOTALL)[1]
        return _links(text, path.parent, page)

    text = _links(source[0], page, page)
    source[0] = INCLUDE.sub(include, HEADER.sub(_header, text))
    if name == "notes/README":
        source[0] += "\n```{toctree}\n:glob:\n:hidden:\n\n*\nlog/*\n```\n"


# Each public header has a page.
pages = "".join(p.read_text() for p in (root / "docs" / "reference").glob("*.md"))
for header in root.glob("include/gq*/**/*.h"):
    name = str(header.relative_to(root / "include"))
    assert name == "gq/IR/Gq.h" or f"header: {name} " in pages, f"{name} has no page"


def setup(app):
    app.add_lexer("mlir", mlir_lexer.MlirLexer)
    app.connect("source-read", _read)
