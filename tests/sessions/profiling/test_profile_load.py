"""A profile is the load of a forecast: rate over time, mix, size, local bursts."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.made_traces import COLUMNS, database_load, random_reads, write_trace

from iocast.errors import SpecError
from iocast.sessions.forecasting.asked_load import command_options, question_of
from iocast.sessions.profiling.profile_load import profile_load
from iocast.sessions.profiling.profile_traces import profile_traces
from iocast.sessions.requests.forecast import LoadOptions
from iocast.sessions.requests.profile import ProfileRequest


def _saved(folder: Path, ios: object) -> str:
    trace = str(write_trace(folder / "a.csv", ios))  # type: ignore[arg-type]
    return profile_traces(ProfileRequest(traces=(trace,), columns=COLUMNS, out=str(folder / "out"))).folder


def test_the_question_has_the_rate_the_mix_and_the_size(tmp_path: Path) -> None:
    options = LoadOptions(load=_saved(tmp_path, database_load()), slo="p99=5ms")
    question = question_of(options)
    assert question.rate_per_s == pytest.approx(410, rel=0.02)
    assert (question.load.size_bytes, round(question.load.read_share, 2)) == (8192, 0.75)
    assert question.profile is not None
    assert question.peak_per_s > question.rate_per_s
    assert command_options(options).startswith("--load ")


def test_random_arrivals_have_a_cv2_of_one(tmp_path: Path) -> None:
    assert profile_load(_saved(tmp_path, random_reads(20_000))).arrival_cv2 == pytest.approx(1, abs=0.1)


def test_other_options_and_other_folders_are_refused(tmp_path: Path) -> None:
    folder = _saved(tmp_path, random_reads(2000))
    with pytest.raises(SpecError, match="its own rate"):
        question_of(LoadOptions(load=folder, iops="500"))
    with pytest.raises(SpecError, match="is not a profile"):
        question_of(LoadOptions(load=str(tmp_path)))
