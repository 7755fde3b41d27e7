"""Sphinx's configuration for `make docs`: the Markdown files of the repository as one site.

The documents are written for a code host, in its Markdown, and nothing in them is for Sphinx. What
a site needs besides is here: the navigation, and what a link to a folder or to a Rust file means.
"""

import posixpath
import re
import tomllib
from pathlib import Path, PurePosixPath

from docutils import nodes
from sphinx import addnodes

# Who reads what. A document that is in no part makes Sphinx warn, and `make docs` fail.
PARTS = {
    "Start": ["docs/MIGRATION", "docs/HOSTS", "docs/PACKAGES", "docs/PLATFORMS", "packages/*/README", "Rust crate <crates/storage/selenite/README>", "CHANGELOG"],
    "Administer": ["docs/CONFIGURATION", "docs/FLEETS", "docs/BACKUP", "SECURITY"],
    "Review": ["docs/THREAT_MODEL", "docs/FIPS", "docs/FORMAT", "docs/decisions/index"],
    "Cost": ["docs/BENCHMARKS", "docs/OBSERVATORY", "docs/studies/index", "docs/PLANNING", "docs/FORECASTS", "docs/LAB", "docs/WORKERS"],
    "Server": ["docs/TSQL"],
    "Contribute": [
        "CONTRIBUTING",
        "docs/ARCHITECTURE",
        "docs/internals/index",
        "docs/GLOSSARY",
        "docs/plans/index",
        "crates/index",
        "engines/README",
        "fuzz/README",
        "peers/README",
        "testdata/README",
        "testdata/*/README",
        "tests/**/README",
    ],
}
# Folders whose documents have a page that lists them: its title, and what it lists.
FOLDERS = {
    "docs/decisions": ("Decisions", "*"),
    "docs/internals": ("Internals", "*"),
    "docs/plans": ("Plans", "*"),
    "docs/studies": ("Studies", "*"),
    "crates": ("Crates", "**/README"),
}
# The crate whose API is in the site, below `api/`.
API_README = "crates/storage/selenite/README"
API_SOURCES = PurePosixPath("/crates/storage/selenite/src")
INTERVAL = re.compile(r"[(\[]-?[\d.]+(?: to |, )-?[\d.]+[)\]]")

project = "Selenite"
copyright = "the Selenite authors"
manifest = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text())
release = manifest["workspace"]["package"]["version"]
root_doc = "README"
extensions = ["myst_parser"]
exclude_patterns = ["testdata/lab"]
smartquotes = False

# A heading has the anchor that GitHub gives it.
myst_heading_anchors = 6
myst_heading_anchors_html_ids = True
# Code is coloured where its language is named, and nowhere else.
highlight_language = "text"
# A sample may have dots where something is left out.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = f"Selenite {release}"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def contents(documents, *, part=None):
    """A list of documents as MyST has it: a part of the navigation, which the page does not show, or the page's own."""
    options = f":caption: {part}\n:hidden:" if part else ":maxdepth: 1\n:titlesonly:"
    return f"\n```{{toctree}}\n{options}\n:glob:\n\n" + "\n".join(documents) + "\n```\n"


def add_folder_pages(app):
    for folder, (title, documents) in FOLDERS.items():
        (Path(app.srcdir) / folder / "index.md").write_text(f"# {title}\n{contents([documents])}")


def add_navigation(_app, document, source):
    if document == root_doc:
        source[0] += "".join(contents(documents, part=part) for part, documents in PARTS.items())
    elif document == API_README:
        # It is the first page of the API, too, and cannot have a relative link there.
        title, text = source[0].split("\n", 1)
        source[0] = f"{title}\n\n[All types and functions](src/lib.rs)\n{text}"


def lead_links(app, doctree):
    """A link to a folder leads to its page, one to a Rust file of the API's crate into the API."""
    document = app.env.docname
    folder = posixpath.join("/", posixpath.dirname(document))
    for node in doctree.findall(addnodes.pending_xref):
        page = page_of(app, posixpath.normpath(posixpath.join(folder, node["reftarget"])))
        if page:
            node["refdomain"], node["reftarget"], node["reftargetid"] = "doc", page, None
    for node in list(doctree.findall(addnodes.download_reference)):
        source = PurePosixPath(posixpath.normpath(posixpath.join(folder, node["reftarget"])))
        if source.is_relative_to(API_SOURCES):
            to_root = "../" * document.count("/")
            uri = to_root + api_page(str(source.relative_to(API_SOURCES)))
            node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def page_of(app, folder):
    pages = (posixpath.join(folder[1:], name) for name in ("README", "index"))
    return next((page for page in pages if page in app.env.found_docs), None)


def api_page(source):
    crate = "selenite"
    return f"api/{crate}/index.html" if source == "lib.rs" else f"api/src/{crate}/{source}.html"


def keep_intervals_whole(_app, doctree):
    for cell in doctree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            whole = INTERVAL.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
            text.parent.replace(text, nodes.Text(whole))


def setup(app):
    app.connect("builder-inited", add_folder_pages)
    app.connect("source-read", add_navigation)
    # Before Sphinx copies what is linked.
    app.connect("doctree-read", lead_links, priority=400)
    app.connect("doctree-read", keep_intervals_whole)
