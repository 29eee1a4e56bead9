"""A run waits until the machine is quiet, at most so long, and says which it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job

from iocast import archive
from iocast.model.target import Target
from iocast.observe import quiet
from iocast.observe.quiet import BusyShares, busy_shares, until_quiet

TARGET = Target(path="/mnt/db", kind="directory", direct=None)
LOUD, STILL, DARK = BusyShares(0.4, 0.0), BusyShares(0.02, 0.01), BusyShares(None, None)


def _until(*looks: BusyShares) -> tuple[BusyShares, int]:
    each: Iterator[BusyShares] = iter(looks)
    seconds = count(0, 3)
    return until_quiet(TARGET, 9, lambda _: next(each), lambda: next(seconds))


def test_it_waits_for_the_first_quiet_look() -> None:
    assert _until(LOUD, STILL) == (STILL, 6)
    assert _until(STILL) == (STILL, 3)


def test_it_goes_on_where_it_never_was_quiet_or_nobody_can_say() -> None:
    assert _until(LOUD, LOUD, LOUD, LOUD) == (LOUD, 9)
    assert _until(DARK) == (DARK, 3)


def test_one_unknown_share_does_not_hide_the_other() -> None:
    assert BusyShares(0.02, None).quiet
    assert not BusyShares(None, 0.5).quiet
    assert not DARK.quiet


def test_processors_of_this_machine_are_looked_at() -> None:
    shares = busy_shares(TARGET, lambda _: None)
    assert shares.disk is None  # it has no layers
    assert shares.cpu is None or 0 <= shares.cpu <= 1


@pytest.mark.parametrize(
    ("shares", "says"),
    [(STILL, "quiet after 0s: CPU 2% busy, disk 1% busy"), (LOUD, "not quiet within 0s: CPU 40% busy, disk 0% busy")],
)
def test_card_says_how_quiet_it_was(
    shares: BusyShares, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_job(tmp_path, direct=False)
    monkeypatch.setattr(quiet, "until_quiet", lambda _target, _most: (shares, 0))
    done = iocast("run", "small.toml", ".", "--wait-quiet", "1ms", "--size", "1MiB", "--time", "50ms", cwd=tmp_path)
    assert says in done.stderr
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    warned = any("not quiet" in each for each in archive.load(str(folder)).warnings)
    assert warned == (shares is LOUD)


def test_a_simulated_device_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_job(tmp_path, direct=False)
    monkeypatch.setattr(quiet, "until_quiet", lambda *_: pytest.fail("it waited"))
    done = iocast("run", "small.toml", "sim:nvme", "--wait-quiet", "5min", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
