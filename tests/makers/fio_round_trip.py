"""Whether a job is the same after it was written for fio and read back, and whether fio takes it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from iocast.model.job import Job
from iocast.model.plan import Phase, groups_of
from iocast.model.workload import MixItem, Sequential

GIB = 1 << 30


def normal(phase: Phase, file_bytes: int | None = None) -> Phase:
    """The phase with weights that add up to 100, and the whole file as the region that users in order make of it."""
    load = phase.workload
    total = sum(item.weight for item in load.mix)
    mix = tuple(MixItem(item.op, item.size_bytes, round(100 * item.weight / total, 6)) for item in load.mix)
    phase = replace(phase, workload=replace(load, mix=mix))
    if isinstance(load.locality, Sequential) and load.users == 1:  # alone, its part is all
        locality = replace(load.locality, start="own_region")
        phase = replace(phase, workload=replace(phase.workload, locality=locality))
    elif isinstance(load.locality, Sequential) and load.locality.start == "own_region":
        largest = max(item.size_bytes for item in mix)
        region = phase.region_size_bytes
        if region is None and file_bytes is None:
            return phase
        region = (file_bytes or 0) - phase.region_start_bytes if region is None else region
        share = region // largest * largest // load.users // largest * largest
        phase = replace(phase, region_size_bytes=share * load.users)
    return phase


def unnamed(job: Job) -> list[Phase]:
    """The phases with their groups numbered: fio has no names for them."""
    groups = enumerate(groups_of(job.phases))
    return [replace(phase, together=f"{n}" if len(group) > 1 else "") for n, group in groups for phase in group]


def assert_same(job: Job, back: Job) -> None:
    file_bytes = job.file_size.size_bytes if job.file_size else None
    assert [normal(phase) for phase in unnamed(back)] == [normal(phase, file_bytes) for phase in unnamed(job)]
    engine = "uring" if job.engine == "auto" else job.engine  # fio has no word for auto
    assert (back.engine, back.polling, back.file_count) == (engine, job.polling, job.file_count)


def assert_fio_takes(text: str, folder: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    path = folder / "job.fio"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(["fio", "--parse-only", str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), text
