"""What crosses into the core, and what comes back when the core refuses."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import duckdb
import pytest
from makers.saved_runs import empty_run
from makers.work_files import MIB, lay, phase, plan
from msgspec.structs import replace

from iocast import load
from iocast.errors import LoadError
from iocast.model.workload import MixItem


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


@pytest.mark.long
def test_a_series_that_is_too_long_for_memory_comes_back_from_disk(tmp_path: Path) -> None:
    made = empty_run().plan
    short = replace(made.phases[0], length=replace(made.phases[0].length, seconds=15.0))
    told = load.phase_plan(made, short, load.lay_out(made).files, 1)
    mix = tuple(MixItem(op="read", size_bytes=4096 * size, weight=1) for size in range(1, 41))
    told = replace(told, interval_ns=1_000_000, users=4, depth=8, mix=mix)
    spooled: set[int] = set()

    def on_tick(*_: int) -> bool:
        unnamed = (os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if int(number) > 2)
        with contextlib.suppress(OSError):  # one that was closed meanwhile
            spooled.update(number for number, to in enumerate(unnamed) if to.startswith(str(tmp_path)))
        return True

    ((did, held),) = load.measure_together((told,), lambda *_: True)
    ((again, series),) = load.measure_together((told,), on_tick, spool=str(tmp_path))
    assert spooled, "nothing went to disk"
    assert os.listdir(tmp_path) == []
    assert (did.ios, len(held)) == (again.ios, len(series))
    sums = "SELECT count(*), sum(ios), count(DISTINCT interval), sum(response_sum_ns), max(len(service_index)) FROM "
    wanted = duckdb.sql(sums + "held").fetchall()
    for _ in range(2):  # it can be read twice
        assert duckdb.sql(sums + "series").fetchall() == wanted
    assert wanted[0][:2] == (len(series), did.ios)
