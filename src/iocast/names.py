"""Names of files and folders as they can be shown: Linux lets any bytes be a name, a screen and a page only text."""

from __future__ import annotations

UNSHOWN = "\N{REPLACEMENT CHARACTER}"


def is_text(name: str) -> bool:
    """False for a name that is not UTF-8, whose bytes Python has kept as surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(name: str) -> str:
    """A name as it can be shown and sent: UNSHOWN for what is no text, and for what would move the cursor."""
    return "".join(each if each.isprintable() else UNSHOWN for each in name)
