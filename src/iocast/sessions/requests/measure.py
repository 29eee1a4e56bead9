"""What is asked of `iocast card` and `iocast run`: a job, where it runs, and what is made of its run."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.grading import GradeRequest, Letter, Scale
from iocast.model.job import Job
from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import Page, RunOptions


class MeasureRequest(Struct, frozen=True, kw_only=True):
    """A job (a preset's name, the path of a job file, or a Job) on a path, and what is made of its run."""

    job: Annotated[Job | str, argument("The name of a preset, the path of a job file, or a Job.")]
    path: Annotated[str, argument("A directory, a file, a block device, or a simulated device such as sim:hdd.")] = ""
    diagnosing: Annotated[bool, option("Test findings by experiment after the measurement.", spelt="--diagnose")] = (
        False
    )
    server: Annotated[
        str,
        option(
            "Then run a database on PATH, and show the storage as it sees it: postgres, or postgres:DIR of its "
            "programs.",
            "SERVER",
            spelt="--with",
        ),
    ] = ""
    options: Annotated[RunOptions, part("size_bytes", "duration_ns", "seed", "destroy", "price", "out", "beside")] = (
        RunOptions()
    )
    page: Page = False
    names: Pseudonyms | None = None  # what names become in the card and its page; None: they stay
    grade_request: GradeRequest = GradeRequest()


def grade_asked(scale: Scale, slo: str | None, floor: Letter | None) -> GradeRequest:
    """How a run is to be graded. Raises SpecError for a service level that is none, or that the scale does not know."""
    if slo is None:
        return GradeRequest(scale=scale, floor=floor)
    if scale != "modern":
        raise SpecError(f"--slo does not work with --scale {scale}, which has no service levels", "omit one of them")
    from iocast.diagnose.grades.service_level import parse_slo

    return GradeRequest(scale=scale, level=parse_slo(slo), floor=floor)
