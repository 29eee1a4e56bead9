"""What crosses into the core, and what comes back when the core refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from makers.work_files import MIB, lay, phase, plan
from msgspec.structs import replace

from iocast import load
from iocast.errors import LoadError


def test_seeds_do_not_depend_on_what_was_laid_out(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, *[phase()] * 50)
    assert load.phase_seed(made, phase(), 3) == load.phase_seed(made, phase(), 3)
    seeds = {load.phase_seed(replace(made, seed=seed), phase(), number) for seed in range(50) for number in range(50)}
    assert len(seeds) == 2500
    assert all(0 <= load.phase_seed(replace(made, seed=seed), phase(), 9) < 2**64 for seed in (0, 2**32 - 1, 2**70))


def test_regions_stay_inside_the_file(tmp_path: Path) -> None:
    made = plan(tmp_path)
    layout = load.lay_out(made)
    inside = replace(phase(), region_start_bytes=MIB, region_size_bytes=MIB // 2)
    for each, start, size in ((phase(), 0, 2 * MIB), (inside, MIB, MIB // 2)):
        (region,) = load.phase_plan(made, each, layout.files, 1).files
        assert (region.start_bytes, region.size_bytes) == (start, size)


def test_a_phase_is_measured(tmp_path: Path) -> None:
    made = plan(tmp_path)
    layout = lay(made)
    measurement, intervals = load.measure(load.phase_plan(made, made.phases[0], layout.files, 1), lambda *_: True)
    assert measurement.ios > 0
    assert measurement.stopped == "finished"
    assert len(intervals) == 1


def test_what_the_core_refuses_has_its_phase_and_a_hint(tmp_path: Path) -> None:
    made = plan(tmp_path)
    layout = load.lay_out(made)
    with pytest.raises(LoadError, match=r"randread: .*cannot open") as refused:
        load.measure(load.phase_plan(made, made.phases[0], layout.files, 1), lambda *_: True)
    assert refused.value.hint == "check the path"


def test_a_core_that_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "iocast._core", None)
    monkeypatch.delattr("iocast._core", raising=False)
    made = plan(tmp_path)
    with pytest.raises(LoadError, match="not built") as refused:
        load.measure(load.phase_plan(made, phase(), load.lay_out(made).files, 1), lambda *_: True)
    assert "make setup" in refused.value.hint
