"""The load room: lays out files and makes I/O happen, one phase at a time."""

from __future__ import annotations

from iocast.load.disk import Intervals, measure, phase_plan
from iocast.load.files import Layout, WorkFile, clean, lay_out

__all__ = ["Intervals", "Layout", "WorkFile", "clean", "lay_out", "measure", "phase_plan"]
