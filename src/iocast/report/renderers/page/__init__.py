"""Parts of the HTML page: its frame, tables, figures; style.css and script.js stand beside."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from iocast.report.plot.theme import CLASSIC, DARK, LIGHT, style_variables

# Page, hover, and the letters: colour and ground of A, B, C, D.
_LIGHT = (
    "--page:#f6f7f9;--edge:rgba(27,36,48,.16);--hover:#f3f6fa;--ga:#14663a;--ga-b:#dcf1e4;--gb:#1d5a94;--gb-b:#dfecf8;"
    "--gc:#8a5300;--gc-b:#fbeccd;--gd:#a8281c;--gd-b:#fbe1de;color-scheme:light;"
)
_DARK = (
    "--page:#0f141a;--edge:rgba(0,0,0,.55);--hover:#1d252f;--ga:#7fd8a2;--ga-b:#16392a;--gb:#8fc4f5;--gb-b:#17324c;"
    "--gc:#f0c069;--gc-b:#41310f;--gd:#ff9c90;--gd-b:#4a1d1a;color-scheme:dark;"
)
_CLASSIC = "".join(
    f"--c-{name}:{value};" for name, value in [(f"b{at}", colour) for at, colour in enumerate(CLASSIC.buckets)]
)


@cache
def style() -> str:
    """The style sheet: colours by what the system prefers, by choice, and on paper."""
    light, dark = style_variables(LIGHT) + _LIGHT, style_variables(DARK) + _DARK
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f":root[data-theme=light]{{{light}}}\n:root[data-theme=dark]{{{dark}}}\n"
        f":root[data-palette=classic]{{{_CLASSIC}}}\n"
        + _file("style.css")
        + f"@media print{{:root,:root[data-theme]{{{light}--page:#fff;}}}}\n"
    )


@cache
def script() -> str:
    """The script of the page."""
    return _file("script.js")


def policy() -> str:
    """What the page may do: show itself, and run its one script. Nothing is loaded from anywhere."""
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _file(name: str) -> str:
    return files(__name__).joinpath(name).read_text(encoding="utf-8")
