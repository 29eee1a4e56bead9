"""mdtest's summary, in a text by hand in its form: it is built with IOR, and needs MPI."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers, mdtest
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def test_mean_rates_are_rows_and_what_was_not_measured_is_none(fixtures: Path) -> None:
    assert mdtest.sniff(Head("x", (fixtures / "mdtest.txt").read_text()))
    (run,) = importers.read((str(fixtures / "mdtest.txt"),))
    rates = {each.phase.name: (each.measurement.classes[0].op, each.ios_per_s) for each in run.phases}
    assert rates == {
        "Directory creation": ("mkdir", 15_000),
        "Directory stat": ("stat", 26_000),
        "Directory removal": ("rmdir", 12_900),
        "File creation": ("create", 14_250),
        "File stat": ("stat", 23_500),
        "File removal": ("unlink", 15_180),
    }
    first = run.phases[0]
    assert (first.plan.users, first.plan.depth, first.plan.files[0].path) == (4, 1, "/mnt/scratch/md")
    assert {"ios", "length"} <= {*first.unstated}
    assert first.bytes_per_s is None
    assert run.source is not None
    assert (run.source.tool, run.source.version) == ("mdtest", "4.0.0")


def test_a_form_without_colons_is_read_too(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "mdtest.txt").read_text().replace("creation        :", "creation         ")
    assert read_all(("x.txt", text)).phases[0].ios_per_s == 15_000


@pytest.mark.parametrize(
    ("cut", "was", "then", "says"),
    [
        ("SUMMARY", "", "", "no rate of files or directories"),
        ("", "14900.000      15000.000", "14900.000      1.5.0", r"x\.txt:13: the mean rate"),
    ],
)
def test_what_does_not_fit_is_refused(
    cut: str, was: str, then: str, says: str, read_all: Reader, fixtures: Path
) -> None:
    text = (fixtures / "mdtest.txt").read_text()
    text = text.partition(cut)[0] if cut else text.replace(was, then)
    with pytest.raises(SourceError, match=says):
        read_all(("x.txt", text))
