"""Seen: what happened in some time, by observer and subject: an interval, or all of a tape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from iocast.model.view import View


class Readings(Protocol):
    """What panels and tables are made of, whether it lasted a second or a day."""

    @property
    def elapsed_ns(self) -> int:
        """From its first to its last moment."""

    @property
    def observers(self) -> tuple[str, ...]:
        """Those that saw it."""

    def views(self, observer: str) -> Mapping[str, View]:
        """How far the counters of each subject went."""

    def values(self, observer: str) -> Mapping[str, Mapping[str, float]]:
        """Figures that are no counters, by subject: as they stood at the end of an interval, their mean of a tape."""
