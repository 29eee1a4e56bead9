"""collectl: real output of 4.3, in columns for plotting and as it prints them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from makers.imported_series import values_of

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import collectl, importers
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def of(path: Path, device: str) -> dict[str, list[float]]:
    (run,) = importers.read((str(path),))
    return values_of(run, device)


def test_it_is_known_by_its_headings(fixtures: Path) -> None:
    for name in ("collectl_detail_plot.txt", "collectl_plot.txt", "collectl_verbose.txt"):
        assert collectl.sniff(Head(name, (fixtures / name).read_text()))
    assert not collectl.sniff(Head("x", "#Date Time [CPU]User%\n"))


def test_each_disk_for_plotting(fixtures: Path) -> None:
    lines = (fixtures / "collectl_detail_plot.txt").read_text().splitlines()[-3:]
    found = of(fixtures / "collectl_detail_plot.txt", "vda")
    assert found["reads_per_s"] == [float(line.split()[3]) for line in lines]
    assert found["write_bytes_per_s"] == [float(line.split()[9]) * 1024 for line in lines]
    assert "queue_mean" not in found  # collectl's is that of the busy time only
    assert "await_ns" not in found  # whole milliseconds, some of them 0


def test_all_disks_for_plotting(fixtures: Path) -> None:
    last = (fixtures / "collectl_plot.txt").read_text().splitlines()[-1].split()
    found = of(fixtures / "collectl_plot.txt", "all")
    assert found["reads_per_s"][-1] == float(last[23])
    assert found["read_bytes_per_s"][-1] == float(last[26]) * 1024


def test_what_it_prints(fixtures: Path) -> None:
    path = fixtures / "collectl_verbose.txt"
    assert of(path, "vda")["reads_per_s"] == [4675.0, 694.0]
    assert of(path, "vda")["write_bytes_per_s"] == [12767 * 1024, 18319 * 1024]
    assert of(path, "all")["reads_per_s"] == [4674.0, 693.0]


def test_without_times_the_lines_are_numbered(read_all: Reader) -> None:
    heading = "#<----------Disks----------->\n#KBRead  Reads KBWrit Writes \n"
    text = heading + "  37853   4727  12717    197 \n   6144    548      1      2\n"
    run = read_all(("col.txt", text))
    assert [sample.value for sample in run.phases[0].samples if sample.metric == "reads_per_s"] == [4727, 548]
    assert "numbered" in "".join(run.warnings)


def test_a_line_of_another_length_is_refused(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "collectl_detail_plot.txt").read_text()
    with pytest.raises(SourceError, match="values under 16 headings"):
        read_all(("bad.txt", text.replace(" vda ", " vda 1 ", 1)))
