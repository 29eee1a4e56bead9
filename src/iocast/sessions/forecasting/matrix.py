"""matrix: ORION's planner on files, devices or a simulated device, and ORION's files of what was measured."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from iocast import archive
from iocast.archive.regular_file import LARGEST_SMALL, regular_bytes
from iocast.archive.writing.named_outputs import check_output, make_directory, put_output
from iocast.errors import SpecError
from iocast.load import lay_out
from iocast.model.job import Job
from iocast.model.plan import Plan
from iocast.model.run import Run
from iocast.model.target import Target
from iocast.report.matrix.orion_files import has_points, orion_files
from iocast.sessions.events import FileWritten, Planned
from iocast.sessions.fitted_plan import make_plan
from iocast.sessions.forecasting.several_targets import find_targets
from iocast.sessions.listener import Listener
from iocast.sessions.measure import MeasuredJob, measure_job
from iocast.sessions.requests.matrix import MatrixRequest
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import MIB, RunOptions
from iocast.tools.orion.command_line import Settings, checked, lun_paths, of_disks
from iocast.tools.orion.data_points import data_points
from iocast.tools.orion.matrix_job import matrix_job
from iocast.tools.orion.result_files import Point

WORK_FILE_BYTES = 1024 * MIB  # of each work file, unless a size is given


class Matrix(Struct, frozen=True):
    """What would be done: ORION's points, and the plan of those that have I/O."""

    settings: Settings
    points: tuple[Point, ...]
    planned: Planned

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.planned.plan


def plan_matrix(request: MatrixRequest) -> Matrix:
    """The points and the plan; nothing is done. Raises IocastError."""
    settings, job, target = _planned(request)
    fitted = make_plan(job, target, request.seed, dry=True)
    planned = Planned(plan=fitted.plan, layout=lay_out(fitted.plan), notes=fitted.notes, excluded=fitted.excluded)
    return Matrix(settings, data_points(settings), planned)


def run_matrix(request: MatrixRequest, listener: Listener) -> MeasuredJob:
    """Measures all points in one run, and writes ORION's files where they are asked for. Raises IocastError."""
    _, job, target = _planned(request)
    if request.files:
        make_directory(Path(request.files), "--files")  # now, not when all has been measured
    options = RunOptions(size_bytes=request.size_bytes, seed=request.seed, out=request.out)
    wanted = MeasureRequest(
        job=job, path=target.path, options=options, grade_request=request.grade_request, page=request.page
    )
    measured = measure_job(job, target, wanted, listener)
    if request.files and measured.card is not None and has_points(measured.run):
        write_orion_files(measured.run, request.files, listener, force=request.force)
    return measured


def write_orion_files(run: Run, directory: str, listener: Listener, *, force: bool = False) -> tuple[Path, ...]:
    """Writes ORION's files of a run into a directory. Raises ArchiveError for a run that is none of ORION's, and for
    a file there that iocast did not make."""
    texts, folder = orion_files(run), Path(directory)
    make_directory(folder, "--files")
    paths = {folder / name: text for name, text in texts.items()}
    for path in paths:
        check_output(path, "--files", force=force)  # all of them, before the first is written
    for path, text in paths.items():
        put_output(path, text.encode(), "--files", force=force)
        listener.tell(FileWritten(path))
    return tuple(paths)


def write_again_for_orion(folders: tuple[str, ...], directory: str, listener: Listener, *, force: bool = False) -> None:
    """Writes ORION's files of runs from their folders alone. Raises ArchiveError."""
    for folder in folders:
        write_orion_files(archive.load(folder), directory, listener, force=force)


def _planned(request: MatrixRequest) -> tuple[Settings, Job, Target]:
    paths = request.paths or _of_lun_file(request.settings.testname)
    target = find_targets(paths, request.destroy)
    luns = len(paths)
    if request.luns is not None:
        if target.kind != "directory":
            raise SpecError(
                f"--luns {request.luns} is for a directory, where iocast lays out its own files",
                "omit it, or give a directory",
            )
        luns = request.luns
    settings = checked(of_disks(request.settings, luns))
    size_bytes = request.size_bytes or WORK_FILE_BYTES
    return settings, matrix_job(settings, luns=luns, size_bytes=size_bytes), target


def _of_lun_file(testname: str) -> tuple[str, ...]:
    """The paths that ORION would read from TESTNAME.lun. Raises SpecError when there are none."""
    name = f"{testname}.lun"
    try:
        paths = lun_paths(regular_bytes(Path(name), LARGEST_SMALL).decode("utf-8").splitlines())
    except FileNotFoundError:
        raise SpecError(
            f"PATH is missing, and there is no {name} here", f"give a path, or write one path a line into {name}"
        ) from None
    except (OSError, ValueError) as error:
        raise SpecError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if not paths:
        raise SpecError(f"{name} has no paths", "write one path a line into it")
    return paths
