"""What was asked for: job files and presets to a Plan, and simulated targets from their text."""

from __future__ import annotations

from iocast.model.plan import Phase
from iocast.spec.fio_reading import parse_fio_job
from iocast.spec.job import FileSize, Job
from iocast.spec.library import load_job, presets
from iocast.spec.planning import plan
from iocast.spec.reading import parse_job
from iocast.spec.schema import job_schema
from iocast.spec.simulated import parse_target, simulated_presets

__all__ = [
    "FileSize",
    "Job",
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


def phases(job: Job) -> tuple[Phase, ...]:
    """The phases of a job in the order they run, every list expanded, with unique names."""
    return job.phases
