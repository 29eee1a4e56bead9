"""Pseudonyms: a secret key makes another name of each, always the same one, from which nothing can be read back."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from functools import lru_cache
from typing import Final

_BYTES: Final = 5  # eight signs: two of 10,000 names are taken for one with a probability of 0.005%
_KNOWN: Final = 65_536  # names that are remembered, so that each is made once


class Pseudonyms:
    """Those of one key. Without a key it is one that nobody else has, and that ends with this process."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = secrets.token_bytes(32) if key is None else key
        self.named = lru_cache(_KNOWN)(self._named)

    def _named(self, kind: str, name: str) -> str:
        """ "host-k3v9qd2m"; "" stays "": where there is no name, none is made up."""
        if not name:
            return ""
        text = f"{kind}\0{name}".encode(errors="surrogateescape")
        digest = hmac.digest(self._key, text, hashlib.sha256)[:_BYTES]
        return f"{kind}-{base64.b32encode(digest).decode().lower()}"
