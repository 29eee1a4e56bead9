"""A tape as a report: what devices, layers and sessions did in all of it, and how latencies went over time."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import metrics, text
from iocast.analyse.live.ioh_layers import ioh_times
from iocast.analyse.live.tape_summary import TapeSummary
from iocast.analyse.live.traced import traced
from iocast.diagnose.live.layer_questions import answers
from iocast.model.codes import ClockCode
from iocast.model.report import Figure, Report, Section, Table
from iocast.model.results.tapes import (
    ActiveShare,
    AsmDisk,
    DatabaseActivity,
    OracleMetric,
    OracleWaits,
    PostgresqlFigure,
    Tape,
    WatchedDevice,
    WatchedEvent,
    WatchedLayer,
)
from iocast.model.run import Run
from iocast.report.charts import charts_at
from iocast.report.live.database_modes.oramon_lines import TITLES
from iocast.report.live.database_modes.sysmetric_lines import NO_LATENCY
from iocast.report.live.latency.histogram_choice import label
from iocast.report.result_tables import result_table, with_rows
from iocast.report.wording import section
from iocast.results.tapes import tape_of

LAYERS: dict[ClockCode, str] = {
    "system_call": "system call",
    "bio": "block layer",
    "request": "request",
    "driver": "device",
}


def tape_report(run: Run, tape: TapeSummary | None, *, charts: bool = False) -> Report:
    """Everything that is told of a tape; one without two moments has nothing to tell."""
    if tape is None:
        return Report(
            title=f"Tape · {run.plan.target.path}",
            verdict="Nothing was seen: the tape ended before its first interval.",
            sections=(_not_seen(run),),
            kind="tape",
            result=Tape(),
        )
    result = tape_of(tape, run.tape.texts if run.tape else {})
    drawn = charts_at("tape", tape) if charts else ()
    devices = result_table(WatchedDevice, result.devices_seen, key="devices_seen")
    layers = result_table(WatchedLayer, result.layers, key="layers", words={"layer": lambda row: LAYERS[row.layer]})
    events = result_table(
        WatchedEvent, result.events, key="events", words={"subject": lambda row: label((row.observer, row.subject))}
    )
    parts = (
        section("devices", (), with_rows(devices)),
        section("layers", (*_traced(tape), *_questions(tape)), with_rows(layers), drawn if layers.rows else ()),
        section("events", (), with_rows(events), () if layers.rows else drawn),
        *map(_activity, result.activity),
        section("databases", (), _databases(result)),
        _not_seen(run),
    )
    return Report(
        title=f"Tape · {run.plan.target.path}",
        verdict=_verdict(run, tape),
        sections=tuple(part for part in parts if part.paragraphs or part.tables or part.charts),
        figures=_figures(tape),
        kind="tape",
        result=result,
    )


def _questions(tape: TapeSummary) -> Iterator[str]:
    """What ioh.sh asks, of a tape of it."""
    times = ioh_times(tape)
    yield from (answer.says for answer in answers(times)) if times is not None else ()


def _verdict(run: Run, tape: TapeSummary) -> str:
    assert run.tape is not None
    began = text.instant(tape.started_ns)
    said = f"Watched for {text.long_duration(tape.elapsed_ns)} from {began}"
    gaps_ns = tape.length_ns - tape.elapsed_ns
    if gaps_ns > 10 * run.tape.interval_ns:
        said += f", with {text.long_duration(gaps_ns)} of gaps"
    if run.tape.provenance != "real":
        said += f"; the samples are {'synthetic' if run.tape.provenance == 'synthetic' else 'a public sample'}"
    return f"{said}."


def _figures(tape: TapeSummary) -> tuple[Figure, ...]:
    devices = tape.views(metrics.DISKSTATS).values()
    if not devices:
        return ()
    figures = []
    for title, requests, moved in (
        ("reads", metrics.READS, metrics.READ_BYTES),
        ("writes", metrics.WRITES, metrics.WRITTEN_BYTES),
    ):
        rate = sum(view.per_s(requests) or 0.0 for view in devices)
        moved_per_s = sum(view.per_s(moved) or 0.0 for view in devices)
        figures.append(Figure(title, rate, "rate", f"{text.brief_throughput(moved_per_s)}, all devices"))
    return tuple(figures)


def _databases(result: Tape) -> tuple[Table, ...]:
    """What databases did, as pgmon, oramon, asm and sysmetric tell it."""
    return with_rows(
        result_table(PostgresqlFigure, result.pgmon, key="pgmon", title="PostgreSQL"),
        result_table(
            OracleWaits,
            result.oramon,
            key="oramon",
            title="I/O waits of Oracle",
            words={"wait": lambda row: TITLES[row.wait]},
        ),
        result_table(
            AsmDisk, result.asm, key="asm", title="Disks of ASM", words={"disk": lambda row: row.disk or "all"}
        ),
        result_table(
            OracleMetric,
            result.sysmetric,
            key="sysmetric",
            title="Metrics of Oracle",
            words={"no_latency": lambda row: NO_LATENCY if row.no_latency else ""},
        ),
    )


def _traced(tape: TapeSummary) -> Iterator[str]:
    trace = traced(tape.views(metrics.KERNEL_LAYERS).get(""))
    if trace is None or trace.whole:
        return
    if trace.share < 1:
        yield f"Layers were traced for {text.percent(trace.share)} of the time, in windows."
    if trace.lost_events:
        yield f"The trace lost {text.counted(trace.lost_events, 'record')}: what the layers counted is too low."


def _activity(activity: DatabaseActivity) -> Section:
    looks = text.counted(activity.polls, "look")
    said = f"{activity.database}: {activity.active_mean:.1f} sessions active on average, from {looks}."
    tables = with_rows(
        result_table(ActiveShare, activity.waits, key="waits", title="Waits"),
        result_table(ActiveShare, activity.statements, key="statements", title="Statements"),
        result_table(ActiveShare, activity.sessions, key="sessions", title="Sessions"),
    )
    return section("activity", (said,), tables)


def _not_seen(run: Run) -> Section:
    return section("not_seen", tuple(f"{each.observer}: {each.why}." for each in run.blind))
