"""kbench's summary, in a text by hand in its form: it runs as a pod of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers, kbench

Reader = Callable[..., Run]


def test_each_figure_is_a_row_and_the_others_stay_unknown(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "kbench.txt"),))
    rows = {each.phase.name: each for each in run.phases}
    assert len(rows) == 12
    rate, moved, took = (rows[f"Random read {each}"] for each in ("IOPS", "bandwidth", "latency"))
    assert (rate.ios_per_s, rate.bytes_per_s) == (9_000, None)
    assert (moved.ios_per_s, moved.bytes_per_s) == (None, 300_000 * 1024)
    assert (took.ios_per_s, took.bytes_per_s) == (None, None)
    assert took.measurement.service("read").mean_ns == 900_000
    assert {"size", "users", "depth", "direct", "length"} <= {*rate.unstated}
    assert rate.plan.files[0].path == "/volume/test"
    assert run.source is not None
    assert run.source.notes == (kbench.ONE_BY_ONE,)


def test_figures_without_commas_are_the_same(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "kbench.txt").read_text()
    assert read_all(("x.txt", text.replace(",", ""))).phases[0].ios_per_s == 9_000


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("Random:            9,000", "Random:            ,,", r"x\.txt:16: IOPS is"),
        ("(Read/Write)", "(Write/Read)", "no figures under its title"),
        ("FIO Benchmark Summary", "FIO Benchmark Comparsion Summary", "compares two volumes"),
    ],
)
def test_what_does_not_fit_is_refused(was: str, then: str, says: str, read_all: Reader, fixtures: Path) -> None:
    with pytest.raises(SourceError, match=says):
        read_all(("x.txt", (fixtures / "kbench.txt").read_text().replace(was, then)))
