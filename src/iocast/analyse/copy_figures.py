"""The arithmetic of copies: rates, CPU for each gigabyte, medians over the rounds, each way against another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from iocast.analyse.comparison import Ratio, ab_ratio, median_of
from iocast.model.copy_trials import CacheCode, CopyRun, CopyTrial, MethodCode

GB = 1e9
COLD_MOST, WARM_LEAST = 0.02, 0.98  # of the source in the page cache [J]
BASE: tuple[MethodCode, ...] = ("read_write_block", "read_write_large")  # what the others are set beside


class Spent(Struct, frozen=True):
    """What `time` prints of a copy, and how much was copied."""

    bytes: int
    real_s: float
    user_s: float
    system_s: float

    @property
    def mb_per_s(self) -> float | None:
        """Decimal megabytes per second; None for a copy that took no time."""
        return self.bytes / 1e6 / self.real_s if self.real_s else None

    @property
    def system_s_per_gb(self) -> float | None:
        """Seconds of the kernel for each 10^9 bytes; None for an empty file."""
        return self.system_s / (self.bytes / GB) if self.bytes else None


def spent(trial: CopyTrial, *, synced: bool) -> Spent:
    """The figures of a copy until its last byte was handed over, or until it was durable."""
    trial_figures = trial.figures
    extra = (trial_figures.sync_ns, trial_figures.sync_user_ns, trial_figures.sync_system_ns) if synced else (0, 0, 0)
    real_ns, user_ns, system_ns = (
        trial_figures.elapsed_ns + extra[0],
        trial_figures.user_ns + extra[1],
        trial_figures.system_ns + extra[2],
    )
    return Spent(trial_figures.bytes, real_ns / 1e9, user_ns / 1e9, system_ns / 1e9)


def share_more(value: float, than: float) -> float:
    """How much more `value` is, as a share: 0.323 is 32.3% more."""
    return value / than - 1


class CellFigures(Struct, frozen=True, kw_only=True):
    """The medians of a way over its rounds. None: no whole copy, or unknown."""

    method: MethodCode
    cache: CacheCode
    copies: int
    copied: Spent | None = None  # until the last byte was handed over
    synced: Spent | None = None  # until the copy was durable
    calls: int | None = None
    shared: float | None = None  # of the copy, with other files
    cached: float | None = None  # of the source, before the copy: the median
    time_ratio: Ratio | None = None  # time with fsync over that of BASE
    system_ratio: Ratio | None = None

    @property
    def rate_per_s(self) -> float | None:
        """Bytes per second until the copy was durable, of a way that copied data; None for reflinks."""
        rate = self.synced.mb_per_s if self.synced and not self.shared else None
        return None if rate is None else rate * 1e6

    @property
    def as_asked(self) -> bool:
        """False where the page cache had the source although it was to be cold, or had not although it was warm."""
        if self.cached is None:
            return True
        return self.cached <= COLD_MOST if self.cache == "cold" else self.cached >= WARM_LEAST


def trials_of(run: CopyRun, method: MethodCode, cache: CacheCode) -> tuple[CopyTrial, ...]:
    """The whole copies of a cell, by round."""
    trials = [each for each in run.trials if (each.cell.method, each.cell.cache) == (method, cache) and each.whole]
    return tuple(sorted(trials, key=lambda each: each.cell.round))


def cells(run: CopyRun) -> tuple[CellFigures, ...]:
    """All ways in their order, cold before warm."""
    caches: tuple[CacheCode, ...] = ("cold", "warm")
    return tuple(_cell(run, method, cache) for cache in caches for method in run.plan.methods if _planned(run, cache))


def _planned(run: CopyRun, cache: CacheCode) -> bool:
    return any(cell.cache == cache for cell in run.plan.cells)


def _cell(run: CopyRun, method: MethodCode, cache: CacheCode) -> CellFigures:
    cell_trials = trials_of(run, method, cache)
    if not cell_trials:
        return CellFigures(method=method, cache=cache, copies=0)
    size = run.plan.size_bytes
    base = base_of(run, cache)
    beside = () if base is None or base == method else trials_of(run, base, cache)
    return CellFigures(
        method=method,
        cache=cache,
        copies=len(cell_trials),
        copied=_medians([spent(each, synced=False) for each in cell_trials]),
        synced=_medians([spent(each, synced=True) for each in cell_trials]),
        calls=round(median_of([each.figures.calls for each in cell_trials])),
        shared=_share([each.shared_bytes for each in cell_trials], size),
        cached=_share([each.cached_bytes for each in cell_trials], size),
        time_ratio=_ratio(beside, cell_trials, lambda each: spent(each, synced=True).real_s),
        system_ratio=_ratio(beside, cell_trials, lambda each: spent(each, synced=False).system_s),
    )


def base_of(run: CopyRun, cache: CacheCode) -> MethodCode | None:
    """The way that the others are set beside: the first of BASE that was whole."""
    return next((method for method in BASE if trials_of(run, method, cache)), None)


def _medians(values: Sequence[Spent]) -> Spent:
    """The median of each figure by itself; rates then follow from them."""
    return Spent(
        values[0].bytes,
        median_of([each.real_s for each in values]),
        median_of([each.user_s for each in values]),
        median_of([each.system_s for each in values]),
    )


def _share(values: Sequence[int | None], size_bytes: int) -> float | None:
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not size_bytes:
        return None
    return min(1.0, median_of(known) / size_bytes)


def _ratio(base: Sequence[CopyTrial], other: Sequence[CopyTrial], of: Callable[[CopyTrial], float]) -> Ratio | None:
    """The other over the base, round by round where both have the same rounds. None where a figure is 0."""
    first, second = [of(each) for each in base], [of(each) for each in other]
    if not first or not second or min(*first, *second) <= 0 or not all(map(math.isfinite, (*first, *second))):
        return None
    matched = [each.cell.round for each in base] == [each.cell.round for each in other]
    return ab_ratio(first, second, matched=matched)
