"""What was asked for: job files and presets to a Plan, and simulated targets from their text.

What reads the languages of job files is imported when it is asked for: verbs that read none start 0.03 s sooner.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from iocast.model.plan import Phase

if TYPE_CHECKING:
    from iocast.jobs.fio_job import parse_fio_job
    from iocast.jobs.library import load_job, presets
    from iocast.jobs.planning import plan
    from iocast.jobs.simulated.target_text import parse_target, simulated_presets
    from iocast.jobs.toml.job_reading import parse_job
    from iocast.jobs.toml.job_schema import job_schema
    from iocast.model.job import Job

__all__ = [
    "job_schema",
    "load_job",
    "parse_fio_job",
    "parse_job",
    "parse_target",
    "phases",
    "plan",
    "presets",
    "simulated_presets",
]

_MODULES = {
    "job_schema": "toml.job_schema",
    "load_job": "library",
    "parse_fio_job": "fio_job",
    "parse_job": "toml.job_reading",
    "parse_target": "simulated.target_text",
    "plan": "planning",
    "presets": "library",
    "simulated_presets": "simulated.target_text",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def phases(job: Job) -> tuple[Phase, ...]:
    """The phases of a job in the order they run, every list expanded, with unique names."""
    return job.phases
