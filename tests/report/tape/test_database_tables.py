"""The report of a tape has the figures of the line modes of databases, over all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.live_moments import SECOND_NS, moment

from iocast.analyse.live.tape_summary import summarise
from iocast.metrics import EPOCH
from iocast.model.live.moment import Moment
from iocast.model.report import Report
from iocast.model.results.tapes import Tape
from iocast.results.tapes import tape_of
from iocast.sessions.import_results import import_results
from iocast.sessions.listener import Quiet
from iocast.sessions.live.tape_card import report_of_tape

SPOOL = Path(__file__).parents[2] / "tools/fixtures/capture_spool.txt"


def _tape(moments: list[Moment]) -> Tape:
    found = summarise(moments, SECOND_NS, (len(moments) - 1) * SECOND_NS)
    assert found is not None
    return tape_of(found, {})


def _report(place: Path) -> Report:
    import_results([str(SPOOL)], str(place), Quiet())
    (folder,) = place.iterdir()
    return report_of_tape(str(folder))


def test_a_spool_of_oracle(tmp_path: Path) -> None:
    (section,) = [each for each in _report(tmp_path).sections if each.code == "databases"]
    tables = {table.key: [row.cells for row in table.rows] for table in section.tables}
    assert [*tables] == ["oramon", "asm", "sysmetric"]
    single, log = tables["oramon"]
    assert (single["wait"], single["rate_per_s"]) == ("single block", 187.8)
    assert single["wait_ns"] == pytest.approx(510_117, abs=1)
    assert (log["rate_per_s"], log["wait_ns"]) == (20.6, 1_160_000)
    assert [(row["group"], row["disk"], row["reads_per_s"]) for row in tables["asm"]] == [
        ("DATA", "all", 180),
        ("DATA", "DATA_0000", 180),
    ]
    latency, requests = tables["sysmetric"]
    assert (latency["value"], latency["no_latency"]) == (pytest.approx(2.01), "async, not a latency"), "1.51 and 2.51"
    assert (requests["value"], requests["no_latency"]) == (pytest.approx(187.8), "")


def test_a_tape_of_postgresql_leaves_out_what_is_unknown() -> None:
    """A restart in the middle: that interval is left out of the rates."""
    moments = [
        moment(
            at,
            {
                ("postgresql.pg_stat_database", ""): {EPOCH: 1.0 if at < 3 else 2.0},
                ("postgresql.pg_stat_database", "shop"): {"blks_read": 500.0 * at, "blk_read_time_ns": 6.9e7 * at},
                ("postgresql.waits", ""): {"polls": 10.0 * at},
                ("postgresql.waits", "IO|DataFileRead"): {"samples": 20.0 * at},
            },
        )
        for at in range(6)
    ]
    found = {row.what: row.value if row.wait_ns is None else row.wait_ns for row in _tape(moments).pgmon}
    assert (found["active sessions in I/O"], found["blocks read"]) == (2, 500), "4 s are known"
    assert found["wait a block"] == pytest.approx(138_000)
    assert "commits" not in found
    assert "WAL" not in found


def test_a_machine_without_databases_has_no_such_table() -> None:
    moments = [moment(at, {("diskstats", "vda"): {"reads": 10.0 * at}}) for at in range(3)]
    found = _tape(moments)
    assert (found.pgmon, found.oramon, found.asm, found.sysmetric) == ((), (), (), ())
    assert [device.device for device in found.devices_seen] == ["vda"]
