"""Copies of one file in several ways, side by side: the verdict, a table for a cold and a warm source, remarks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iocast import text
from iocast.analyse.copy_figures import CellFigures, base_of, cells
from iocast.model.copy_trials import CACHES, CacheCode, CopyRun
from iocast.model.report import Chart, Figure, Report, Section
from iocast.model.results.copies import CopiedWay, CopyRemark
from iocast.report.charts import charts_at
from iocast.report.copy_remarks import remarks
from iocast.report.result_tables import result_table
from iocast.report.wording import section, words
from iocast.results.copies import copies_of

CPU_NOTE = (
    "Medians of the rounds. CPU is that of iocast and of the threads that io_uring has for it; the kernel's own"
    " write-back threads are not in it. user and sys are split by clock ticks: short copies tell only their sum well."
)
TITLES: dict[CacheCode, str] = {"cold": "Source not in the page cache", "warm": "Source in the page cache"}


def copy_report(run: CopyRun, folder: str = "", *, charts: bool = False) -> Report:
    """Everything that is told of the copies of a file. `folder` is where they are kept."""
    by_cell = cells(run)
    drawn = charts_at("copy", run) if charts else ()
    said = remarks(run, by_cell)
    result = copies_of(run, by_cell, said)
    known = zip(CACHES, (result.copies_cold, result.copies_warm), strict=True)
    parts = [section("copies", (_words(run),)), *(_part(run, cache, ways, drawn) for cache, ways in known if ways)]
    if said:
        table = result_table(CopyRemark, said, key="copy_remarks", words={"methods": _ways})
        parts.append(section("copy_remarks", (), (table,)))
    plan = run.plan
    return Report(
        title=f"Experiment copy · {plan.source.path}",
        verdict=_verdict(run, by_cell, said),
        sections=tuple(parts),
        next_steps=(f"To see this again: iocast report {shlex.quote(folder)}",) if folder else (),
        figures=_figures(by_cell),
        kind="copy",
        result=result,
    )


def _words(run: CopyRun) -> str:
    plan = run.plan
    done = f"{len(run.trials)} of {len(plan.cells)} copies" if not run.complete else f"{len(plan.cells)} copies"
    kept = f" {run.kept} was kept." if run.kept else " All copies were removed."
    return (
        f"{text.capacity(plan.size_bytes)} from {plan.source.filesystem} ({plan.source.path}) to"
        f" {plan.destination.filesystem} ({plan.destination.path}): {done} in {text.counted(plan.rounds, 'round')},"
        f" the order drawn anew in each, each copy read back and held against the source (XXH3, 128 bits).{kept}"
        f" {run.kernel}."
    )


def _part(run: CopyRun, cache: CacheCode, ways: tuple[CopiedWay, ...], drawn: Sequence[Chart]) -> Section:
    notes = [CPU_NOTE]
    base = base_of(run, cache)
    if base is not None:
        notes.append(f"Base of the ratios: {words(base)}.")
    table = result_table(CopiedWay, ways, key=f"copies_{cache}", words={"time_ratio": _ratio}, notes=tuple(notes))
    charts = tuple(each for each in drawn if each.key in (f"copy-rates-{cache}", f"copy-cpu-{cache}"))
    return Section("copies", TITLES[cache], (), (table,), charts)


def _ratio(way: CopiedWay) -> str:
    if way.base:
        return "base"
    return "" if way.time_ratio is None else text.ratio(way.time_ratio, way.time_ratio_low, way.time_ratio_high)


def _ways(remark: CopyRemark) -> tuple[str, ...]:
    return tuple(map(words, remark.methods))


def _verdict(run: CopyRun, by_cell: Sequence[CellFigures], copy_remarks: Sequence[CopyRemark]) -> str:
    """The worst first; then the fastest durable copy of data, and the cheapest."""
    if any(each.severity == "severe" for each in copy_remarks):
        return next(each.says for each in copy_remarks if each.severity == "severe")
    said = [_fastest(cache, by_cell) for cache in TITLES]
    shared = [each.method for each in by_cell if each.shared]
    if shared:
        names = " and ".join(words(method) for method in dict.fromkeys(shared))
        said.append(f"{names} made reflinks, which copy no data.")
    return " ".join(filter(None, said)) or "No copy was complete."


def _fastest(cache: CacheCode, by_cell: Sequence[CellFigures]) -> str:
    """Among the ways that copied data, by the time until the copy was durable."""
    known = [each for each in by_cell if each.cache == cache and each.rate_per_s]
    if len(known) < 2:
        return ""
    known.sort(key=lambda each: each.rate_per_s or 0.0)
    first = known[-1]
    base = next((each for each in known if each.time_ratio is None), None)
    rate = text.brief_throughput(first.rate_per_s or 0.0)
    how = f"{words(first.method)}, {rate} with fsync"
    if base is None or first is base:
        return f"{text.sentence(f'fastest with a {cache} source: {how}')}"
    if first.time_ratio is not None and first.time_ratio.verdict == "different":
        factor = text.number(1 / first.time_ratio.ratio)
        return text.sentence(f"fastest median with a {cache} source: {how}, {factor} times {words(base.method)}")
    return text.sentence(f"with a {cache} source no way differs from {words(base.method)} for sure; best: {how}")


def _figures(by_cell: Sequence[CellFigures]) -> tuple[Figure, ...]:
    """The best rate until durable, with the source out of and in the page cache."""
    made_figures = []
    for cache in TITLES:
        known = [each for each in by_cell if each.cache == cache and each.rate_per_s]
        if known:
            best = max(known, key=lambda each: each.rate_per_s or 0.0)
            made_figures.append(Figure(f"{cache}, with fsync", best.rate_per_s, "bytes_per_s", words(best.method)))
    return tuple(made_figures)
