"""Copies on real file systems: what shares blocks, what falls back, what is read from the device."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.rootly import Mount, command, need

from iocast.model.copy_trials import CopyRun, MethodCode
from iocast.sessions.copy_experiment import CopyRequest, copy_experiment
from iocast.sessions.listener import Quiet

pytestmark = pytest.mark.alone

SIZE = (4 << 20) + 1234
MAKERS = {
    "ext4": ("mkfs.ext4", "-q", "-F"),
    "xfs": ("mkfs.xfs", "-q", "-f", "-m", "reflink=1"),
    "btrfs": ("mkfs.btrfs", "-q", "-f"),
}
WHOLE: tuple[MethodCode, ...] = ("mmap_window", "read_write_large", "read_write_block", "sendfile", "splice")


@pytest.fixture
def place(tmp_path: Path, mounted: Mount, attach: Callable[..., str]) -> Callable[[str], Path]:
    """A file system of a kind on an image of its own, or in memory."""

    def make(kind: str) -> Path:
        if kind == "tmpfs":
            return mounted(kind, "-t", "tmpfs", "-o", "size=64m", "none")
        need(MAKERS[kind][0])
        image = tmp_path / f"{kind}.image"
        with image.open("wb") as file:
            file.truncate(320 << 20)
        command(*MAKERS[kind], image)
        return mounted(kind, attach(image))

    return make


def _copied(tmp_path: Path, source: Path, to: Path, *methods: str) -> CopyRun:
    source.write_bytes(os.urandom(SIZE))
    request = CopyRequest(
        source=str(source), destination=str(to), methods=methods, rounds=1, out=str(tmp_path / "runs")
    )
    made = copy_experiment(request, Quiet())
    assert made is not None
    assert not [each.name for each in to.iterdir() if "iocast" in each.name]
    return made.run


def _outcomes(run: CopyRun) -> dict[str, str]:
    """Of each way with a cold source: "copied", "shared", or the errno."""
    found = {}
    for trial in run.trials:
        refused = trial.figures.refused
        if trial.cell.cache == "cold":
            assert refused is not None or trial.same is True
            found[trial.cell.method] = refused.name if refused else "shared" if trial.shared_bytes else "copied"
    return found


def _remarks(run: CopyRun) -> set[str]:
    """The codes of what is named."""
    from iocast.report.copy_report import copy_report

    told = [row.cells.get("code") for each in copy_report(run).sections for table in each.tables for row in table.rows]
    return {str(code) for code in told if code}


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_each_file_system_copies_in_every_way(tmp_path: Path, place: Callable[[str], Path], kind: str) -> None:
    top = place(kind)
    run = _copied(tmp_path, top / "source", top)
    found = _outcomes(run)
    assert {method: found[method] for method in (*WHOLE, "direct")} == dict.fromkeys((*WHOLE, "direct"), "copied")
    shares = kind != "ext4"
    assert found["copy_file_range"] == ("shared" if shares else "copied")
    assert found["reflink"] == ("shared" if shares else "EOPNOTSUPP")
    assert run.plan.source.filesystem == run.plan.destination.filesystem == kind
    assert _remarks(run) & {"reflinked", "copied_in_kernel"} == {"reflinked" if shares else "copied_in_kernel"}


def test_across_file_systems_copy_file_range_and_reflinks_are_refused(
    tmp_path: Path, place: Callable[[str], Path]
) -> None:
    here, there = place("ext4"), place("xfs")
    found = _outcomes(_copied(tmp_path, here / "source", there, "splice", "copy_file_range", "reflink"))
    assert found["splice"] == "copied"
    assert found["copy_file_range"] in ("EXDEV", "copied"), "a kernel between 5.3 and 5.18 copies in memory"
    assert found["reflink"] == "EXDEV"


def test_memory_is_never_cold(tmp_path: Path, place: Callable[[str], Path]) -> None:
    top = place("tmpfs")
    run = _copied(tmp_path, top / "source", top, "splice", "read_write_block")
    assert set(_outcomes(run).values()) == {"copied"}
    assert "not_cold" in _remarks(run)


def test_a_full_file_system_is_an_error_and_leaves_nothing(tmp_path: Path, place: Callable[[str], Path]) -> None:
    from iocast.errors import TargetError

    top = place("tmpfs")
    source = tmp_path / "large"
    source.write_bytes(bytes(80 << 20))
    with pytest.raises(TargetError, match="would not fit"):
        copy_experiment(CopyRequest(source=str(source), destination=str(top), out=str(tmp_path / "runs")), Quiet())
    assert list(top.iterdir()) == []
