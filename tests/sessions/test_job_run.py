"""What came of a job that measured nothing is said as it was."""

from __future__ import annotations

from pathlib import Path

from makers import card_runs
from msgspec.structs import replace

from iocast.sessions.job_run import Ran, _failed


def test_rows_without_an_io_and_without_an_error_have_not_failed(tmp_path: Path) -> None:
    """A row of 50 ms, on a machine that had no time for its thread: "all I/Os of all rows failed" was said of it."""
    run = card_runs.quick_card()
    empty = [replace(each, measurement=replace(each.measurement, ios=0, errors=())) for each in run.measured]
    nothing = replace(run, phases=tuple(empty))
    error = _failed(Ran(run=nothing, folder=tmp_path, error=None, stopped=False))
    assert error is not None
    assert error.message == "not one I/O was done in any row, and none failed"
    assert "--time 30s" in error.hint
    assert _failed(Ran(run=run, folder=tmp_path, error=None, stopped=False)) is None
