"""Copies of one file in several ways, side by side: the verdict, a table for a cold and a warm source, remarks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iocast import text
from iocast.analyse.comparison import Ratio
from iocast.analyse.copying.copy_figures import CellFigures, base_of, cells
from iocast.model.copying.copy_trials import CacheCode, CopyRun, MethodCode
from iocast.model.report import Cell, Column, Figure, Report, Row, Section, Table
from iocast.report.charts import charts_at
from iocast.report.copying.copy_remarks import Remark, remarks
from iocast.report.wording import section, words

COLUMNS = (
    Column("method", "way", "code"),
    Column("copies", "copies", "count", spare=3),
    Column("real", "real", "duration", "until the last byte was handed over"),
    Column("rate", "MB/s", "bytes_per_s"),
    Column("real_synced", "with\nfsync", "duration", "until the copy was durable"),
    Column("rate_synced", "MB/s,\nfsync", "bytes_per_s"),
    Column("user", "user", "duration", spare=1),
    Column("system", "sys", "duration"),
    Column("system_per_gb", "sys s\nper GB", "figures"),
    Column("calls", "calls", "count", spare=4),
    Column("shared", "shared", "share", "of the copy, with the source (reflink)", spare=2),
    Column("time_ratio", "time\nratio", "text", "with fsync, over that of the base, with its 95% interval"),
)
CPU_NOTE = (
    "Medians of the rounds. CPU is that of iocast and of the threads that io_uring has for it; the kernel's own"
    " write-back threads are not in it. user and sys are split by clock ticks: short copies tell only their sum well."
)
REMARKS = (
    Column("severity", "severity", "code", spare=1),
    Column("code", "remark", "code"),
    Column("ways", "ways", "names"),
    Column("says", "evidence"),
)
TITLES: dict[CacheCode, str] = {"cold": "Source not in the page cache", "warm": "Source in the page cache"}


def copy_report(run: CopyRun, folder: str = "", *, charts: bool = False) -> Report:
    """Everything that is told of the copies of a file. `folder` is where they are kept."""
    found = cells(run)
    drawn = charts_at("copy", run) if charts else ()
    told = remarks(run, found)
    parts = [
        section("copies", (_words(run),)),
        *(_part(run, cache, found, drawn) for cache in TITLES if any(each.cache == cache for each in found)),
    ]
    if told:
        parts.append(section("copy_remarks", (), (_remarks(told),)))
    plan = run.plan
    return Report(
        title=f"Experiment copy · {plan.source.path}",
        verdict=_verdict(run, found, told),
        sections=tuple(parts),
        next_steps=(f"To see this again: iocast report {shlex.quote(folder)}",) if folder else (),
        figures=_figures(found),
        kind="copy",
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


def _part(run: CopyRun, cache: CacheCode, found: Sequence[CellFigures], drawn: Sequence[object]) -> Section:
    base = base_of(run, cache)
    notes = [CPU_NOTE]
    if base is not None:
        notes.append(f"Base of the ratios: {words(base)}.")
    rows = tuple(_row(each, base) for each in found if each.cache == cache)
    table = Table("", COLUMNS, rows, key=f"copies_{cache}", notes=tuple(notes))
    charts = tuple(each for each in drawn if getattr(each, "key", "") in (f"copy-rates-{cache}", f"copy-cpu-{cache}"))
    return Section("copies", TITLES[cache], (), (table,), charts)  # type: ignore[arg-type]


def _row(cell: CellFigures, base: MethodCode | None) -> Row:
    known: dict[str, Cell] = {
        "method": cell.method,
        "copies": cell.copies,
        **_spent(cell),
        "calls": cell.calls,
        "shared": cell.shared,
        "time_ratio": "base" if cell.method == base else _ratio(cell.time_ratio),
        "time_ratio_value": cell.time_ratio.ratio if cell.time_ratio else None,
        "system_ratio_value": cell.system_ratio.ratio if cell.system_ratio else None,
        "cached": cell.cached,
    }
    return Row(known)


def _spent(cell: CellFigures) -> dict[str, Cell]:
    copied, synced = cell.copied, cell.synced
    if copied is None or synced is None:
        return {}
    return {
        "real": round(copied.real_s * 1e9),
        "rate": _bytes(copied.mb_per_s),
        "real_synced": round(synced.real_s * 1e9),
        "rate_synced": _bytes(synced.mb_per_s),
        "user": round(copied.user_s * 1e9),
        "system": round(copied.system_s * 1e9),
        "system_per_gb": copied.system_s_per_gb,
        "system_synced_per_gb": synced.system_s_per_gb,
    }


def _verdict(run: CopyRun, found: Sequence[CellFigures], told: Sequence[Remark]) -> str:
    """The worst first; then the fastest durable copy of data, and the cheapest."""
    if any(each.severity == "severe" for each in told):
        return next(each.says for each in told if each.severity == "severe")
    said = [_fastest(cache, found) for cache in TITLES]
    shared = [each.method for each in found if each.shared]
    if shared:
        names = " and ".join(words(method) for method in dict.fromkeys(shared))
        said.append(f"{names} made reflinks, which copy no data.")
    return " ".join(filter(None, said)) or "No copy was complete."


def _fastest(cache: CacheCode, found: Sequence[CellFigures]) -> str:
    """Among the ways that copied data, by the time until the copy was durable."""
    known = [each for each in found if each.cache == cache and each.rate_per_s]
    if len(known) < 2:
        return ""
    known.sort(key=lambda each: each.rate_per_s or 0.0)
    first = known[-1]
    base = next((each for each in known if each.time_ratio is None), None)
    rate = text.brief_throughput(first.rate_per_s or 0.0)
    told = f"{words(first.method)}, {rate} with fsync"
    if base is None or first is base:
        return f"{text.sentence(f'fastest with a {cache} source: {told}')}"
    if first.time_ratio is not None and first.time_ratio.verdict == "different":
        factor = text.number(1 / first.time_ratio.ratio)
        return text.sentence(f"fastest median with a {cache} source: {told}, {factor} times {words(base.method)}")
    return text.sentence(f"with a {cache} source no way differs from {words(base.method)} for sure; best: {told}")


def _figures(found: Sequence[CellFigures]) -> tuple[Figure, ...]:
    """The best rate until durable, with the source out of and in the page cache."""
    made = []
    for cache in TITLES:
        known = [each for each in found if each.cache == cache and each.rate_per_s]
        if known:
            best = max(known, key=lambda each: each.rate_per_s or 0.0)
            made.append(Figure(f"{cache}, with fsync", best.rate_per_s, "bytes_per_s", words(best.method)))
    return tuple(made)


def _remarks(told: Sequence[Remark]) -> Table:
    rows = tuple(
        Row(
            {
                "severity": each.severity,
                "code": each.code,
                "ways": tuple(words(method) for method in each.methods),
                "says": each.says,
                "methods": each.methods,
                "remedy": each.remedy,
            },
            note=each.remedy,
        )
        for each in told
    )
    return Table("", REMARKS, rows, key="copy_remarks")


def _ratio(found: Ratio | None) -> str | None:
    return None if found is None else text.ratio(found.ratio, found.low, found.high)


def _bytes(mb_per_s: float | None) -> float | None:
    return None if mb_per_s is None else mb_per_s * 1e6
