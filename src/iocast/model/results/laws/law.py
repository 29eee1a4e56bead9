"""What all laws have, and the columns that many have.

`printed` is what the document prints that the law comes from. A law whose table has one row is that row.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.model.results.shown import Number, shown


def ms(heading: str, spare: int = 0) -> Meta:
    """A column of times, held in ns and shown in milliseconds."""
    return shown(f"{heading}\nms", "milliseconds", spare=spare)


def num(heading: str, spare: int = 0) -> Meta:
    """A column of plain numbers with five figures."""
    return shown(heading, "figures", spare=spare)


def pct(heading: str, spare: int = 0) -> Meta:
    """A column of shares with two decimals."""
    return shown(heading, "exact_share", spare=spare)


def mb_per_s(heading: str) -> Meta:
    """A column of bytes a second."""
    return shown(f"{heading}\nMB/s", "bytes_per_s")


Printed = Annotated[str | None, shown("document\nprints", spare=1)]
Rpm = Annotated[Number, num("rpm")]
Iops = Annotated[Number, num("IOPS")]


class Law(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="name"):
    """A law. Its `name` tells scripts which fields to expect."""


class LawRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of a law."""
