"""A run whose process died is told from one under way in lists and on its card, and closed with what it measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.saved_runs import empty_run, measured
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder
from iocast.archive.catalogue import runs_below
from iocast.archive.under_way_file import save_under_way
from iocast.runner.saving import Saving
from iocast.sessions.clean_up import mend_runs
from iocast.sessions.run_card import open_card


def under_way(tmp_path: Path, *, dead: bool) -> RunFolder:
    """A run with one finished row, whose process lives or is gone."""
    run = empty_run()
    folder = RunFolder.create(str(tmp_path), run)
    record, intervals = measured(run, 0)
    folder.save_phase(0, record.phase.name, intervals, ())
    folder.save(replace(run, phases=(record,)))
    if dead:
        now = archive.load_under_way(str(folder.path))
        assert now is not None
        assert now.owner is not None
        save_under_way(folder.held, replace(now, owner=replace(now.owner, started_ticks=1)))
    return folder


def test_a_dead_run_is_closed_and_keeps_its_rows(tmp_path: Path) -> None:
    folder = under_way(tmp_path, dead=True)
    before = archive.load(str(folder.path))
    mended = mend_runs(str(tmp_path))
    assert [run.folder for run in mended.closed] == [str(folder.path)]
    assert archive.load(str(folder.path)) == replace(before, status="interrupted")
    assert archive.load_under_way(str(folder.path)) is None
    (listed,) = runs_below(str(tmp_path))
    assert listed.summary is not None
    assert (listed.summary.status, listed.summary.rows) == ("interrupted", 1)
    assert listed.summary.trust is not None, "it was judged"
    assert mend_runs(str(tmp_path)).closed == ()


def test_a_run_that_is_under_way_is_left_alone(tmp_path: Path) -> None:
    folder = under_way(tmp_path, dead=False)
    assert mend_runs(str(tmp_path)).closed == ()
    assert archive.load(str(folder.path)).status == "running"
    assert archive.load_under_way(str(folder.path)) is not None


@pytest.mark.parametrize("dead", [True, False])
def test_the_card_of_a_dead_run_says_so(tmp_path: Path, dead: bool) -> None:
    folder = under_way(tmp_path, dead=dead)
    steps = open_card(str(folder.path)).report().next_steps
    assert ("The run is dead: its process no longer exists. The rows above are those that finished." in steps) == dead
    assert any(step.startswith("To close it: iocast runs --mend ") for step in steps) == dead


def test_a_run_says_whose_it_is_until_it_no_longer_says_that_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = under_way(tmp_path, dead=False)
    owned: list[bool | None] = []
    monkeypatch.setattr(folder, "save", lambda _: owned.append(archive.owner_alive(str(folder.path))))
    Saving(folder, archive.load(str(folder.path))).close("done", None, keep=True)
    assert owned == [True]
    assert archive.load_under_way(str(folder.path)) is None
