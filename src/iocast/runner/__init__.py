"""The runner: Plan → Run, the one place where load and observation meet."""

from __future__ import annotations

from iocast.runner.reporting import Progress
from iocast.runner.run_loop import Work, run
from iocast.runner.saving import Performed

__all__ = ["Performed", "Progress", "Work", "run"]
