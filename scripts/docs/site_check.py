"""Checks a built site: a link leads to one of its files and to an anchor there, and no page loads anything from elsewhere.

Links to other sites are not fetched: a file lists them with the pages that have them.
usage: site_check.py SITE LIST_OF_EXTERNAL_LINKS
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches without being asked. Other elements with a URL are links.
LOADING_TAGS = {"audio", "embed", "iframe", "img", "script", "source", "video"}
LOADING_RELATIONS = {"stylesheet", "icon", "alternate icon", "preload", "modulepreload", "manifest"}
CSS_URL = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")
# rustdoc's pages of sources number each line, and a script marks a range of them.
LINE_RANGE = re.compile(r"(\d+)-\d+")
# What rustdoc links to in its own pages, in `api/`, and does not write: the list of several crates, scripts with a trait's
# implementations in other crates, and what another crate's text of a trait links to there.
RUSTDOC_LINK = re.compile(r"\./index\.html|(?:\.\./)+trait\.impl/.*\.js|dispatcher#setting-the-default-subscriber")


class Page(HTMLParser):
    """The anchors, links and loads of one page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        is_load = tag in LOADING_TAGS or (tag == "link" and attributes.get("rel") in LOADING_RELATIONS)
        urls = [attributes[name] for name in ("href", "src") if attributes.get(name)]
        (self.loads if is_load else self.links).extend((self.getpos()[0], url) for url in urls)


def check(site):
    """Returns what is wrong, one line each, the external links as (page, URL), and the number of links."""
    site = site.resolve()
    pages = {path: Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    findings, external, count = [], set(), 0
    for path, page in pages.items():
        name = path.relative_to(site)
        for line, url in page.links + page.loads:
            count += 1
            if urlsplit(url).scheme == "data":
                continue
            if urlsplit(url).scheme or url.startswith("//"):
                external.add((str(name), url))
                if (line, url) in page.loads:
                    findings.append(f"{name}:{line}: loads {url}, which is not part of the site")
            elif name.parts[0] == "api" and RUSTDOC_LINK.fullmatch(url):
                continue
            elif fault := fault_of(path, url, pages, site):
                findings.append(f"{name}:{line}: {url}: {fault}")
    for path in sorted(site.rglob("*.css")):
        findings += [f"{path.relative_to(site)}: loads {url}" for url in CSS_URL.findall(path.read_text())]
    return findings, sorted(external), count


def fault_of(path, url, pages, site):
    """Says what is wrong with a link within the site, if anything is."""
    parts = urlsplit(url)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(site):
        return "leads out of the site"
    if not target.is_file():
        return "no such file"
    anchor = parts.fragment
    if lines := LINE_RANGE.fullmatch(anchor):
        anchor = lines[1]
    # rustdoc's anchors are percent-encoded in the page, too.
    if anchor and target in pages and not pages[target].anchors & {anchor, unquote(anchor)}:
        return "no such anchor"
    return None


def main():
    site, listed = map(Path, sys.argv[1:])
    findings, external, count = check(site)
    listed.write_text("".join(f"{url}\t{page}\n" for page, url in external))
    print("".join(f"{finding}\n" for finding in findings), end="", file=sys.stderr)
    print(f"docs: {count} links checked, {len(findings)} broken; {len(external)} to elsewhere, see {listed}")
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
