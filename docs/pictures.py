"""Takes the pictures of the guide again: `python docs/pictures.py DIRECTORY`, a place on the real disk to be shown.

It measures what it shows (two minutes, work files in DIRECTORY, removed again), so the machine should do nothing else.
The letters are those of the machine's own fonts.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import Struct

PICTURES = Path(__file__).resolve().parent / "guide" / "pictures"
NOISY = "sim:hdd,noise=60/s:10s/60s"
NOISY_JOB = """\
name = "beside a neighbour"
[defaults]
time = "2m"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
users = [1, 8]
"""
WIDTH, HEAD_HEIGHT = 1200, 1230
MARGIN = 16


class Picture(Struct, frozen=True):
    """A part of a page: its head, a section by its heading, or a figure by its id."""

    name: str
    run: str
    section: str = ""
    figure: str = ""
    dark: bool = False


WANTED = (
    Picture("card-hdd", "hdd"),
    Picture("card-cached-array", "cached-array", section="randread 8k"),
    Picture("grades-cached-array", "cached-array", section="Grade"),
    Picture("card-file", "file"),
    Picture("card-file-dark", "file", section="randread 8k", dark=True),
    Picture("findings-over-time", "noisy", figure="randread-8k-heat"),
)


def main(directory: str) -> None:
    """Measures, opens each page, and writes the parts."""
    from playwright.sync_api import sync_playwright

    browser_file = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        job = Path(place) / "job.toml"
        job.write_text(NOISY_JOB, encoding="utf-8")
        pages = {
            "hdd": _page(place, "hdd", "card", "sim:hdd"),
            "cached-array": _page(place, "cached-array", "card", "sim:cached-array"),
            "noisy": _page(place, "noisy", "run", str(job), NOISY),
            "file": _page(place, "file", "card", directory),
        }
        subprocess.run([sys.executable, "-m", "iocast", "clean", directory], check=True)
        browser = driver.chromium.launch(executable_path=browser_file, args=["--no-sandbox"])
        for wanted in WANTED:
            page = browser.new_page(
                viewport={"width": WIDTH, "height": HEAD_HEIGHT}, color_scheme="dark" if wanted.dark else "light"
            )
            page.goto(pages[wanted.run].as_uri())
            page.screenshot(path=PICTURES / f"{wanted.name}.png", full_page=True, clip=_clip(page, wanted))
        browser.close()


def _page(place: str, name: str, *words: str) -> Path:
    out = Path(place) / name
    subprocess.run([sys.executable, "-m", "iocast", *words, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    (page,) = out.glob("*/report.html")
    return page


def _clip(page: Any, wanted: Picture) -> dict[str, float]:
    if not wanted.section and not wanted.figure:
        return {"x": 0, "y": 0, "width": WIDTH, "height": HEAD_HEIGHT}
    part = (
        page.locator(f"figure#{wanted.figure}")
        if wanted.figure
        else page.locator("section", has=page.get_by_role("heading", name=wanted.section, exact=True))
    )
    box = part.bounding_box()
    return {
        "x": box["x"] - MARGIN,
        "y": box["y"] - (MARGIN if wanted.figure else 0),
        "width": box["width"] + 2 * MARGIN,
        "height": box["height"] + (2 if wanted.figure else 1) * MARGIN,
    }


if __name__ == "__main__":
    main(sys.argv[1])
