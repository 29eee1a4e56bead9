"""What is asked of a session: sizes and times, and the job that they change."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.jobs import load_job
from iocast.sessions.fitted_plan import asked_job
from iocast.sessions.requests.run_options import MIB, RunOptions, size_of_files, time_of_rows


def test_size_and_time_of_a_job_are_changed() -> None:
    options = RunOptions(size_bytes=size_of_files("1500kB"), duration_ns=time_of_rows("250ms"))
    job = asked_job("card-quick", options)
    assert job.file_size is not None
    assert job.file_size.size_bytes == MIB
    assert {phase.length.seconds for phase in job.phases} == {0.25}


def test_rows_that_end_by_ios_keep_their_end() -> None:
    job = load_job("card-quick")
    first = replace(job.phases[0], length=replace(job.phases[0].length, seconds=None, ios=9))
    options = RunOptions(duration_ns=time_of_rows("1s"))
    job = asked_job(replace(job, phases=(first, *job.phases[1:])), options)
    assert job.phases[0].length == first.length
    assert job.phases[1].length.seconds == 1.0


@pytest.mark.parametrize("size", ["x", "1k"])
def test_bad_sizes_name_their_option(size: str) -> None:
    with pytest.raises(SpecError, match="--size"):
        size_of_files(size)


@pytest.mark.parametrize("time", ["x", "0s"])
def test_bad_times_name_their_option(time: str) -> None:
    with pytest.raises(SpecError, match="--time"):
        time_of_rows(time)


def test_a_job_says_itself_whether_it_fits_its_target() -> None:
    fitting = {"card-quick", "card-standard", "card-full", "survey"}
    assert all(load_job(name).fits_target for name in fitting)
    assert not any(load_job(name).fits_target for name in ("hailey", "database", "virtualisation"))
