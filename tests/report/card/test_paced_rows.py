"""What the rate of a row counts: I/Os, writes that syncs follow, or all operations of a mix with syncs."""

from __future__ import annotations

from pathlib import Path

import pytest

import iocast
from iocast.jobs import load_job

JOB = """\
name = "paced"
files = {{ size = "16MiB" }}

[[phase]]
test = "commit"
size = "8k"
{how}
direct = false
rate = "200/s"
time = "1s"
"""


@pytest.mark.parametrize(
    ("how", "name", "asked", "syncs"),
    [
        ("write = 100\nfsync_every = 8", "commit 8k 1x1 fsync/8 @200/s", "writes/s", "; fsync after every 8 writes"),
        ("write = 100\nfdatasync_every = 1", "commit 8k 1x1 @200/s", "writes/s", ""),
        ("write = 100\nfsync = 8", "commit 8k 1x1 @200/s", "operations/s", ""),
        (
            "write = 50\nread = 50\nfsync_every = 8",
            "commit 8k 1x1 fsync/8 @200/s",
            "IOPS",
            "; fsync after every 8 writes",
        ),
        ("read = 100", "commit 8k 1x1 @200/s", "IOPS", ""),
    ],
)
def test_a_rate_is_one_of_what_is_paced(tmp_path: Path, how: str, name: str, asked: str, syncs: str) -> None:
    (tmp_path / "paced.toml").write_text(JOB.format(how=how))
    card = iocast.run(str(tmp_path / "paced.toml"), "sim:nvme", out=str(tmp_path / "runs"))
    (record,) = card.run.measured
    assert record.phase.name == name
    report = card.report()
    (table,) = [each for section in report.sections if section.code == "results" for each in section.tables]
    (said,) = [row.note for row in table.rows if row.note]
    did = record.measurement
    flushes = sum(each.ios for each in did.classes if each.op in ("fsync", "fdatasync"))
    paced = did.ios if asked == "operations/s" else did.ios - flushes
    assert said == f"200 {asked} requested, {paced * 1e9 / did.elapsed_ns:.0f} achieved{syncs}"
    assert f"Rate-limited: the job asks for 200 {asked}" in card.examination.bounds[name].says


def test_rows_that_differ_in_their_syncs_have_names_that_say_it(tmp_path: Path) -> None:
    rows = ("fsync_every = 1", "fdatasync_every = 1", "fsync_every = 4", "fsync_every = 8")
    phases = (f'[[phase]]\ntest = "log"\nsize = "8k"\nwrite = 100\ntime = "1s"\n{row}\n' for row in rows)
    (tmp_path / "log.toml").write_text('name = "log"\n' + "".join(phases))
    names = [phase.name for phase in load_job(str(tmp_path / "log.toml")).phases]
    assert names == ["log 8k 1x1 fsync", "log 8k 1x1 fdatasync", "log 8k 1x1 fsync/4", "log 8k 1x1 fsync/8"]
