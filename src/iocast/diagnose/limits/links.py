"""What the links below a target carry together: paths times link."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from iocast.analyse.device_io import top_layers
from iocast.analyse.load_kind import MOVING, bytes_per_s_of
from iocast.model.run import PhaseRecord
from iocast.model.target import Layer, Target
from iocast.model.workload import Op
from iocast.text import brief_throughput


class Links(Struct, frozen=True):
    """The links that all I/O of a target passes, side by side, in bytes a second each."""

    speeds: tuple[int, ...]

    @property
    def bytes_per_s(self) -> int:
        """What they carry together, each way."""
        return sum(self.speeds)

    @property
    def words(self) -> str:
        """What carries, with its verb: "its link carries", "its 2 paths of 200 MB/s carry"."""
        if len(self.speeds) == 1:
            return "its link carries"
        each = f" of {brief_throughput(self.speeds[0])}" if len(set(self.speeds)) == 1 else ""
        return f"its {len(self.speeds)} paths{each} carry"


class LinkUse(NamedTuple):
    """What a row moved one way through the links of its target, in bytes a second, and the share of what they carry."""

    op: Op
    bytes_per_s: float
    links: Links

    @property
    def share(self) -> float:
        return self.bytes_per_s / self.links.bytes_per_s


def links_used(record: PhaseRecord, target: Target) -> tuple[LinkUse, ...]:
    """Each way, which links carry at once; none where a link is not known. A trim moves nothing."""
    links = links_of(target)
    if links is None:
        return ()
    return tuple(LinkUse(op, bytes_per_s_of(record.measurement, op), links) for op in MOVING)


def links_of(target: Target) -> Links | None:
    """The links of all devices right under the file system; None when one of them is not known."""
    return _side_by_side([links_below(layer, target) for layer in top_layers(target)])


def links_below(layer: Layer, target: Target) -> Links | None:
    """The links that bound a layer; None when one of them is not known.

    Paths side by side add up (multipath, stripes, mirrors); a layer's own link bounds what lies below it.
    """
    by_name = {each.name: each for each in target.layers}
    through = _side_by_side([links_below(by_name[name], target) if name in by_name else None for name in layer.lower])
    own = Links((layer.link_bytes_per_s,)) if layer.link_bytes_per_s else None
    if through is None or own is None:
        return through or own
    return min(through, own, key=lambda links: links.bytes_per_s)


def _side_by_side(parts: list[Links | None]) -> Links | None:
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts):
        return None
    return Links(tuple(speed for part in known for speed in part.speeds))
