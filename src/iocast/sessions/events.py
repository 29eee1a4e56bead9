"""What happens in a session, as values: a door turns them into words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from iocast.errors import IocastError
from iocast.model.copy_trials import CopyPlan, CopyTrial
from iocast.model.database.database_result import DatabaseServer
from iocast.model.experiment import Experiment, Outcome
from iocast.model.finding import Finding
from iocast.model.grading import Grades, Letter
from iocast.model.plan import Phase, Plan
from iocast.model.report import Report
from iocast.model.run import Blind, Maintenance
from iocast.model.study_plan import StudyCell, StudyPlan

if TYPE_CHECKING:
    from iocast.load import Layout as Layout
    from iocast.sessions.card import Card
    from iocast.tools.traces import TraceReport


class Planned(Struct, frozen=True, kw_only=True):
    """What will be done, told before it is done. `notes` say how it differs from what was asked."""

    plan: Plan
    layout: Layout
    notes: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()  # phases that write, where the target is only read
    idle_size_bytes: int | None = None  # a size that was asked for, where the target is taken as it is
    maintenance: tuple[Maintenance, ...] = ()  # that is under way, here or elsewhere on this machine
    results_on: str | None = None  # what the run folder shares with the target: a disk, or a file system


class QuietAwaited(Struct, frozen=True):
    """The run begins when the machine is quiet, or after so long."""

    most_ns: int


class QuietEnded(Struct, frozen=True):
    """It was quiet after so long, or never was. A share of None is unknown."""

    quiet: bool
    waited_ns: int
    cpu_share: float | None
    disk_share: float | None


class Stopped(Struct, frozen=True):
    """The listener asked to stop: so many of the rows planned were measured, and are kept."""

    measured: int
    planned: int
    kept: bool = True  # there is a folder
    cut_short: int = 0  # of those measured


class HostsSaid(Struct, frozen=True):
    """A line that some of the hosts of a run said of what they do."""

    hosts: tuple[str, ...]
    of: int  # hosts of the run
    line: str


class HostLost(Struct, frozen=True):
    """A host from which nothing more comes: the run ends on all."""

    host: str
    why: str


class CardReady(Struct, frozen=True):
    """A run was judged; `report` is its card without charts. Not all of it is `kept` where its folder could not be
    written: then nothing else shows it."""

    card: Card
    report: Report
    kept: bool = True


class RowsUnkept(Struct, frozen=True):
    """A run whose card nobody asked for could not be kept: `report` is that card, with all that was measured."""

    report: Report


class FloorMissed(Struct, frozen=True):
    """A run did not earn the grade that was asked for; `grades` is None where nothing was measured."""

    name: str
    floor: Letter
    grades: Grades | None


class RunsReadWhole(Struct, frozen=True):
    """So many runs keep no figures of their rows, and are about to be read and judged whole."""

    count: int


class FileWritten(Struct, frozen=True):
    """A report was written."""

    path: Path


class PageWritten(Struct, frozen=True):
    """The page stands in the run folder."""

    path: Path


class PageFailed(Struct, frozen=True):
    """No page could be made; the run is safe."""

    why: IocastError


class Suspected(Struct, frozen=True):
    """A finding is only suggested: what would decide it comes next."""

    finding: Finding


class Untested(Struct, frozen=True):
    """A finding is not tested, or not tested `again`."""

    finding: Finding
    why: str
    again: bool = False


class ExperimentBegun(Struct, frozen=True):
    """An experiment about a finding begins."""

    finding: Finding
    experiment: Experiment


class ExperimentFailed(Struct, frozen=True):
    """An experiment was cut short by an error; what it measured until then is judged."""

    why: IocastError


class Decided(Struct, frozen=True):
    """What an experiment found."""

    finding: Finding
    outcome: Outcome


class Diagnosed(Struct, frozen=True):
    """The diagnosis is kept in the run folder."""

    folder: str


class RunBegun(Struct, frozen=True):
    """The next of several runs of one job begins; with `side` the next of a round."""

    number: int
    of: int
    side: str = ""
    path: str = ""


class Imported(Struct, frozen=True):
    """Results of another tool became a run folder."""

    folder: str


class TrialBegun(Struct, frozen=True):
    """A named experiment begins."""

    name: str
    question: str


class TrialPlanned(Struct, frozen=True):
    """The rows of a named experiment on its next target are known."""

    phases: tuple[Phase, ...]


class TrialFailed(Struct, frozen=True):
    """A target ended a named experiment early; what was measured is judged."""

    why: IocastError


class AnswerReady(Struct, frozen=True):
    """A named experiment was judged, or a group of runs is shown again; `report` is the answer."""

    report: Report


class StudyBegun(Struct, frozen=True, kw_only=True):
    """A study goes on, or begins, on a configuration; so much of it is complete already."""

    plan: StudyPlan
    label: str
    folder: str
    cells_done: int
    runs_done: int


class StudyRunBegun(Struct, frozen=True, kw_only=True):
    """The next run of a cell begins."""

    cell: StudyCell
    repeat: int
    repeats: int
    label: str


class StudyRunFailed(Struct, frozen=True):
    """A run of a cell ended with an error; the study goes on."""

    cell: StudyCell
    why: IocastError


class CopyPlanned(Struct, frozen=True):
    """Copies of a file are about to be made; `keep` is the path of the one that stays, "" for none."""

    plan: CopyPlan
    keep: str


class CopyReady(Struct, frozen=True):
    """A copy was made and is kept in the folder."""

    trial: CopyTrial
    number: int
    of: int


class ImageAnnounced(Struct, frozen=True):
    """A file for file systems of its own is about to be made in a directory, and removed at the end."""

    directory: str
    size_bytes: int


class ImageLeftOut(Struct, frozen=True):
    """A file system could not be made."""

    kind: str
    why: IocastError


class Interrupted(Struct, frozen=True):
    """The machine was down since the run began: only what was made durable must be there."""


class NotKept(Struct, frozen=True):
    """The result of a verification could not be saved."""

    why: IocastError


class WatchBegun(Struct, frozen=True):
    """Block requests of devices are watched; none named: of all."""

    devices: tuple[str, ...]
    interval_ns: int
    notes: tuple[str, ...]


class LiveBegun(Struct, frozen=True):
    """A live watch is on: of which databases beside this machine, what it cannot see, what its tracing costs."""

    sources: tuple[str, ...]
    interval_ns: int
    blind: tuple[Blind, ...]
    cost: str = ""  # "" where nothing is traced


class TapeSaved(Struct, frozen=True):
    """What was watched is in this run folder."""

    folder: str


class CaptureBegun(Struct, frozen=True):
    """What is captured, and into which file."""

    what: str
    to: str
    notes: tuple[str, ...]


class CaptureEnded(Struct, frozen=True):
    """The event table is written."""

    to: str
    report: TraceReport
    elapsed_ns: int


class CommandGoesOn(Struct, frozen=True):
    """A capture ended before the command that it began."""

    pid: int


class CountersLogged(Struct, frozen=True):
    """A log of disk counters is complete."""

    to: str
    copies: int
    size_bytes: int


class BuildStep(Struct, frozen=True):
    """How far a data set is: "fill", "index", "vacuum" or "checkpoint", of which table, and bytes of all tables."""

    step: str
    table: int
    done_bytes: int
    of_bytes: int
    elapsed_s: float
    begun_bytes: int = 0  # that an earlier build had left


class BuildStopped(Struct, frozen=True):
    """A signal ended the build; what is done is kept."""

    done_bytes: int
    of_bytes: int


class BuildEnded(Struct, frozen=True):
    """The data set is complete."""

    server: DatabaseServer
    resumed: bool
    notes: tuple[str, ...]
    elapsed_s: float


class DatabaseNoted(Struct, frozen=True):
    """What is to be known of a server before it is loaded."""

    says: str


class DataSetDropped(Struct, frozen=True):
    """What was removed, and what of others was found in the schema and left."""

    objects: tuple[str, ...]
    size_bytes: int
    left: tuple[str, ...]
    place_stays: bool  # since others put objects there, or made it, or could have done so unseen


InquiryEvent = Suspected | Untested | ExperimentBegun | ExperimentFailed | Decided | Diagnosed
TrialEvent = TrialBegun | TrialPlanned | TrialFailed | ImageAnnounced | ImageLeftOut | CopyPlanned | CopyReady
WorkEvent = Planned | QuietAwaited | QuietEnded | Stopped | RunBegun | FloorMissed | Imported | Interrupted | NotKept
HostEvent = HostsSaid | HostLost
FleetEvent = RunsReadWhole
StudyEvent = StudyBegun | StudyRunBegun | StudyRunFailed
FileEvent = FileWritten | PageWritten | PageFailed
CaptureEvent = CaptureBegun | CaptureEnded | CommandGoesOn | CountersLogged
LiveEvent = WatchBegun | LiveBegun | TapeSaved
DatabaseNews = BuildStopped | BuildEnded | DatabaseNoted | DataSetDropped
Made = CardReady | RowsUnkept | AnswerReady  # what was asked for
Seldom = HostEvent | FleetEvent | StudyEvent | InquiryEvent | TrialEvent
Worded = WorkEvent | Seldom | FileEvent | CaptureEvent | LiveEvent | DatabaseNews
Event = Worded | BuildStep | Made
