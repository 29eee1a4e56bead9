"""Reads the [[database]] tables of a job file: each becomes a ramp of loads or of commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from iocast.jobs.problems import Problems, table_text
from iocast.jobs.toml.database.load_table import OF_COMMITS, OF_LOADS
from iocast.jobs.toml.line_numbers import Path
from iocast.model.database.database_load import CommitRamp, DatabaseLoad, DatabaseRamp, LoadRamp
from iocast.model.database.load_texts import parse_hot, parse_think
from iocast.units import parse_duration, parse_rate

LEAST_S = 1.0  # servers tell their statistics once a second
_PLAIN = ("driver", "update_pct", "scan_pct", "scan_blocks", "work_unit", "redo")
_OTHERS = ("phase", "files", "tree", "defaults")  # what is only of files and devices


def read_ramps(raw: Mapping[str, Any], problems: Problems) -> tuple[DatabaseRamp, ...]:
    """The ramps of a file whose fields are good by themselves; a problem for each that contradicts itself."""
    for name in _OTHERS:
        if name in raw:
            says = f"[[database]] and {name} in one file: a job loads a database, or files and devices"
            problems.add((name,), says, way_out="make two job files of it")
    if "interval" in raw and not problems.inside(("interval",)) and _seconds(raw["interval"]) < LEAST_S:
        problems.add(("interval",), "interval: a database tells what it did once a second", way_out='interval = "1s"')
    return tuple(
        ramp
        for index, table in enumerate(raw["database"])
        if not problems.inside(("database", index)) and (ramp := _ramp(table, ("database", index), problems))
    )


def _ramp(table: Mapping[str, Any], path: Path, problems: Problems) -> DatabaseRamp | None:
    clashes = list(_conflicts(table))
    for field, says, way_out in clashes:
        problems.add((*path, field) if field in table else path, f"{table_text(path)}: {says}", way_out=way_out)
    if clashes:
        return None
    given = table.get("sessions", 1)
    sessions = tuple(given) if isinstance(given, list) else (given,)
    test, beside_others = table.get("test", ""), table.get("beside_others", False)
    if table.get("work") == "commit":
        return CommitRamp(
            sessions=sessions,
            seconds=_seconds(table["time"]),
            row_bytes=table.get("row_bytes", 200),
            floor=table.get("floor", True),
            test=test,
            beside_others=beside_others,
        )
    return LoadRamp(
        load=DatabaseLoad(
            **{name: table[name] for name in _PLAIN if name in table},
            hot=parse_hot(table["hot"]) if "hot" in table else None,
            zipf_theta=float(table["zipf"]) if "zipf" in table else None,
            think=parse_think(table["think"]) if "think" in table else None,
        ),
        sessions=sessions,
        seconds=_seconds(table["time" if "time" in table else "at_most"]),
        rate_per_s=parse_rate(table["rate"]) if "rate" in table else None,
        until_steady="until" in table,
        first_s=_seconds(table["at_least"]) if "at_least" in table else None,
        test=test,
        beside_others=beside_others,
    )


def _conflicts(table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The field, what is wrong, and the way out."""
    commits = table.get("work") == "commit"
    for name in OF_LOADS if commits else OF_COMMITS:
        if name in table:
            yield name, f'{name} is not of work = "{"commit" if commits else "load"}"', "leave it out"
    given = table.get("sessions", 1)
    if isinstance(given, list) and len(set(given)) != len(given):
        yield "sessions", "sessions has a number twice", "`iocast repeat` measures it again"
    if commits or "until" not in table:
        yield from _timed(table)
        return
    if "time" in table:
        yield "time", "time and until: a row ends after a time, or when it is steady", "at_most for the longest"
    elif "at_most" not in table:
        yield "until", "until has no at_most: when does a row end that never becomes steady?", 'at_most = "2min"'
    elif _seconds(table["at_most"]) < 2 * _seconds(table.get("at_least", "1s")):
        yield "at_most", "at_most is below twice at_least: it would never be judged", "a longer at_most"


def _timed(table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in ("at_least", "at_most"):
        if name in table and table.get("work") != "commit":
            yield name, f'{name} without until = "steady"', "time for a row of one length"
    if "time" not in table:
        yield "", "time is missing", 'time = "60s"'
    elif _seconds(table["time"]) < LEAST_S:
        yield "time", "time is below 1s: servers tell their statistics once a second", '"10s" or more'


def _seconds(text: str) -> float:
    return parse_duration(text) / 1e9
