"""Takes passwords out of the texts of statements: servers keep `create role r password '...'` as it was typed."""

from __future__ import annotations

import re
from typing import Final

_MENTIONS: Final = re.compile(
    r"passw|identified|secret|credential|private_key|access_key|token|connection\s+'", re.IGNORECASE
)
_LITERAL: Final = re.compile(
    r"'(?:[^'\\]|''|\\.)*(?:'|$)"  # also one that was cut off
    r'|"(?:[^"]|"")*(?:"|$)'
    r"|\$(\w*)\$.*?(?:\$\1\$|$)",
    re.DOTALL,
)
_BARE: Final = re.compile(r"(identified\s+by\s+)(?!values\b|password\b)[^\s'\"]\S*", re.IGNORECASE)
_HIDDEN: Final = "'***'"


def without_secrets(text: str) -> str:
    """The text, with all that is quoted hidden where it mentions a secret; most texts are left as they are."""
    if not _MENTIONS.search(text):
        return text
    return _LITERAL.sub(_HIDDEN, _BARE.sub(rf"\1{_HIDDEN}", text))
