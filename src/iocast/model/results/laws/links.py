"""Laws of links, and rules of thumb."""

from __future__ import annotations

from typing import Annotated

from iocast.model.results.laws.law import Law, LawRow, Printed, mb_per_s, ms, num, pct
from iocast.model.results.shown import Number, shown


class LinkUse(LawRow, frozen=True, kw_only=True):
    """MB/s that were measured, beside what carried them. `link`: null where only what it was seen to do is known,
    which stands for the rule."""

    whose: Annotated[str | None, shown("system", spare=2)] = None
    measured_bytes_per_s: Annotated[Number, mb_per_s("measured")]
    link: Annotated[str | None, shown("over")] = None
    ports: int | None = None
    rule_bytes_per_s: Annotated[Number, mb_per_s("rule")]
    rule_share: Annotated[Number, pct("of it")]
    payload_bytes_per_s: Annotated[Number | None, mb_per_s("at most")] = None
    payload_share: Annotated[Number | None, pct("of it")] = None
    printed: Printed = None


class DisksUse(LawRow, frozen=True, kw_only=True):
    """IOPS that were measured, beside the disks below."""

    whose: Annotated[str, shown("system")]
    measured_iops: Annotated[Number, num("IOPS")]
    disks: Annotated[int, num("disks")]
    each_iops: Annotated[Number, num("IOPS\na disk")]
    expected_iops: Annotated[Number, num("all\ndisks")]
    expected_share: Annotated[Number, pct("of it")]


class LinkLaw(Law, frozen=True, kw_only=True, tag="link"):
    """What share of links measured MB/s are. `disks`: of the documents only."""

    links: tuple[LinkUse, ...]
    disks: tuple[DisksUse, ...] = ()


class Medium(LawRow, frozen=True, kw_only=True):
    """What a kind of storage takes for a random read, as was said when it was checked."""

    medium: Annotated[str, shown("storage")]
    read_low_ns: Annotated[Number, ms("from")]
    read_high_ns: Annotated[Number, ms("to")]
    good_ns: Annotated[Number, ms("good\nup to")]
    iops_low: Annotated[Number, num("IOPS\nfrom")]
    iops_high: Annotated[Number, num("IOPS\nto")]
    checked: Annotated[str, shown("checked")]
    source: Annotated[str, shown("source")]


class LinkSpeed(LawRow, frozen=True, kw_only=True):
    """What a link carries in one direction."""

    link: Annotated[str, shown("link")]
    rule_bytes_per_s: Annotated[Number, mb_per_s("rule")]
    payload_bytes_per_s: Annotated[Number, mb_per_s("at most")]


class RulesLaw(Law, frozen=True, kw_only=True, tag="rules"):
    """Rules of thumb."""

    media: tuple[Medium, ...]
    links: tuple[LinkSpeed, ...]
