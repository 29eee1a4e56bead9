"""Relative figures of the study of 2012, to a tenth of a percent, both ways; medians; incomplete cells."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.analyse.study_figures import against, baseline_of, cell_figure, progress
from iocast.model.study_plan import CellResult, MetricCode, Repeat, StudyCell, StudySide

# 1 process, 4 asynchronous I/Os: µs of a small cached read, a small disk read, a small write; kB/s of a large cached
# read and a large write. Each configuration with what it keeps of bare metal.
BARE = (370, 12_543, 1_270, 117_042, 75_959)
METRICS: tuple[MetricCode, ...] = ("mean", "mean", "mean", "throughput", "throughput")
MEASURED = {
    "physical RDM": ((520, 12_912, 1_361, 116_721, 71_784), (71.2, 97.1, 93.3, 99.7, 94.5)),
    "independent virtual RDM": ((521, 14_044, 1_320, 116_710, 62_708), (71.0, 89.3, 96.2, 99.7, 82.6)),
    "virtual RDM": ((518, 13_020, 1_265, 116_580, 70_380), (71.4, 96.3, 100.4, 99.6, 92.7)),
    "independent VMFS": ((518, 13_442, 1_276, 116_628, 67_208), (71.4, 93.3, 99.5, 99.6, 88.5)),
    "snapshot VMFS": ((519, 13_537, 1_277, 116_673, 72_206), (71.3, 92.7, 99.5, 99.7, 95.1)),
}


@pytest.mark.parametrize("label", list(MEASURED))
def test_the_published_table_to_a_tenth_of_a_percent(label: str) -> None:
    figures, kept = MEASURED[label]
    found = [against(base, value, metric) for base, value, metric in zip(BARE, figures, METRICS, strict=True)]
    assert tuple(round(100 * each.kept, 1) for each in found) == kept


def test_43_percent_kept_is_more_than_twice_as_slow() -> None:
    found = against(0.4, 0.9, "mean")
    assert (round(100 * found.kept, 1), round(100 * found.worse, 1)) == (44.4, 125.0)
    assert round(1 / found.kept, 2) == 2.25


@given(base=st.floats(1, 1e4), value=st.floats(1, 1e4), metric=st.sampled_from(("mean", "p99", "iops")))
def test_both_ways_say_the_same(base: float, value: float, metric: MetricCode) -> None:
    found = against(base, value, metric)
    if metric == "iops":
        assert math.isclose(found.kept + found.worse, 1, rel_tol=1e-9, abs_tol=1e-9)
    else:
        assert math.isclose(found.kept * (1 + found.worse), 1, rel_tol=1e-6)
    assert against(base, base, metric).kept == 1


CELL = StudyCell(values={"data": "disk"}, metric="mean", job_text="")


def _repeat(value: float | None, at: int = 1, trust: str = "A") -> Repeat:
    return Repeat(folder="", started_unix_ns=at, value=value, p99_ns=None, trust=trust)


def test_the_median_of_three_and_what_is_incomplete() -> None:
    whole = cell_figure(CellResult(cell=CELL, repeats=(_repeat(3.0), _repeat(1.0, trust="C"), _repeat(2.0))), 3)
    assert (whole.value, whole.whole, whole.trust) == (2.0, True, "C")
    partial = cell_figure(CellResult(cell=CELL, repeats=(_repeat(3.0), _repeat(1.0)), interrupted=1), 3)
    assert (partial.value, partial.whole, partial.repeats, partial.interrupted) == (1.0, False, 2, 1)
    assert cell_figure(CellResult(cell=CELL), 3).value is None
    unknown = cell_figure(CellResult(cell=CELL, repeats=(_repeat(3.0), _repeat(None), _repeat(1.0))), 3)
    assert (unknown.value, unknown.whole) == (None, False), "a percentile that one repeat cannot publish"


def test_progress_counts_what_the_plan_needs() -> None:
    full = CellResult(cell=CELL, repeats=tuple(_repeat(1.0) for _ in range(4)))
    half = CellResult(cell=CELL, repeats=(_repeat(1.0),))
    assert progress(StudySide("x", (full, half)), 3) == (1, 4)


def test_the_baseline_is_the_first_label_that_was_measured() -> None:
    sides = [StudySide("vm", ()), StudySide("bare", ())]
    assert baseline_of(sides, ("bare", "vm")) is sides[1]
    assert baseline_of(sides, ("other",)) is sides[0]
    assert baseline_of([], ("bare",)) is None
