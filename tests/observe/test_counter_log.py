"""A log of disk counters holds one copy an interval, of the disks that were named, and is imported as a series."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast import metrics
from iocast.errors import ArchiveError
from iocast.observe.counter_log import CounterLog
from iocast.tools import importers

LINE = "{major:4d} {minor:7d} {name} {reads} 0 {sectors} 10 0 0 0 0 0 10 10 0 0 0 0 0 0\n"


def _counters(path: Path, reads: int) -> None:
    lines = [
        LINE.format(major=254, minor=0, name="vda", reads=reads, sectors=8 * reads),
        LINE.format(major=254, minor=1, name="vdb", reads=2 * reads, sectors=8 * reads),
        LINE.format(major=7, minor=0, name="loop0", reads=0, sectors=0).replace("10", "0"),
    ]
    path.write_text("".join(lines))


def test_a_log_is_imported_with_the_rates_between_its_copies(tmp_path: Path) -> None:
    source, to = tmp_path / "diskstats", tmp_path / "counters.log"
    log = CounterLog(str(to), (), str(source))
    for reads in (100, 350):
        _counters(source, reads)
        log.copy()
    log.close()
    assert (log.copies, log.bytes) == (2, to.stat().st_size)
    assert "loop0" not in to.read_text(), "it never had an I/O"
    (run,) = importers.read((str(to),))
    rates = {sample.subject: sample.value for sample in run.phases[0].samples if sample.metric == metrics.READS_PER_S}
    assert rates["vdb"] == pytest.approx(2 * rates["vda"])
    assert rates["vda"] > 0


def test_only_named_disks_are_in_it_and_a_file_is_never_overwritten(tmp_path: Path) -> None:
    source, to = tmp_path / "diskstats", tmp_path / "counters.log"
    _counters(source, 5)
    log = CounterLog(str(to), ("vdb",), str(source))
    asked = iter((False, False, False, True))
    log.run(1_000_000, None, lambda: next(asked, True))
    log.close()
    text = to.read_text()
    assert "vdb" in text
    assert "vda" not in text
    assert text.startswith("TS ")
    with pytest.raises(ArchiveError, match="exists"):
        CounterLog(str(to), (), str(source))
