"""The name that a run has for ever and no other run has: its start and 48 random bits."""

from __future__ import annotations

import hashlib
import secrets
import time


def new_run_id(started_unix_ns: int = 0) -> str:
    """A fresh one: "20261122T195454Z-9f3c1a2b7d10". An import may not know when its run started (0): then now."""
    return f"{_stamp(started_unix_ns)}-{secrets.token_hex(6)}"


def derived_run_id(started_unix_ns: int, *facts: object) -> str:
    """That of a run which was saved without one: the same each time for the same facts."""
    digest = hashlib.blake2b(repr((started_unix_ns, *facts)).encode(errors="replace"), digest_size=6)
    return f"{_stamp(started_unix_ns or 1)}-{digest.hexdigest()}"


def _stamp(started_unix_ns: int) -> str:
    seconds = started_unix_ns / 1e9 if started_unix_ns else time.time()
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(seconds))
