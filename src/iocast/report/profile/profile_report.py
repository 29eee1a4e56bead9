"""A profile as a report: the workload in a paragraph, then the tables that it stands on."""

from __future__ import annotations

from collections.abc import Callable

from iocast import text
from iocast.analyse.profiling.response_accounting import ResponseAccounting
from iocast.model.codes import ResponsePartCode, SectionCode
from iocast.model.profiling.profile import Profile
from iocast.model.report import Chart, Figure, Report, Section, Table
from iocast.model.results.profiles import EventWaits, ResponsePart, StatementTimes, TraceProfile
from iocast.report.charts import charts_at
from iocast.report.profile import profile_tables as tables
from iocast.report.profile.profile_sentences import cautions, loop_words, verdict
from iocast.report.result_tables import result_table, with_rows
from iocast.report.wording import section
from iocast.results.profiles import response_parts, trace_profile


def profile_report(
    profile: Profile, folder: str = "", accounting: ResponseAccounting | None = None, *, charts: bool = False
) -> Report:
    """Everything that is told of a profile. `folder` is where it is kept."""
    drawn = charts_at("profile", profile) if charts else ()
    result = trace_profile(profile, accounting)
    parts = (
        _part("workload", tables.operation_tables(profile, result), drawn, ("size_distribution",)),
        _part("arrivals", tables.arrival_tables(profile, result), paragraphs=(_loop(profile),)),
        _part("sequentiality", tables.run_tables(profile, result), drawn, ("time_offset",)),
        _part("locality", tables.place_tables(profile, result), drawn, ("miss_ratio", "use_share")),
        _part("latencies", tables.latency_tables(result), drawn, ("time_latency",)),
        _part("targets", tables.target_tables(profile, result)),
        _part("phases", tables.phase_tables(result)),
        *((accounting_section(accounting, result),) if accounting is not None else ()),
        section("remarks", tuple(cautions(profile)), (tables.source_table(profile, result),)),
    )
    return Report(
        title=f"Profile · {profile.name}",
        verdict=verdict(profile) if profile.events or accounting is None else accounting_words(accounting),
        sections=tuple(part for part in parts if part.paragraphs or part.tables or part.charts),
        next_steps=_next_steps(profile, folder),
        figures=_figures(profile),
        kind="profile",
        result=result,
    )


def _next_steps(profile: Profile, folder: str) -> tuple[str, ...]:
    """What `--to` would refuse is not advised."""
    if profile.layers == ("db",) and not profile.with_size and len(profile.sources) == 1:
        return (f"Make sizes and offsets known: iocast profile {profile.sources[0].path} --block-size 8k",)
    if not folder or not profile.with_size or not profile.length_ns:
        return ()
    return (f"Make a load like it: iocast profile {folder} --to job.toml",)


def _loop(profile: Profile) -> str:
    from iocast.analyse.profiling.concurrency import loop_of

    return loop_words(loop_of(profile))


def _part(
    code: SectionCode,
    part_tables: tuple[Table, ...],
    charts: tuple[Chart, ...] = (),
    kinds: tuple[str, ...] = (),
    paragraphs: tuple[str, ...] = (),
) -> Section:
    shown = tuple(chart for chart in charts if chart.kind in kinds)
    return section(code, paragraphs if part_tables else (), part_tables, shown)


def _figures(profile: Profile) -> tuple[Figure, ...]:
    arrivals = profile.order.arrivals
    if not profile.events:
        return ()
    figures = [Figure("I/Os", profile.events, "count", f"in {text.brief_time(profile.length_ns)}")]
    if arrivals is not None and arrivals.rate_per_s is not None:
        second = arrivals.peak(1_000_000_000)
        says = f"{text.rate(second.most_per_s)} in the busiest second" if second and second.windows > 1 else ""
        figures.append(Figure("on average", arrivals.rate_per_s, "rate", says))
    reads = sum(each.events for each in profile.sizes if each.op == 0)
    figures.append(Figure("reads", reads / profile.events, "share", "of all I/Os"))
    if profile.footprint is not None:
        size = profile.footprint.blocks * profile.footprint.block_bytes
        figures.append(Figure("touched", size, "bytes", "different data"))
    return tuple(figures)


PARTS: dict[ResponsePartCode, str] = {
    "cpu": "CPU",
    "inside_calls": "waits inside of calls",
    "unaccounted": "not accounted for",
    "cut_off": "waits of calls that the trace lacks",
    "between_calls": "between calls",
    "idle": "waits for the client (idle)",
}
OVERLAP = "Not accounted for is below 0: some CPU time is inside of waits, or some waits are outside of calls."


def accounting_section(accounting: ResponseAccounting, result: TraceProfile) -> Section:
    """The section; its first line is the largest part."""
    notes = (OVERLAP,) if accounting.unaccounted_ns < 0 else ()
    parts: dict[str, Callable[[ResponsePart], str]] = {"part": lambda row: PARTS[row.part]}
    statements: dict[str, Callable[[StatementTimes], str]] = {"sql": lambda row: row.sql or "unknown"}
    tables = with_rows(
        result_table(ResponsePart, result.breakdown, key="breakdown", words=parts, notes=notes),
        result_table(EventWaits, result.wait_events, key="wait_events"),
        result_table(StatementTimes, result.statements, key="statements", words=statements),
    )
    return section("response_time", (accounting_words(accounting),), tables)


def accounting_words(accounting: ResponseAccounting) -> str:
    """The response time, its largest part, and the event that was waited for most inside of calls."""
    whole = accounting.response_ns
    if not whole:
        return "The trace does not say how long its calls and waits took."
    part, took = max(response_parts(accounting), key=lambda part: part[1])
    said = f"Response time {text.brief_time(whole)}: {text.brief_percent(took / whole)} {PARTS[part]}"
    longest = next((each for each in accounting.events if not each.between_calls and each.total_ns), None)
    if part in ("inside_calls", "cut_off") and longest is not None:
        said += f", most of all {text.shown(longest.event)} ({text.brief_time(longest.total_ns)})"
    return f"{said}."
