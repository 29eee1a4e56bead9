"""What is kept of a run to compare many hosts, and what does not count for a slow device."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs
from makers.card_runs import VDA, diskstats, lognormal, measurement, part, reads, record, run
from makers.command_line import iocast
from msgspec.structs import replace

from iocast.analyse.facts import facts_of
from iocast.archive import RunFolder
from iocast.archive.summary_file import MOST_ROWS, read_figures, read_summary, save_summary
from iocast.diagnose.examination import examine
from iocast.model.run import Run
from iocast.model.summary import Figures, summary_of
from iocast.model.workload import MixItem, Poisson, Uniform, Workload
from iocast.results.row_figures import figures_of, load_digest

TIMES = lognormal(40_000, 240_000, 0.3)
READS = Workload(mix=(MixItem("read", 8192),), locality=Uniform(), users=1, depth=1, direct=True)


def figures(one: Run) -> Figures:
    facts = facts_of(one)
    return figures_of(facts, examine(facts))


def test_a_row_of_a_quiet_device() -> None:
    (row,) = figures(run(reads("randread", times=TIMES))).rows
    did = reads("randread", times=TIMES).measurement
    assert (row.row, row.is_open, row.busy_per_s) == ("randread", False, 0.0)
    assert row.rate_per_s == pytest.approx(did.iops)
    assert row.mean_ns == pytest.approx(TIMES.mean_ns)
    assert row.p99_ns == pytest.approx(TIMES.quantile_ns(0.99))


def test_what_others_did_is_what_the_device_was_busy_with() -> None:
    """Twice the I/Os of the test, on the device below its file system."""
    did = measurement((part("read", 8192, TIMES),))
    samples = diskstats(did.elapsed_ns, reads=3 * did.ios, read_bytes=3 * did.bytes, writes=0, written_bytes=0)
    (row,) = figures(run(record("randread", READS, did, samples))).rows
    assert row.busy_per_s == pytest.approx(2 * did.iops, rel=0.15)


def test_where_nobody_looked_others_are_unknown() -> None:
    (row,) = figures(run(reads("randread", times=TIMES, samples=()))).rows
    assert row.busy_per_s is None


def test_an_open_loop_is_as_busy_as_its_rate() -> None:
    (row,) = figures(run(card_runs.paced())).rows
    assert row.is_open
    assert row.busy_per_s == pytest.approx(card_runs.paced().measurement.iops, rel=0.01)


def test_an_open_loop_is_called_by_its_load_unless_there_are_several() -> None:
    """So that hosts with rates of their own are compared, and a ladder of rates stays one."""
    at = {rate: replace(READS, arrival=Poisson(rate)) for rate in (3000.0, 4000.0)}
    rows = [
        replace(
            card_runs.paced(), phase=replace(card_runs.paced().phase, name=f"reads 8k 1x1 @{rate:.0f}/s", workload=load)
        )
        for rate, load in at.items()
    ]
    assert [row.row for row in figures(run(rows[0])).rows] == ["reads 8k 1x1"]
    assert [row.row for row in figures(run(*rows)).rows] == ["reads 8k 1x1 @3000/s", "reads 8k 1x1 @4000/s"]


def test_loads_are_equal_but_for_the_rate_of_an_open_loop() -> None:
    paced = [load_digest(replace(READS, arrival=Poisson(rate))) for rate in (100.0, 200.0)]
    assert paced[0] == paced[1] != load_digest(READS)
    assert load_digest(READS) != load_digest(replace(READS, users=2))


def test_what_a_setting_says_and_what_it_leaves_out() -> None:
    """What is not known is not there."""
    known = figures(run(reads("randread", times=TIMES)))
    assert known.model == "SSD 970"
    assert known.setting["scheduler"] == "mq-deadline"
    assert known.setting["kernel"] == "Linux 6.1.0"
    assert "firmware" not in known.setting
    disk = replace(VDA, firmware="2B2QEXM7")
    target = replace(card_runs.TARGET, layers=(card_runs.VDA1, disk))
    assert figures(run(reads("randread", times=TIMES), target=target)).setting["firmware"] == "2B2QEXM7"


def test_a_row_without_io_is_left_out() -> None:
    silent = reads("randread")
    silent = replace(silent, measurement=replace(silent.measurement, ios=0))
    assert [row.row for row in figures(run(silent, reads("other", times=TIMES))).rows] == ["other"]


def test_a_run_keeps_them_beside_it(tmp_path: Path) -> None:
    assert iocast("card", "sim:nvme", "--out", "out", cwd=tmp_path).returncode == 0
    (folder,) = (tmp_path / "out").iterdir()
    kept = read_figures(str(folder))
    assert kept is not None
    assert len(kept.rows) == 12
    assert {row.busy_per_s for row in kept.rows} == {0.0}, "nobody else can use a simulated device"
    assert kept.model is None


def test_more_rows_than_a_small_file_has_room_for_are_not_kept(tmp_path: Path) -> None:
    """The line of a list stays; a fleet reads such a run whole."""
    one = run(reads("randread", times=TIMES))
    folder = RunFolder.create(str(tmp_path), one)
    (row,) = figures(one).rows
    line = replace(summary_of(one), run_id=folder.run_id)
    for count, kept in ((MOST_ROWS, MOST_ROWS), (MOST_ROWS + 1, None)):
        save_summary(folder.held, line, Figures(rows=(row,) * count))
        known = read_figures(str(folder.path))
        assert (None if known is None else len(known.rows)) == kept
        assert read_summary(str(folder.path)) == line
