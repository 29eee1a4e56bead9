"""Verification: what became of everything that a run wrote with `verify`, block by block."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

BadKind = Literal["torn", "lost", "misplaced", "corrupt", "unreadable"]
BAD_KINDS: tuple[BadKind, ...] = ("torn", "lost", "misplaced", "corrupt", "unreadable")


class BadBlock(Struct, frozen=True, forbid_unknown_fields=True):
    """One block that is not as it must be. Numbers count the writes of this block from 1; 0 is none."""

    kind: BadKind
    file: int  # index into Verification.files
    offset_bytes: int
    expected_from: int  # the oldest write that may be there
    expected_to: int  # the newest
    found: int  # the write that is there; of a torn block its oldest part
    found_newest: int
    belongs: tuple[int, int] | None  # of a misplaced one: file and byte
    error: str  # why it could not be read


class Verification(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reading back. `intact`, `undecided` and the bad ones add up to `blocks`."""

    files: tuple[str, ...]
    block_bytes: int
    started_unix_ns: int
    elapsed_ns: int
    blocks: int  # that were written, and read back
    intact: int
    undecided: int  # writes were outstanding together there, or failed: parts of both may stand side by side
    outstanding: int  # of all: had a write on its way at the end, that was never acknowledged
    ahead: int  # of all: newer than the journal knows
    bad: tuple[int, int, int, int, int]  # in the order of BAD_KINDS
    places: tuple[BadBlock, ...]
    direct: bool  # past the page cache
    complete: bool  # read to the end
    durable_only: bool  # only what was made durable had to be there

    @property
    def bad_blocks(self) -> int:
        """Blocks that are not as they must be."""
        return sum(self.bad)

    def count(self, kind: BadKind) -> int:
        """Blocks that are bad in this way."""
        return self.bad[BAD_KINDS.index(kind)]
