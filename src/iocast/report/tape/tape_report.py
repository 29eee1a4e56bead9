"""A tape as a report: what devices, layers and sessions did in all of it, and how latencies went over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iocast import metrics, text
from iocast.analyse.live.layer_rows import LayerRow, layer_rows
from iocast.analyse.live.session_shares import Activity, Share, activity, watched_databases
from iocast.analyse.live.tape_summary import TapeSummary
from iocast.analyse.live.traced import traced
from iocast.model.report import Column, Figure, Report, Row, Section, Table
from iocast.model.run import Run
from iocast.model.view import View
from iocast.report.charts import charts_at
from iocast.report.tape.database_tables import database_tables
from iocast.report.tape.event_latencies import event_latencies
from iocast.report.wording import section

DEVICES = (
    Column("device", "device"),
    Column("reads", "reads/s", "rate"),
    Column("read_bytes", "read", "bytes_per_s"),
    Column("read_await", "await", "duration"),
    Column("writes", "writes/s", "rate"),
    Column("written_bytes", "written", "bytes_per_s"),
    Column("write_await", "await", "duration"),
    Column("queue", "queue", "decimal"),
    Column("busy", "busy", "share"),
)
LAYERS = (
    Column("layer", "layer"),
    Column("op", "operation"),
    Column("where", "device"),
    Column("rate", "per s", "rate"),
    Column("throughput", "MB/s", "bytes_per_s"),
    Column("size", "mean size", "bytes"),
    Column("mean", "mean", "duration"),
)
SHARES = (Column("what", "what"), Column("share", "share", "share"), Column("sessions", "sessions", "decimal"))
LAYER_NAMES = {"system_call": "system call", "bio": "block layer", "request": "request", "driver": "device"}
MOST = 15


def tape_report(run: Run, tape: TapeSummary | None, *, charts: bool = False) -> Report:
    """Everything that is told of a tape; one without two moments has nothing to tell."""
    if tape is None:
        return Report(
            title=f"Tape · {run.plan.target.path}",
            verdict="Nothing was seen: the tape ended before its first interval.",
            sections=(_not_seen(run),),
            kind="tape",
        )
    texts = run.tape.texts if run.tape else {}
    drawn = charts_at("tape", tape) if charts else ()
    layers, events = layer_rows(tape), event_latencies(tape)
    parts = (
        section("devices", (), _filled(_devices(tape))),
        section("layers", tuple(_traced(tape)), _filled(_layers(layers)), drawn if layers else ()),
        section("events", (), _filled(events), () if layers else drawn),
        *(
            _activity(database, found, texts)
            for database in watched_databases(tape)
            if (found := activity(tape, database))
        ),
        section("databases", (), database_tables(tape)),
        _not_seen(run),
    )
    return Report(
        title=f"Tape · {run.plan.target.path}",
        verdict=_verdict(run, tape),
        sections=tuple(part for part in parts if part.paragraphs or part.tables or part.charts),
        figures=_figures(tape),
        kind="tape",
    )


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
    found = []
    for title, requests, moved in (
        ("reads", metrics.READS, metrics.READ_BYTES),
        ("writes", metrics.WRITES, metrics.WRITTEN_BYTES),
    ):
        rate = sum(view.per_s(requests) or 0.0 for view in devices)
        moved_per_s = sum(view.per_s(moved) or 0.0 for view in devices)
        found.append(Figure(title, rate, "rate", f"{text.brief_throughput(moved_per_s)}, all devices"))
    return tuple(found)


def _filled(table: Table) -> tuple[Table, ...]:
    return (table,) if table.rows else ()


def _devices(tape: TapeSummary) -> Table:
    views = tape.views(metrics.DISKSTATS)
    busiest = sorted(views.items(), key=lambda item: (-(item[1].delta(metrics.QUEUE_NS) or 0), item[0]))
    return Table("", DEVICES, tuple(_device(name, view) for name, view in busiest[:MOST]), key="devices_seen")


def _device(name: str, view: View) -> Row:
    return Row(
        {
            "device": name,
            "reads": view.per_s(metrics.READS),
            "read_bytes": view.per_s(metrics.READ_BYTES),
            "read_await": view.mean(metrics.READ_NS, metrics.READS),
            "writes": view.per_s(metrics.WRITES),
            "written_bytes": view.per_s(metrics.WRITTEN_BYTES),
            "write_await": view.mean(metrics.WRITE_NS, metrics.WRITES),
            "queue": view.queue_mean,
            "busy": view.utilisation,
        }
    )


def _layers(rows: Sequence[LayerRow]) -> Table:
    return Table(
        "",
        LAYERS,
        tuple(
            Row(
                {
                    "layer": LAYER_NAMES[row.layer],
                    "op": row.op,
                    "where": row.where,
                    "rate": row.per_s,
                    "throughput": row.bytes_per_s,
                    "size": row.mean_size_bytes,
                    "mean": row.found.mean_ns,
                }
            )
            for row in rows
        ),
        key="layers",
    )


def _traced(tape: TapeSummary) -> Iterator[str]:
    found = traced(tape.views(metrics.KERNEL_LAYERS).get(""))
    if found is None or found.whole:
        return
    if found.share < 1:
        yield f"Layers were traced for {text.percent(found.share)} of the time, in windows."
    if found.lost_events:
        yield f"The trace lost {text.counted(found.lost_events, 'record')}: what the layers counted is too low."


def _activity(database: str, found: Activity, texts: Mapping[str, str]) -> Section:
    tables = tuple(
        _shares(title, key, shares, {subject.removeprefix(kind): text for subject, text in texts.items()})
        for title, key, kind, shares in (
            ("Waits", "waits", "", found.waits),
            ("Statements", "statements", "sql|", found.statements),
            ("Sessions", "sessions", "session|", found.sessions),
        )
        if shares
    )
    said = f"{database}: {found.active_mean:.1f} sessions active on average, from {text.counted(found.polls, 'look')}."
    return section("activity", (said,), tables)


def _shares(title: str, key: str, shares: Sequence[Share], texts: Mapping[str, str]) -> Table:
    rows = tuple(
        Row(
            {
                "what": " ".join(texts.get(each.subject, each.subject).split()).replace("|", ": ", 1),
                "share": each.share,
                "sessions": each.active_mean,
            }
        )
        for each in shares[:MOST]
    )
    return Table(title, SHARES, rows, key=key)


def _not_seen(run: Run) -> Section:
    return section("not_seen", tuple(f"{each.observer}: {each.why}." for each in run.blind))
