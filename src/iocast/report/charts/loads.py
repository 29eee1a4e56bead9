"""Loads beside each other: their points, and their axis of equal steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.model.results.shown import shown
from iocast.report.plot.axes import Axis, names_axis

EDGE = 0.62  # before the first load, in steps: room for what is written left of it
END = 1.1  # behind the last one, so that its histogram has room


class AtLoad(Struct, frozen=True):
    """What was seen at a load, users x queue depth."""

    users: Annotated[int, shown("load", "load", explain="users x queue depth", pair="depth")]
    depth: int

    @property
    def label(self) -> str:
        """The load as it is written at an axis."""
        return text.load(self.users, self.depth)


def loads_axis(labels: Sequence[str]) -> Axis:
    """The loads from left to right at 0, 1, 2, ..."""
    return names_axis(labels, -EDGE, len(labels) - 1 + END, "load (users x queue depth)")
