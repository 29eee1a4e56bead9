"""How unevenly references fall on blocks: the busiest share of the blocks and what it gets."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from iocast.model.profiling.profile import Footprint

TOLD = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)  # shares of the blocks


class SharePoint(Struct, frozen=True):
    """The busiest `blocks_share` of all blocks get `references_share` of all references."""

    blocks_share: float
    references_share: float


def share_curve(footprint: Footprint) -> tuple[SharePoint, ...]:
    """The curve from no block to all, the busiest first; straight between its points."""
    points, blocks, references = [SharePoint(0.0, 0.0)], 0, 0
    for group in footprint.uses:
        blocks += group.blocks
        references += group.uses * group.blocks
        points.append(SharePoint(blocks / footprint.blocks, references / footprint.references))
    return tuple(points)


def share_of_busiest(curve: tuple[SharePoint, ...], blocks_share: float) -> float:
    """The share of references that the busiest blocks get."""
    before = curve[0]
    for point in curve[1:]:
        if point.blocks_share >= blocks_share:
            wide = point.blocks_share - before.blocks_share
            part = (blocks_share - before.blocks_share) / wide if wide else 1.0
            return before.references_share + part * (point.references_share - before.references_share)
        before = point
    return 1.0


def thinned(curve: tuple[SharePoint, ...], most: int = 200) -> Iterator[SharePoint]:
    """The points of a curve that a picture needs: no two nearer than a part of the whole."""
    last = None
    for point in curve:
        near = (
            last is not None
            and max(point.blocks_share - last.blocks_share, point.references_share - last.references_share) < 1 / most
        )
        if not near or point is curve[-1]:
            last = point
            yield point
