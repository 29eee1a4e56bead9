"""Study files: every combination of their axes is a cell, whose load is a job of one row; faults are named."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iocast.errors import SpecError
from iocast.jobs.studies.study_file import load_study, parse_study, study_presets
from iocast.jobs.toml.job_reading import parse_job
from iocast.model.plan import Phase
from iocast.model.study_plan import StudyPlan
from iocast.model.workload import Sequential

GIB = 1 << 30
SMALL = """
name = "small"
[axis.users.1]
users = 1
[axis.operation.read]
size = "8k"
time = "1s"
"""


def _row(plan: StudyPlan, *values: str) -> Phase:
    """The row of the cell with these values."""
    cell = next(cell for cell in plan.cells if tuple(cell.values.values()) == values)
    (phase,) = parse_job(cell.job_text, "cell").phases
    return phase


def test_the_study_of_2012_is_96_cells_and_288_runs() -> None:
    plan = load_study("vmware")
    assert (len(plan.cells), plan.runs, plan.repeats) == (96, 288, 3)
    assert {axis: len(values) for axis, values in plan.axes.items()} == {
        "data": 2,
        "processes": 3,
        "load": 4,
        "operation": 4,
    }
    assert len(plan.labels) == 6
    assert plan.runs * len(plan.labels) == 1728
    assert plan.seconds == 288 * 60
    assert len({cell.name for cell in plan.cells}) == len({cell.folder for cell in plan.cells}) == 96


def test_its_loads_are_those_that_were_measured() -> None:
    plan = load_study("vmware")
    small = _row(plan, "cached", "16", "async-4", "small-read")
    assert (small.workload.users, small.workload.depth, small.workload.direct) == (16, 4, True)
    assert small.region_size_bytes == 24 * GIB
    write = _row(plan, "disk", "1", "sync", "small-write")
    assert (write.workload.sync, write.engine, write.workload.depth) == ("sync", "sync", 1)
    assert isinstance(write.workload.locality, Sequential)
    assert write.region_size_bytes is None
    assert {cell.metric for cell in plan.cells if "small" in cell.name} == {"mean"}
    assert {cell.metric for cell in plan.cells if "large" in cell.name} == {"throughput"}


def test_cached_data_is_read_twice_before() -> None:
    plan = load_study("vmware")
    warm = {cell.values["data"]: cell.warm_text for cell in plan.cells}
    assert warm["disk"] == ""
    (phase,) = parse_job(warm["cached"], "warm").phases
    assert (phase.role, phase.length.bytes) == ("warm", 48 * GIB)
    assert len({cell.warm_text for cell in plan.cells if cell.warm_text}) == 1, "once for all cells that follow"


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_cells_are_the_product_of_the_axes(lengths: list[int]) -> None:
    axes = "".join(
        f"[axis.a{at}.v{value}]\ntime = '1s'\n" for at, length in enumerate(lengths) for value in range(length)
    )
    plan = parse_study(f"name = 'product'\nrepeats = 2\n[defaults]\nsize = '8k'\n{axes}", "s")
    assert len(plan.cells) == math.prod(lengths)
    assert plan.runs == 2 * math.prod(lengths)
    assert [*{cell.name: None for cell in plan.cells}] == [cell.name for cell in plan.cells]


def test_every_study_that_comes_with_iocast_is_read() -> None:
    assert "vmware" in study_presets()
    assert all(parse_study(text, name).description for name, text in study_presets().items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("name = ", "nam = "), "unknown key nam"),
        (("[axis.users.1]\nusers = 1", ""), "parallel"),
        (("users = 1", "users = [1, 2]"), "makes 2 rows"),
        (("users = 1", 'report = "speed"'), 'report = "speed"'),
        (("users = 1", "warm = 2"), "warm needs a region"),
        (("users = 1", "user = 1"), "user"),
        (('name = "small"', 'name = "../small"'), "cannot be a folder"),
        (('name = "small"', 'name = "small"\nrepeats = 0'), "repeats = 0"),
        (('name = "small"', 'name = "small"\nlabels = ["a/b"]'), "cannot be a folder"),
        (("[axis.operation.read]", '[axis.operation."re/ad"]'), "name values by letters"),
        (('name = "small"', 'name = "small"\n[view.x]\nuser = "1"'), "no axis user"),
        (('name = "small"', 'name = "small"\n[view.x]\nusers = "2"'), 'users has no "2"'),
        (('name = "small"', 'name = "small'), "not valid TOML"),
    ],
)
def test_faults_are_named(change: tuple[str, str], said: str) -> None:
    text = SMALL.replace(*change)
    if said == "parallel":
        assert len(parse_study(text, "s").cells) == 1, "one axis is a study"
        return
    with pytest.raises(SpecError) as refused:
        parse_study(text, "s.toml")
    assert said in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.message.startswith("s.toml") or "label" in refused.value.message


def test_a_name_that_is_no_study_is_refused_with_those_that_are() -> None:
    with pytest.raises(SpecError, match="no study file or preset called vmwar") as refused:
        load_study("vmwar")
    assert "vmware" in refused.value.hint


def test_the_study_file_in_the_guide_is_understood() -> None:
    guide = (Path(__file__).resolve().parents[3] / "docs/guide/study.md").read_text()
    (text,) = re.findall(r"```toml\n(.*?)```", guide, re.DOTALL)
    plan = parse_study(text, "study.md")
    assert (len(plan.cells), plan.runs) == (8, 40)
