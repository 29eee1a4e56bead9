"""watch oramon: a spool of Oracle's waits and a scripted database, in the form of oramon.sh."""

from __future__ import annotations

import pytest
from makers.command_line import compare
from makers.oracle_spools import FIRST_S, intervals_of, look
from makers.scripted_database import ScriptedSession, dialled

from iocast.databases.oracle import oracle
from iocast.model.live.moment import Interval, moment_of
from iocast.report.live.database_modes import oramon_lines
from iocast.tools.database_rows import Row

# source-vectors.md V9: the sequential reads of the MOATS screen, 26002 waits of 1.413 ms on average, in 5 s.
READS, READ_US = 26_002, 36_740_826
LOGS, SCATTERED = "log file parallel write", "db file scattered read"


def _spool(*waits: dict[str, tuple[int, int]], starts: tuple[int, ...] = ()) -> list[Interval]:
    """Intervals of 5 s of a spool; cumulative waits and their microseconds by event."""
    return intervals_of(
        *(
            look(FIRST_S + 5 * at, waits=each, **({"start_s": starts[at]} if starts else {}))
            for at, each in enumerate(waits)
        )
    )


def _row(interval: Interval) -> dict[str, object]:
    found = oramon_lines.table(interval)
    return dict(zip(found.columns, found.rows[0], strict=True))


SERIES = (
    {"db file sequential read": (100, 50_000), LOGS: (50, 60_000)},
    {"db file sequential read": (100 + READS, 50_000 + READ_US), LOGS: (153, 179_480)},
    {"db file sequential read": (100 + READS, 50_000 + READ_US), LOGS: (153, 179_480), SCATTERED: (1, 623)},
    {"db file sequential read": (1039 + READS, 529_000 + READ_US), LOGS: (153, 179_480), SCATTERED: (1, 623)},
)


def test_a_fixed_series_prints_as_its_golden_file() -> None:
    shown = [line for interval in _spool(*SERIES) for line in oramon_lines.lines(interval)]
    compare("watch_oramon.txt", "\n".join((*oramon_lines.HEADING, *shown, "")))


def test_the_mean_of_the_moats_screen() -> None:
    row = _row(_spool(*SERIES)[0])
    assert row["single_block_ms"] == pytest.approx(1.413, abs=5e-7)
    assert row["single_block_iops"] == pytest.approx(READS / 5)
    assert (row["multi_block_ms"], row["multi_block_iops"]) == (None, 0)


@pytest.mark.parametrize("gone", ["db file sequential read", LOGS, SCATTERED])
def test_an_event_that_is_missing_leaves_the_others_where_they_are(gone: str) -> None:
    """source-vectors.md W19: matched by position, one that is missing shifts every later row."""
    whole = ({**SERIES[0], SCATTERED: (0, 0)}, {**SERIES[1], SCATTERED: (1, 623)})
    rows = [
        _row(_spool(*({event: each for event, each in waits.items() if event != without} for waits in whole))[0])
        for without in ("", gone)
    ]
    changed = {name for name in rows[0] if rows[0][name] != rows[1][name]}
    kind = {"db file sequential read": "single_block", LOGS: "log_write", SCATTERED: "multi_block"}[gone]
    assert changed == {f"{kind}_ms", f"{kind}_iops"}
    assert (rows[1][f"{kind}_ms"], rows[1][f"{kind}_iops"]) == (None, 0)


def test_a_restart_of_the_instance_is_unknown() -> None:
    (interval,) = _spool(*SERIES[:2], starts=(FIRST_S - 900, FIRST_S + 2))
    assert set(_row(interval).values()) == {None}
    assert list(oramon_lines.lines(interval)) == [""]


def _sampled(monkeypatch: pytest.MonkeyPatch, hosts: str, *waits: int) -> Interval:
    """Two looks at a scripted database of one or more instances, all with the same counters."""
    own: Row = {"inst_id": 1, "instance_name": "orcl1", "host_name": "db1", "version": "19.0", "started_s": FIRST_S}
    said: dict[str, list[Row] | Exception] = {
        "from dual": [{"whole_s": FIRST_S, "second_s": 0.0, "container": "PDB1", "name": "U"}],
        "v$instance": [own],
        "v$parameter": [{"name": "timed_statistics", "value": "TRUE"}],
    }
    made: list[ScriptedSession] = []
    scripted = [(f"oracle://u@{host}/shop", dialled(said, made)) for host in hosts.split(",")]
    monkeypatch.setattr(oracle, "dialler", lambda url, ask: scripted)
    moments = []
    with oracle.connect(f"oracle://u@{hosts}/shop", polls_per_s=0) as observer:
        for number, count in enumerate(waits):
            event = {"event": "db file sequential read", "total_waits": count, "time_waited_micro": 500 * count}
            for session in made:
                session.answers["system_event"] = [{"inst_id": 1, **event}]
            moments.append(moment_of(number + 1, observer.sample(), number))
    return Interval(*moments)


@pytest.mark.parametrize("hosts", ["db1", "db1,db2"])
def test_a_scripted_database_of_one_and_of_two_instances(monkeypatch: pytest.MonkeyPatch, hosts: str) -> None:
    row = _row(_sampled(monkeypatch, hosts, 10, 40))
    assert row["single_block_ms"] == pytest.approx(0.5)
    assert isinstance(row["single_block_iops"], float)
