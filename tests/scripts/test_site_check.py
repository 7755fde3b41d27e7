"""scripts/docs/site_check.py: finds what is broken in a site, and nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[2] / "scripts/docs/site_check.py"


def check(folder, pages):
    """Runs the check over a site of these files: its status, what it found, and the external links."""
    site = folder / "site"
    for name, text in pages.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    listed = folder / "external"
    ended = subprocess.run([sys.executable, CHECK, site, listed], capture_output=True, text=True)
    return ended.returncode, ended.stderr.splitlines(), listed.read_text().splitlines()


def test_a_whole_site_passes_and_its_external_links_are_listed(tmp_path):
    pages = {
        "index.html": """<h1 id="top">x</h1><a href="#top">a</a> <a href="b/c.html#d%20e">b</a>
            <a href="b/c.html?q=1">c</a> <a id="f%3C" href="#f%3C">e</a> <img src="b/d.png"> <img src="data:image/png;base64,AA==">
            <link rel="stylesheet" href="b/e.css"> <a href="https://sqlite.org/">d</a>""",
        "b/c.html": '<p id="d e">x</p><a href="../index.html#top">a</a><a id=3 href="#3-9">lines</a>',
        "b/d.png": "",
        "b/e.css": 'a { background: url("d.png") }',
    }
    assert check(tmp_path, pages) == (0, [], ["https://sqlite.org/\tindex.html"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<a href="none.html">', "index.html:1: none.html: no such file"),
        ('\n<a href="b.html#none">', "index.html:2: b.html#none: no such anchor"),
        ('<a href="#none">', "index.html:1: #none: no such anchor"),
        ('<a href="#7-9">', "index.html:1: #7-9: no such anchor"),
        ('<img src="none.png">', "index.html:1: none.png: no such file"),
        ('<a href="../external">', "index.html:1: ../external: leads out of the site"),
        ('<a href="folder">', "index.html:1: folder: no such file"),
    ],
)
def test_a_broken_link_is_found(tmp_path, text, fault):
    pages = {"index.html": text, "b.html": "", "folder/c.html": ""}
    assert check(tmp_path, pages)[:2] == (1, [fault])


def test_what_rustdoc_does_not_write_is_missing_in_its_own_pages_alone(tmp_path):
    text = '<a href="./index.html">a</a><script src="../trait.impl/a/trait.B.js"></script><a href="none.html">c</a>'
    assert check(tmp_path, {"api/a/b.html": text})[1] == ["api/a/b.html:1: none.html: no such file"]
    assert len(check(tmp_path / "other", {"a/b.html": text})[1]) == 3


@pytest.mark.parametrize(
    ("name", "text", "url"),
    [
        ("a.html", '<script src="https://cdn.example/a.js"></script>', "https://cdn.example/a.js"),
        ("a.html", '<link rel="stylesheet" href="//cdn.example/a.css">', "//cdn.example/a.css"),
        ("a.css", "@import url(https://fonts.example/a.css);", "https://fonts.example/a.css"),
        ("a.css", 'a { background: url("//cdn.example/a.png") }', "//cdn.example/a.png"),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(tmp_path, name, text, url):
    status, (finding,), _ = check(tmp_path, {name: text})
    assert status == 1
    assert finding.startswith(name) and url in finding
