"""What was asked for: job files and presets to a Plan, and simulated targets from their text."""

from __future__ import annotations

from iocast.jobs.fio.fio_reading import parse_fio_job
from iocast.jobs.job import FileSize, Job
from iocast.jobs.library import load_job, presets
from iocast.jobs.planning import plan
from iocast.jobs.simulated.target_text import parse_target, simulated_presets
from iocast.jobs.toml.job_reading import parse_job
from iocast.jobs.toml.job_schema import job_schema
from iocast.model.plan import Phase

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
