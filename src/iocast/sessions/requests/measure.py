"""What is asked of `iocast card` and `iocast run`: a job, where it runs, and what is made of its run."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.grading import LEVEL_KEPT, GradeRequest, Letter, Scale, letter_rank
from iocast.model.hosts import Share
from iocast.model.job import Job
from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import Page, RunOptions


def _ramp(text: str, _name: str) -> tuple[int, ...]:
    counts = [each.strip() for each in text.split(",")]
    if not all(each.isascii() and each.isdecimal() and 0 < len(each) < 5 and int(each) for each in counts):
        raise ValueError(f'"{text}" is no list of numbers of hosts, such as 1,2,4')
    return tuple(sorted({int(each) for each in counts}))


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
    hosts: Annotated[
        str,
        option(
            "Run on these hosts at once, e.g. db[1-4]:/u01, or a file that names them.",
            "NODES",
        ),
    ] = ""
    share: Annotated[
        Share,
        option("With --hosts: each its own files, its slice of one device, or the same bytes.", quiet=True),
    ] = "own"
    ramp: Annotated[
        tuple[int, ...],
        option(
            "With --hosts: run all rows on this many of the hosts, one count after the other, e.g. 1,2,4.",
            "COUNTS",
            read=_ramp,
        ),
    ] = ()
    options: Annotated[
        RunOptions,
        part("size_bytes", "duration_ns", "seed", "destroy", "price", "out", "label", "wait_quiet_ns", "beside"),
    ] = RunOptions()
    page: Page = False
    names: Pseudonyms | None = None  # what names become in the card and its page; None: they stay
    grade_request: GradeRequest = GradeRequest()


def grade_asked(
    scale: Scale, slos: tuple[str, ...], floor: Letter | None, *, must_be_kept: bool = False
) -> GradeRequest:
    """How a run is to be graded. Raises SpecError for a service level that is none, or that the scale does not know."""
    if not slos:
        if must_be_kept:
            raise SpecError("--fail-on slo needs a --slo", "for example --slo 'p99<5ms' --fail-on slo")
        return GradeRequest(scale=scale, floor=floor)
    if scale != "modern":
        raise SpecError(f"--slo does not work with --scale {scale}, which has no service levels", "omit one of them")
    from iocast.diagnose.grades.service_level import parse_slo

    floors: list[Letter] = [*([floor] if floor else []), *([LEVEL_KEPT] if must_be_kept else [])]
    least = min(floors, key=letter_rank, default=None)
    return GradeRequest(scale=scale, levels=tuple(map(parse_slo, slos)), floor=least)
