"""The load room: lays out files and makes I/O happen, one phase at a time."""

from __future__ import annotations

from iocast.load.core_phases import (
    Answer,
    Intervals,
    OnTick,
    World,
    measure,
    measure_together,
    memory_bytes_per_s,
    phase_plan,
    phase_seed,
    sim_world,
)
from iocast.load.removal import Cleaned, clean
from iocast.load.work_files import Layout, WorkFile, lay_out, permission_of

__all__ = [
    "Answer",
    "Cleaned",
    "Intervals",
    "Layout",
    "OnTick",
    "WorkFile",
    "World",
    "clean",
    "lay_out",
    "measure",
    "measure_together",
    "memory_bytes_per_s",
    "permission_of",
    "phase_plan",
    "phase_seed",
    "sim_world",
]
