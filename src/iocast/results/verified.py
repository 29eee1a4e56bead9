"""What was read back becomes a result: how many blocks are of each kind, and the bad ones."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.results.card import BlockRow, PlaceRow, Verified
from iocast.model.verification import BadBlock, Verification

MEANINGS = {
    "torn": "parts of two writes, or of a write and of older data",
    "lost": "an older write than acknowledged, or none",
    "misplaced": "a block that belongs elsewhere",
    "corrupt": "changed or foreign bytes",
    "unreadable": "read error",
}


def verified(verification: Verification) -> Verified:
    """Its blocks by kind, and the first bad ones of each."""
    return Verified(blocks=tuple(_blocks(verification)), places=tuple(_places(verification)))


def _blocks(verification: Verification) -> Iterator[BlockRow]:
    yield BlockRow(kind="intact", count=verification.intact, says="one whole, valid write")
    if verification.undecided:
        yield BlockRow(kind="undecided", count=verification.undecided, says="writes overlapped there, or failed")
    for (kind, meaning), count in zip(MEANINGS.items(), verification.bad, strict=True):
        yield BlockRow(kind=kind, count=count, says=meaning)


def _places(verification: Verification) -> Iterator[PlaceRow]:
    for place in verification.places:
        yield PlaceRow(
            kind=place.kind,
            file=verification.files[place.file],
            offset_bytes=place.offset_bytes,
            expected=_span(place.expected_from, place.expected_to),
            content=_content(verification, place),
        )


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def _content(verification: Verification, place: BadBlock) -> str:
    if place.kind == "unreadable":
        return place.error
    if place.kind == "corrupt":
        return "not a whole write"
    if place.belongs is not None:
        file, offset = place.belongs
        where = "" if file == place.file else f" of {verification.files[file]}"
        return f"write {place.found} at offset {offset:,}{where}"
    if place.kind == "torn":
        return f"parts of {place.found or 'older data'} and {place.found_newest}"
    return f"write {place.found}" if place.found else "nothing of this run"
