"""What ehm.sql and ehm_micro.sql print, by hand in their forms with published figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers
from iocast.tools.oracle import ehm_scripts
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def test_counts_of_the_old_script_have_the_mean_of_all_their_time(fixtures: Path) -> None:
    """25177 waits of 214095.1 ms: 8.504 ms, which it prints as 8.5."""
    assert ehm_scripts.sniff(Head("a.txt", (fixtures / "ehm_old.txt").read_text()))
    (run,) = importers.read((str(fixtures / "ehm_old.txt"),))
    (row,) = run.phases
    times = row.measurement.service("read")
    assert (row.phase.name, row.measurement.ios) == ("db file sequential read", 25_177)
    assert times.mean_ns / 1e6 == pytest.approx(214_095.1 / 25_177, rel=1e-12)
    assert round(row.measurement.rate_per_s, 1) == 419.6
    assert times.quantile_bounds_ns(0.5) == (1_000_000, 2_000_000)
    assert times.quantile_bounds_ns(0.4) == (0, 1_000_000)  # all below a millisecond
    assert not run.warnings


def test_rates_of_microseconds_become_waits(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "ehm_micro.txt"),))
    (row,) = run.phases
    times = row.measurement.service("read")
    assert times.coarse is not None
    assert row.measurement.rate_per_s == pytest.approx(105.3)
    assert "ios" in row.unstated  # from rates that are rounded to 0.1
    assert times.mean_ns == 7_774_300
    weights = {each.high_ns: each.weight for each in times.coarse.buckets}
    assert (weights[512_000], weights[16_384_000], weights[131_072_000]) == (478, 275, 1)
    assert not run.warnings


def test_an_edge_that_the_script_cut_is_twice_the_lower_one(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "ehm_micro.txt").read_text()
    row = "16777216 -> 3355443                 0                   0"
    assert row in text
    changed = text.replace(row, "16777216 -> 3355443                .1           2516582.4")
    times = read_all(("a.txt", changed)).phases[0].measurement.service("read")
    assert times.coarse is not None
    assert times.coarse.buckets[-1].high_ns == 33_554_432_000


def test_a_name_longer_than_its_column_is_that_of_the_title(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "ehm_micro.txt").read_text()
    text = text.replace("db file sequential read", "control file sequential")
    run = read_all(("a.txt", text.replace('"control file sequential"', '"control file sequential read"')))
    assert run.phases[0].phase.name == "control file sequential read"


def test_a_print_without_its_means_was_cut(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "ehm_micro.txt").read_text()
    run = read_all(("a.txt", text[: text.index("Average values")]))
    assert run.phases[0].measurement.ios == 1053
    assert "it was cut" in run.warnings[0]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("18355.2", "18455.2", "47.8 waits/s below 512 do not make the 18455.2 beside them"),
        ("256 -> 512 ", "256 -> 600 ", "a bucket from 256 to 600 that is not one of powers of two"),
        ("db file sequential read", "log file sync", '"log file sync" is not a wait for I/O'),
        ("512 -> 1024                       4.4              3379.2", "256 -> 512  4.4  1689.6", "stands here twice"),
        ("47.8  ", "many  ", "a bucket or a mean that cannot be read"),
    ],
)
def test_what_contradicts_itself_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / "ehm_micro.txt").read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all(("bad.txt", text.replace(was, then)))
    assert says in refused.value.message
