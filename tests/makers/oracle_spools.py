"""Spools of `iocast_capture.sql` as SQL*Plus prints them: looks whose counters are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from iocast.model.live.moment import Interval, intervals, moment_of
from iocast.tools.oracle.oracle_spool import read_spool
from iocast.tools.oracle.oracle_statements import STATEMENTS

START_S = 1_795_000_000
FIRST_S = 1_795_442_280


def heads(name: str) -> str:
    """The line that names a view and its columns."""
    (statement,) = [each for each in STATEMENTS if each.name == name]
    return f"#iocast {name} {'|'.join(statement.columns)}"


def row(*values: object) -> str:
    """Padded as SQL*Plus pads: numbers to the right, texts to the left."""
    return "|".join(f"{each:>38}" if isinstance(each, int | float) else f"{each:<64}" for each in values)


def look(
    at_s: int,
    *,
    waits: Mapping[str, tuple[int, int]] | None = None,
    rows: Mapping[str, Iterable[tuple[object, ...]]] | None = None,
    start_s: int = START_S,
) -> str:
    """One look at instance 1: waits and their microseconds by event, and rows of other views."""
    lines = [
        "",
        "Session altered.",
        "#iocast look 1",
        "#iocast clock whole_s|second_s",
        row(at_s, at_s % 60 + 0.5),
        "#iocast instance inst_id|instance_name|host_name|version|started_s",
        row(1, "orcl1", "db1", "19.0.0.0.0", start_s),
        "#iocast parameter name|value",
        row("timed_statistics", "TRUE"),
        heads("system_event"),
        *(row(1, event, count, 0, us, count, us) for event, (count, us) in (waits or {}).items()),
    ]
    for name, each in (rows or {}).items():
        lines += [heads(name), *(row(*values) for values in each)]
    return "\n".join([*lines, "#iocast end", ""])


def intervals_of(*looks: str) -> list[Interval]:
    """What a watch would have seen of these looks."""
    told = read_spool("tape.txt", "".join(looks))
    times = sorted({sample.time_ns for sample in told.samples})
    return list(
        intervals(
            moment_of(at_ns, [each for each in told.samples if each.time_ns == at_ns], number)
            for number, at_ns in enumerate(times)
        )
    )
