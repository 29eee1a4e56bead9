"""plan, spec: what a job would do on a path, and the job in another tool's words; nothing is done."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.jobs import presets as known
from iocast.jobs.toml.job_schema import schema_text as text
from iocast.jobs.toml.job_writing import toml_notes, toml_text
from iocast.load import Layout, PlannedGroup, lay_out, loader_of
from iocast.model.job import Job
from iocast.model.plan import Length, Plan
from iocast.model.tree import Tree
from iocast.runner.tree_keeping import make_phase
from iocast.sessions.fitted_plan import Fitted, asked_job, make_plan, where
from iocast.sessions.requests.plan import PlanRequest, SpecRequest
from iocast.sessions.target_finding import find_target
from iocast.tools.fio.fio_writing import fio_text, notes_on


class Proposed(Struct, frozen=True):
    """A job and the plan that it would be."""

    job: Job
    fitted: Fitted

    @property
    def plan(self) -> Plan:
        """What would be done."""
        return self.fitted.plan

    def layout(self) -> Layout:
        """The files that it needs. Raises TargetError where they do not fit."""
        return lay_out(self.plan)

    def make_seconds(self, layout: Layout) -> float | None:
        """How long a simulated device takes to make the trees of the plan; None where nobody can tell beforehand."""
        if not self.plan.trees or self.plan.target.kind != "sim":
            return None
        return sum(simulated_make_seconds(self.plan, tree, layout) for tree in self.plan.trees)


SIMULATED_FILES = 20_000  # of a tree, from which the time of all of them follows


def simulated_make_seconds(plan: Plan, tree: Tree, layout: Layout) -> float:
    """A part of the files is made in virtual time."""
    loader = loader_of(plan)
    phase = make_phase(plan, tree)
    files = phase.length.ios or 0
    part = min(SIMULATED_FILES, files)
    phase_plan = loader.phase_plan(replace(phase, length=Length(ios=part)), layout.files, seed=0)
    assert phase_plan.tree is not None
    phase_plan = replace(phase_plan, tree=replace(phase_plan.tree, present="none"))
    (filled,) = loader.measure(PlannedGroup((phase_plan,)), lambda *_: True)
    return filled.measurement.elapsed_ns / 1e9 * files / part


def plan_job(request: PlanRequest) -> Proposed:
    """The plan of a job on a path; nothing at all is tried there. Raises IocastError."""
    options = request.options
    wanted, path = where(asked_job(request.job, options, request.path), request.path)
    target = find_target(path, options.destroy)
    return Proposed(wanted, make_plan(wanted, target, options.seed, dry=True))


def presets() -> dict[str, str]:
    """The name of every preset with its description in one line."""
    return known()


def schema_text() -> str:
    """The JSON Schema of job files."""
    return text()


class Written(Struct, frozen=True):
    """A job file, and what it says otherwise than the job."""

    text: str
    notes: tuple[str, ...]


def write_job(request: SpecRequest) -> Written:
    """The job as a job file of fio, or of iocast. Raises SpecError for what that cannot say."""
    wanted = asked_job(request.job, request.options)
    if wanted.database:
        raise SpecError(
            f"{wanted.name}: a load of a database cannot be written as another job file", "run the file as it is"
        )
    if wanted.shares:
        raise SpecError(
            f"{wanted.name}: rates that are shares of a maximum cannot be written as a job file",
            "run the file as it is; or give its rates as numbers",
        )
    if any(phase.tree is not None or (phase.on_files and request.to != "fio") for phase in wanted.phases):
        raise SpecError(
            f"{wanted.name}: phases in different trees, or on different work files, cannot be written as a job file"
            " of iocast",
            "run the file as it is, give each tree or storage a file of its own, or write it --to fio",
        )
    if request.to == "fio":
        return Written(fio_text(wanted), (*wanted.notes, *notes_on(wanted)))
    return Written(toml_text(wanted), (*wanted.notes, *toml_notes(wanted)))
