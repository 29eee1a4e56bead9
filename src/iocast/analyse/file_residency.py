"""The work files around a phase: how much of them lay in the page cache, and whether one became shorter."""

from __future__ import annotations

from msgspec import Struct

from iocast import metrics
from iocast.model.run import PhaseRecord


class Residency(Struct, frozen=True):
    """Bytes of all work files together that were in the page cache, first and last seen."""

    before_bytes: int
    after_bytes: int
    file_bytes: int

    @property
    def before_share(self) -> float:
        """Share of the files that was cached before the phase."""
        return self.before_bytes / self.file_bytes

    @property
    def rise_share(self) -> float:
        """How much of the files became cached during the phase; below nought when they left the cache."""
        return (self.after_bytes - self.before_bytes) / self.file_bytes


class Shrunken(Struct, frozen=True):
    """A file that ended, at some moment of a phase, before the part that the phase works on does."""

    path: str
    planned_bytes: int
    least_bytes: int


def shrunken_files(record: PhaseRecord) -> tuple[Shrunken, ...]:
    """The files that were seen shorter than the phase needs them."""
    planned = {region.path: region.start_bytes + region.size_bytes for region in record.plan.files}
    least: dict[str, int] = {}
    for sample in record.samples:
        if sample.observer == metrics.PAGECACHE and sample.metric == metrics.FILE_BYTES:
            least[sample.subject] = min(round(sample.value), least.get(sample.subject, round(sample.value)))
    shrunken = (Shrunken(path, size, least.get(path, size)) for path, size in planned.items())
    return tuple(each for each in shrunken if each.least_bytes < each.planned_bytes)


def residency(record: PhaseRecord) -> Residency | None:
    """The page-cache residency around a phase; None when it was not seen or there is no file."""
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    size: dict[str, float] = {}
    for sample in record.samples:
        if sample.observer != metrics.PAGECACHE:
            continue
        if sample.metric == metrics.CACHED_BYTES:
            before.setdefault(sample.subject, sample.value)
            after[sample.subject] = sample.value
        elif sample.metric == metrics.FILE_BYTES:
            size[sample.subject] = sample.value
    files = [name for name in before if size.get(name)]
    if not files:
        return None
    return Residency(
        round(sum(before[name] for name in files)),
        round(sum(after[name] for name in files)),
        round(sum(size[name] for name in files)),
    )
