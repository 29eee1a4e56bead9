"""How people write a hot spot and pauses of a load through a database: "1GiB@10GiB:3", "1ms..5ms:10"."""

from __future__ import annotations

from iocast.errors import SpecError
from iocast.model.database.database_load import HotSpot, Think
from iocast.units import parse_duration, parse_size

HOT = 'a text such as "1GiB@10GiB:3": size, offset, every third statement'
THINK = 'a text such as "1ms..5ms:10": shortest, longest, before every tenth statement'


def parse_hot(text: str) -> HotSpot:
    """SIZE[@OFFSET][:EVERY]. Raises SpecError."""
    what, every = _every(text)
    size, _, offset = what.partition("@")
    return HotSpot(size_bytes=parse_size(size), offset_bytes=parse_size(offset) if offset else 0, every=every)


def parse_think(text: str) -> Think:
    """MIN[..MAX][:EVERY]. Raises SpecError."""
    what, every = _every(text)
    least, _, most = what.partition("..")
    think = Think(least_ns=parse_duration(least), most_ns=parse_duration(most or least), every=every)
    if think.least_ns > think.most_ns:
        raise SpecError(f'"{text}": the shorter time comes first', "for example 1ms..5ms:10")
    return think


def _every(text: str) -> tuple[str, int]:
    what, colon, every = text.rpartition(":")
    if not colon:
        return text, 1
    if not every.isdecimal() or not int(every):
        raise SpecError(f'"{text}" ends in ":{every}"', "a number of statements follows the colon, such as :10")
    return what, int(every)
