#!/usr/bin/env python3
"""Looks through the built site: pages load nothing from elsewhere, and links within the site lead somewhere.

    scripts/check_site.py FOLDER

Sphinx itself checks references in the sources; this also sees what the theme and raw HTML add.
"""

import pathlib
import re
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

LOADED = {"src", "srcset", "poster"}  # of any element; of <link> also href
REMOTE = re.compile(r"\s*(https?:)?//", re.I)
REMOTE_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?\s*((?:https?:)?//[^"')\s;]+)""", re.I)


class Page(HTMLParser):
    """What a page loads, and what it links to."""

    def __init__(self):
        super().__init__()
        self.loaded, self.linked, self.styles = [], [], []
        self._in_style = False

    def handle_starttag(self, tag, attrs):
        self._in_style = tag == "style"
        for name, value in attrs:
            if not value:
                continue
            if name in LOADED or (tag, name) in (("link", "href"), ("object", "data"), ("image", "href"), ("image", "xlink:href")):
                # A srcset lists several, each with a size.
                self.loaded += [one.split()[0] for one in value.split(", ") if one.split()] if name == "srcset" else [value]
            elif (tag, name) == ("a", "href"):
                self.linked.append(value)
            elif name == "style":
                self.styles.append(value)

    def handle_endtag(self, tag):
        self._in_style = False

    def handle_data(self, data):
        if self._in_style:
            self.styles.append(data)


def missing(site, page, address):
    """Whether a relative address leads to no file of the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or not parts.path:
        return False
    path = (site if parts.path.startswith("/") else page.parent) / unquote(parts.path).lstrip("/")
    return not (path.is_file() or (path / "index.html").is_file())


def problems_of(site):
    for path in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        name = path.relative_to(site)
        remote = [one for one in page.loaded if REMOTE.match(one)]
        remote += [one for style in page.styles for one in REMOTE_STYLE.findall(style)]
        yield from (f"{name} loads {one}" for one in remote)
        yield from (f"{name} leads to {one}, which is missing" for one in page.loaded + page.linked if missing(site, path, one))
    for path in sorted(site.rglob("*.css")):
        for one in REMOTE_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {one}"


def main():
    site = pathlib.Path(sys.argv[1])
    if not (site / "index.html").is_file():
        sys.exit(f"{site} has no index.html")
    found = list(dict.fromkeys(problems_of(site)))
    if found:
        sys.exit("\n".join(["The site is not complete in itself:", *found]))


if __name__ == "__main__":
    main()
