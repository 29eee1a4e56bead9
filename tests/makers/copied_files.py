"""Copies of a file as they would be measured, made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.copy_trials import (
    VERSION,
    CopyCell,
    CopyFigures,
    CopyFile,
    CopyPlan,
    CopyRefusal,
    CopyRun,
    CopyTrial,
    MethodCode,
)

SECOND = 1_000_000_000
SIZE = 1_000_000_000


def figures(
    real_s: float, system_s: float, user_s: float = 0.0, sync_s: float = 0.0, size_bytes: int = SIZE
) -> CopyFigures:
    """A whole copy."""
    return CopyFigures(
        bytes=size_bytes,
        calls=100,
        elapsed_ns=round(real_s * SECOND),
        user_ns=round(user_s * SECOND),
        system_ns=round(system_s * SECOND),
        sync_ns=round(sync_s * SECOND),
        sync_user_ns=0,
        sync_system_ns=0,
    )


def copy(
    method: MethodCode, real_s: float, number: int = 1, cache: str = "cold", system_s: float = 0.1, **more: object
) -> CopyTrial:
    """A proven copy of a cold or warm source."""
    cell = CopyCell(method, cache, number)  # type: ignore[arg-type]
    usual = {"cached_bytes": 0 if cache == "cold" else SIZE, "shared_bytes": 0, "same": True}
    return CopyTrial(cell=cell, figures=figures(real_s, system_s), **{**usual, **more})  # type: ignore[arg-type]


def refused(method: MethodCode, call: str, errno: int, name: str, number: int = 1) -> CopyTrial:
    """A copy that was refused before its first byte."""
    from msgspec.structs import replace

    none = replace(figures(0.0, 0.0, size_bytes=0), refused=CopyRefusal(call, errno, name, 0))
    return CopyTrial(cell=CopyCell(method, "cold", number), figures=none)


def copies(*trials: CopyTrial, allocated_bytes: int = SIZE, devices: Sequence[str] = ("8:1", "8:1")) -> CopyRun:
    """The copies of a run that is complete."""
    plan = CopyPlan(
        source=CopyFile(path="/mnt/a/source", filesystem="ext4", device=devices[0]),
        destination=CopyFile(path="/mnt/b", filesystem="xfs", device=devices[1]),
        size_bytes=SIZE,
        allocated_bytes=allocated_bytes,
        block_bytes=4096,
        cells=tuple(trial.cell for trial in trials),
        rounds=max(trial.cell.round for trial in trials),
        seed=1,
    )
    return CopyRun(
        schema_version=VERSION,
        iocast_version="0",
        host="host",
        kernel="Linux 6",
        started_unix_ns=1,
        plan=plan,
        digest="d" * 32,
        trials=tuple(trials),
    )
