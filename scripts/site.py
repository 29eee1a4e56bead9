"""Builds the site of docs/ in target/site/html: `make site`. Nothing on it comes from elsewhere, and no link is dead.

Links out of docs/ (into the source, to examples) lead nowhere on a site: there they are plain text.
"""

from __future__ import annotations

import argparse
import html.parser
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Set
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
DOCS, SITE = ROOT / "docs", ROOT / "target" / "site"
KEPT = (".md", ".png", ".svg", ".json")  # of docs/, what a site has
LEFT_OUT = ("installed", "recipes", "matrix", "guide/tapes")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)")
_LOADED = {("link", "href"), ("script", "src"), ("img", "src"), ("iframe", "src")}


def pages() -> list[Path]:
    """What of docs/ is on the site, by its path there."""
    files = (path.relative_to(DOCS) for path in DOCS.rglob("*") if path.suffix in KEPT)
    return sorted(path for path in files if not path.as_posix().startswith(LEFT_OUT))


def site_text(page: Path, text: str, known: Set[str]) -> str:
    """The text of a page with links to what is on the site."""

    def link(match: re.Match[str]) -> str:
        words, address = match.groups()
        place = urlsplit(address)
        if place.scheme or not place.path:
            return match[0]
        to = os.path.normpath(os.path.join(page.parent.as_posix(), unquote(place.path)))
        return match[0] if to in known else words

    return _LINK.sub(link, text)


def copied(to: Path) -> None:
    """The documents as the site has them."""
    known = {path.as_posix(): path for path in pages()}
    for path in known.values():
        place = to / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = (DOCS / path).read_text(encoding="utf-8")
            place.write_text(site_text(path, text, known.keys()), encoding="utf-8")
        else:
            shutil.copy2(DOCS / path, place)


class _Links(html.parser.HTMLParser):
    """The addresses of a page, those that are loaded with it, and what its parts are called."""

    def __init__(self) -> None:
        super().__init__()
        self.to: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name"):
                self.names.add(value)
            elif (tag, name) in _LOADED and not (
                tag == "link" and dict(attrs).get("rel") in ("canonical", "prev", "next")
            ):
                self.loaded.append(value)
            elif (tag, name) == ("a", "href"):
                self.to.append(value)


def faults(site: Path) -> Iterator[str]:
    """Links that lead nowhere, and what would be loaded from elsewhere."""
    read: dict[Path, _Links] = {}
    for path in site.rglob("*.html"):
        read[path] = _Links()
        read[path].feed(path.read_text(encoding="utf-8"))
    for path, links in sorted(read.items()):
        where = path.relative_to(site)
        if path.name == "404.html":
            continue  # its links are those of the root
        for address in links.loaded:
            if urlsplit(address).netloc:
                yield f"{where}: loads {address}"
        for address in (*links.to, *links.loaded):
            place = urlsplit(address)
            if place.scheme or place.netloc:
                continue
            to = Path(os.path.normpath(path.parent / unquote(place.path))) if place.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                yield f"{where}: {address} is not there"
            elif place.fragment and to in read and unquote(place.fragment) not in read[to].names:
                yield f"{where}: {address}: no such part"


def main() -> int:
    """Builds it; 1 for a fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--zensical", default="zensical", help="the program that builds it")
    words = parser.parse_args()
    shutil.rmtree(SITE, ignore_errors=True)
    copied(SITE / "docs")
    shutil.copy2(DOCS / "site.toml", SITE / "zensical.toml")
    subprocess.run([words.zensical, "build", "--clean"], cwd=SITE, check=True)
    problems = list(faults(SITE / "html"))
    for each in problems:
        print(each, file=sys.stderr)
    if not problems:
        print(f"{len(list((SITE / 'html').rglob('*.html')))} pages: {SITE / 'html' / 'index.html'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
