"""Copies of a file become a result: what each way took, beside the base."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.analyse.copy_figures import CellFigures, base_of
from iocast.model.copy_trials import CacheCode, CopyRun
from iocast.model.results.copies import CopiedWay, Copies, CopyRemark


def copies_of(run: CopyRun, by_cell: Sequence[CellFigures], said: tuple[CopyRemark, ...]) -> Copies:
    """The ways in their order, with the remarks that the report makes of them."""
    return Copies(copies_cold=_ways(run, "cold", by_cell), copies_warm=_ways(run, "warm", by_cell), copy_remarks=said)


def _ways(run: CopyRun, cache: CacheCode, by_cell: Sequence[CellFigures]) -> tuple[CopiedWay, ...]:
    base = base_of(run, cache)
    return tuple(_way(each, base=each.method == base) for each in by_cell if each.cache == cache)


def _way(cell: CellFigures, *, base: bool) -> CopiedWay:
    copied, synced, time, system = cell.copied, cell.synced, cell.time_ratio, cell.system_ratio
    return CopiedWay(
        method=cell.method,
        copies=cell.copies,
        real_ns=round(copied.real_s * 1e9) if copied else None,
        rate_bytes_per_s=_bytes(copied.mb_per_s) if copied else None,
        real_synced_ns=round(synced.real_s * 1e9) if synced else None,
        rate_synced_bytes_per_s=_bytes(synced.mb_per_s) if synced else None,
        user_ns=round(copied.user_s * 1e9) if copied else None,
        system_ns=round(copied.system_s * 1e9) if copied else None,
        system_s_per_gb=copied.system_s_per_gb if copied else None,
        system_synced_s_per_gb=synced.system_s_per_gb if synced else None,
        calls=cell.calls,
        shared_share=cell.shared,
        time_ratio=time.ratio if time else None,
        time_ratio_low=time.low if time else None,
        time_ratio_high=time.high if time else None,
        base=base,
        system_ratio=system.ratio if system else None,
        system_ratio_low=system.low if system else None,
        system_ratio_high=system.high if system else None,
        cached_share=cell.cached,
    )


def _bytes(mb_per_s: float | None) -> float | None:
    return None if mb_per_s is None else mb_per_s * 1e6
