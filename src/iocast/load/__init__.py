"""The load room: lays out files and makes I/O happen, one group of phases after the other."""

from __future__ import annotations

from iocast.load.core_phases import Intervals, measure, measure_together, memory_bytes_per_s, phase_seed
from iocast.load.loaders import LOADERS, lay_out, loader_of, phase_plan
from iocast.load.loaders.loader import Loader, MeasuredPhase, OnTick, PlannedGroup
from iocast.load.page_cache import drop_cached, drop_names
from iocast.load.removal import Cleaned, clean
from iocast.load.work_files import Layout, WorkFile, permission_of

__all__ = [
    "LOADERS",
    "Cleaned",
    "Intervals",
    "Layout",
    "Loader",
    "MeasuredPhase",
    "OnTick",
    "PlannedGroup",
    "WorkFile",
    "clean",
    "drop_cached",
    "drop_names",
    "lay_out",
    "loader_of",
    "measure",
    "measure_together",
    "memory_bytes_per_s",
    "permission_of",
    "phase_plan",
    "phase_seed",
]
