"""Rules of thumb of links and devices: what to expect before anything is measured; data with a date."""

from __future__ import annotations

import datetime
import functools
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from iocast import units
from iocast.forecast.laws.link_payload import USUAL_MTU, serial_payload_bytes_per_s, tcp_payload_bytes_per_s

RULES = Path(__file__).with_name("rules_of_thumb.toml")


class MediumRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What to expect of a random read at a queue depth of 1, and how many IOPS a device does."""

    name: str
    read_low: str
    read_high: str
    good: str
    iops_low: int
    iops_high: int
    source: str
    checked: datetime.date

    @property
    def read_ns(self) -> tuple[int, int, int]:
        """From, to, and good up to."""
        low, high, good = (units.parse_duration(text) for text in (self.read_low, self.read_high, self.good))
        return low, high, good


class LinkRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A link: what the rule says of it, and what it carries at most."""

    name: str
    rule: str
    gbit: float
    kind: Literal["ethernet", "serial"]
    code: tuple[int, int] = (1, 1)

    @property
    def rule_bytes_per_s(self) -> int:
        """About 100 MB/s for each Gbit/s."""
        return units.parse_bandwidth(self.rule)

    @property
    def payload_bytes_per_s(self) -> float:
        """What data get of it at most."""
        return self.payload()

    def payload(self, mtu_bytes: int = USUAL_MTU, resent_share: float = 0.0) -> float:
        """The same where packets are larger, and some are sent again; of serial links neither counts."""
        if self.kind == "ethernet":
            return tcp_payload_bytes_per_s(self.gbit, mtu_bytes, resent_share)
        return serial_payload_bytes_per_s(self.gbit, *self.code)


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """All rules."""

    medium: tuple[MediumRule, ...]
    link: tuple[LinkRule, ...]


@functools.cache
def rules_of_thumb() -> Rules:
    """The rules, as rules_of_thumb.toml has them."""
    return msgspec.toml.decode(RULES.read_bytes(), type=Rules)
