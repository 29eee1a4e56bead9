"""A result of a tool that is given as a trace is refused as what it is, with the verb that takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

import iocast
from iocast.errors import SourceError
from iocast.sessions.tracing.event_tables import event_table

RESULT = Path(__file__).parents[2] / "imports" / "fixtures" / "fio_two_jobs.json"


def test_a_profile_of_a_result_names_the_verb_that_takes_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a result of a tool, and no trace of single I/Os") as refusal:
        iocast.profile(str(RESULT), out=str(tmp_path))
    assert refusal.value.hint.startswith(f"`iocast import {RESULT}` makes a run of it")
    assert not list(tmp_path.iterdir())


def test_a_replay_of_a_result_does_too() -> None:
    with pytest.raises(SourceError, match="is a result of a tool"), event_table(str(RESULT)):
        raise AssertionError("it is no trace")


def test_a_trace_that_is_refused_keeps_its_own_reason(tmp_path: Path) -> None:
    """An importer knows it too."""
    trace = tmp_path / "s.txt"
    trace.write_text('7 1795288863.763298 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3 <0.000005>\n' * 3)
    with pytest.raises(SourceError, match="no I/O in 3 lines of strace"):
        iocast.profile(str(trace), out=str(tmp_path / "out"))
