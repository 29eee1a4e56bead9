"""IOR's table, in a text by hand in its form: it needs MPI, and no package registry of Python has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Sequential
from iocast.tools import importers, ior
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def test_each_line_of_reads_or_writes_is_a_row(fixtures: Path) -> None:
    assert ior.sniff(Head("x", (fixtures / "ior.txt").read_text()))
    (run,) = importers.read((str(fixtures / "ior.txt"),))
    assert [each.measurement.classes[0].op for each in run.phases] == ["write", "read", "write", "read"]
    first, _, second, _ = run.phases
    assert (first.measurement.ios, first.measurement.bytes, first.measurement.elapsed_ns) == (
        256,
        256 << 20,
        500_000_000,
    )
    assert second.bytes_per_s == pytest.approx(256 << 20)
    assert (first.plan.users, first.plan.depth, first.plan.locality) == (4, 1, Sequential())
    assert first.plan.files[0].path == "/mnt/scratch/ior"
    assert {"ios", "direct"} <= {*first.unstated}
    assert not first.measurement.classes[0].service.count
    assert run.source is not None
    assert (run.source.tool, run.source.version) == ("IOR", "4.0.0")


def test_what_the_options_do_not_say_is_unknown(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "ior.txt").read_text().replace("tasks   ", "tasky   ").replace("ordering in a file", "order")
    assert {"users"} <= {*read_all(("x.txt", text)).phases[0].unstated}


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("512.00 ", "5.1.2 ", r"x\.txt:31: bw\(MiB/s\)"),
        ("0.500000   0 ", "0.500000 ", r"x\.txt:31: 10 values under 11 headings"),
        ("\nwrite", "\nwrit", ""),
    ],
)
def test_what_does_not_fit_is_refused(was: str, then: str, says: str, read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "ior.txt").read_text().replace(was, then)
    if not says:
        assert len(read_all(("x.txt", text)).phases) == 2
        return
    with pytest.raises(SourceError, match=says):
        read_all(("x.txt", text))


def test_a_table_that_ends_before_its_first_line_is_refused(read_all: Reader, fixtures: Path) -> None:
    with pytest.raises(SourceError, match="no line of results"):
        read_all(("x.txt", (fixtures / "ior.txt").read_text().partition("write  ")[0]))
