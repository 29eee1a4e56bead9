"""dstat: real output of 0.8, as a CSV and as a table."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.imported_series import values_of

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.card import card_report
from iocast.report.renderers import terminal
from iocast.tools import dstat, importers
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def table(run: Run) -> str:
    out = io.StringIO()
    terminal.render(card_report.card(run, examine(run)), out, colour=False, width=140)
    return out.getvalue()


def test_the_csv_has_bytes_and_ios_of_each_disk(fixtures: Path) -> None:
    text = (fixtures / "dstat_disks.csv").read_text()
    assert dstat.sniff(Head("x", text))
    (run,) = importers.read((str(fixtures / "dstat_disks.csv"),))
    lines = [line.split(",") for line in text.splitlines() if line[:1].isdigit()]
    assert len(lines) == 3
    assert values_of(run, "vda")["write_bytes_per_s"] == [float(line[2]) for line in lines[1:]]
    assert values_of(run, "all")["reads_per_s"] == [float(line[7]) for line in lines[1:]]
    assert values_of(run, "vda")["util_percent"] == [float(line[9]) for line in lines[1:]]
    assert run.host.name == "vm"
    assert "since boot" in run.warnings[0]
    assert {sample.time_ns for sample in run.phases[0].samples} == {0, 10**9}


def test_the_table_has_them_in_units(fixtures: Path) -> None:
    text = (fixtures / "dstat_disks.txt").read_text()
    assert dstat.sniff(Head("x", text))
    (run,) = importers.read((str(fixtures / "dstat_disks.txt"),))
    read, write = text.splitlines()[-1].split("|")[1].split(":")[0].split()
    units = {"B": 1, "k": 1 << 10, "M": 1 << 20}
    assert values_of(run, "vda")["read_bytes_per_s"] == [float(read[:-1]) * units[read[-1]]]
    assert values_of(run, "vda")["write_bytes_per_s"] == [float(write[:-1]) * units[write[-1]]]
    assert {"reads_per_s", "writes_per_s"} <= {*values_of(run, "all")}


def test_a_run_that_was_appended_begins_anew(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "dstat_disks.csv").read_text()
    run = read_all(("twice.csv", text + "\n\n\n" + text))
    assert len(values_of(run, "vda")["util_percent"]) == 4


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ('"io/total",,"vda"', '"io/total","vda"', "a line of values before its heading"),
        ("22-11 ", "22-11,", "11 values under 10 headings"),
    ],
)
def test_what_cannot_be_read_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / "dstat_disks.csv").read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all(("bad.csv", text.replace(was, then)))
    assert says in refused.value.message


def test_its_devices_are_shown(fixtures: Path, read_all: Reader) -> None:
    (run,) = importers.read((str(fixtures / "dstat_disks.csv"),))
    assert "The busiest device was vda" in table(run)
    bytes_only = '"Dstat 0.8.0 CSV output"\n"dsk/total",\n"read","writ"\n5,5\n1000000,2000000\n'
    assert "All devices together did 3 MB/s on average" in table(read_all(("d.csv", bytes_only)))


def test_the_sum_of_two_disks_is_not_the_busiest_device(read_all: Reader) -> None:
    head = '"Dstat 0.8.0 CSV output"\n"dsk/vda",,"dsk/vdb",,"dsk/total",\n"read","writ","read","writ","read","writ"\n'
    shown = table(read_all(("d.csv", f"{head}0,0,0,0,0,0\n1000000,0,2000000,0,3000000,0\n")))
    assert "The busiest device was vdb with 2 MB/s on average" in shown
