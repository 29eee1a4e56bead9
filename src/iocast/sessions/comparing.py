"""compare, repeat, ab: groups of runs are made or found, and set beside each other."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.catalogue import UNTIL_SURE, group_kind, labels, runs_in, until_sure
from iocast.archive.notes_file import notes_in_list
from iocast.archive.writing.brought_directories import BroughtDirectories
from iocast.archive.writing.held_folder import HeldFolder, make_named, open_base
from iocast.diagnose.comparable import side
from iocast.errors import ArchiveError, SpecError
from iocast.load import lay_out
from iocast.model.job import Job
from iocast.model.permission import why_outdated
from iocast.model.report import Report
from iocast.model.results.comparison import Comparison as ComparedRuns
from iocast.model.target import Target
from iocast.observe.target.overwriting import held
from iocast.report.comparison_report import compare as report_of
from iocast.report.comparison_report import repeats
from iocast.report.forecast.calibration_repeats import calibration_repeats
from iocast.results.compared_values import JUDGED, ratio_of
from iocast.results.comparison import is_known, judged_pairs, outcome, repeats_of
from iocast.sessions.events import RunBegun
from iocast.sessions.fitted_plan import asked_job, make_plan
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.job_run import Ran, run_job
from iocast.sessions.listener import Listener
from iocast.sessions.requests.compare import AbRequest, RepeatRequest
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.run_card import keep_judgement
from iocast.sessions.target_finding import find_target, identity_name

if TYPE_CHECKING:
    from iocast.diagnose.comparable import Pair, Side

SIDES = ("A", "B")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Comparison(Struct, InNotebook, frozen=True):
    """Runs, or groups of repeats, beside the first of them."""

    sides: tuple[Side, ...]
    folder: str = ""  # that `ab` made for them

    def pairs(self) -> Iterator[tuple[Side, tuple[Pair, ...]]]:
        """Each side but the first, with the rows that it shares with the first."""
        first, *others = self.sides
        return ((other, judged_pairs(first, other)) for other in others)

    @property
    def is_decided(self) -> bool:
        """Whether all that a verdict counts is known: more rounds would change nothing."""
        rows = [pair for _, pairs_of_side in self.pairs() for pair in pairs_of_side if not pair.why_not]
        ratios = [ratio_of(pair, figure) for pair in rows for figure in JUDGED]
        return all(each is None or each.verdict != "inconclusive" for each in ratios)

    def report(self, *, charts: bool = False) -> Report:
        """What else differs, a verdict for each row, percentiles. Raises AnalysisError without a common row."""
        return report_of(self.sides, charts=charts)


class Repeats(Struct, InNotebook, frozen=True):
    """Runs of one job on one target."""

    folder: str
    side: Side

    def report(self, *, charts: bool = False) -> Report:
        """Whether the figures repeat; of calibrations also whether their maxima do."""
        if all(run.plan.calibration for run in self.side.runs):
            return calibration_repeats(self.side, charts=charts)
        return repeats(self.side, charts=charts)


def compare(folders: tuple[str, ...], words: tuple[str, ...] = ()) -> Comparison:
    """Run folders, or folders of repeats, beside the first of them. Raises ArchiveError.

    `words` are those that they were given by: a run that was given by a tag is called by it.
    """
    tags = words if len(set(words)) == len(folders) else ("",) * len(folders)
    sides = []
    for folder, label, tag in zip(folders, labels(folders), tags, strict=True):
        tagged = tag in notes_in_list(folder).tags
        sides.append(replace(side_of(tag if tagged else label, folder), tagged=tagged))
    return Comparison(tuple(sides))


def outcomes_of(result: Struct | None) -> frozenset[str]:
    """What came of a comparison of runs: "worse", "undecided", "refused" for rows that are not compared. What only one
    run of each side shows is undecided."""
    rows = [row for pair in result.pairs for row in pair.rows] if isinstance(result, ComparedRuns) else []
    return frozenset(map(outcome, rows)) - {"fine"}


def repeat(request: RepeatRequest, listener: Listener) -> Repeats | None:
    """Runs the job several times, or until its figures are known; None when it was stopped. Raises IocastError."""
    job, options = asked_job(request.job, request.options, request.path), request.options
    if 0 < request.until_sure < request.times:
        raise SpecError(
            f"--until-sure {request.until_sure} is below the {request.times} runs that are made first",
            f"it is the most runs: for example iocast repeat {request.times} JOB --until-sure {4 * request.times}",
        )
    refuse_unfit(job, find_target(request.path, options.destroy), options)
    most = max(request.times, request.until_sure)
    name = f"repeat-{job.name.replace(' ', '-')}{UNTIL_SURE if request.until_sure else ''}"
    with group_folder(options.out, name) as folder:
        for number in range(1, most + 1):
            listener.tell(RunBegun(number, most))
            # Other offsets in each run, or a lucky choice of them would repeat as well.
            this = replace(options, seed=options.seed + number - 1, out=folder)
            if measured_run(job, find_target(request.path, options.destroy), this, listener).stopped:
                return None
            if request.times <= number < most and is_known(tuple(repeats_of(_unexamined(folder)))):
                break
        return repeats_in(folder)


def _unexamined(folder: str) -> Side:
    """The runs so far as a side without trust and findings, which cost more than the figures."""
    from iocast.diagnose.comparable import Side

    return Side("", runs_in(folder), {}, until_sure=until_sure(folder))


def repeats_in(folder: str) -> Repeats:
    """The runs of one job in a folder. Raises ArchiveError."""
    return Repeats(folder, side_of(os.path.basename(os.path.abspath(folder)), folder))


def ab(request: AbRequest, listener: Listener) -> Comparison | None:
    """Runs the job on both targets in turns; None when stopped. Raises IocastError."""
    name = f"ab-{{}}{UNTIL_SURE}" if request.until_sure else "ab-{}"
    return in_turns(request, name, lambda comparison: comparison.is_decided, listener)


def in_turns(
    request: AbRequest, name: str, enough: Callable[[Comparison], bool], listener: Listener
) -> Comparison | None:
    """Runs the job on both targets, in an order drawn for each round, until there are `enough` of them; None when
    stopped. `name` is that of the folder, with {} for the job's. Raises IocastError."""
    job, options = asked_job(request.job, request.options, request.target_b), request.options
    targets = dict(zip(SIDES, (request.target_a, request.target_b), strict=True))
    _refuse_unknown(request)
    for path in targets.values():  # both, before the first is measured
        refuse_unfit(job, _target(path, request), options)
    with group_folder(options.out, name.format(job.name.replace(" ", "-"))) as folder:
        order, comparison = random.Random(options.seed), None
        most = max(request.rounds, request.until_sure)
        for number in range(1, most + 1):
            for turn in order.sample(SIDES, 2):
                listener.tell(RunBegun(number, most, turn, targets[turn]))
                # The same offsets on both sides, others in each round.
                this = replace(options, seed=options.seed + number - 1, out=os.path.join(folder, turn))
                if measured_run(job, _target(targets[turn], request), this, listener).stopped:
                    return None
            if number >= request.rounds:
                comparison = _sides_of(folder)
                if number < most and enough(comparison):
                    break
        return comparison


def _sides_of(folder: str) -> Comparison:
    """Both sides of runs that were made in turns. Raises ArchiveError."""
    sides = (os.path.join(folder, name) for name in SIDES)
    return Comparison(tuple(side_of(os.path.basename(each), each) for each in sides), folder)


def side_of(label: str, folder: str) -> Side:
    """The runs of a folder as a side. Raises ArchiveError."""
    return replace(side(label, runs_in(folder)), until_sure=until_sure(folder))


def _target(path: str, request: AbRequest) -> Target:
    """A target, with its identity where that may be overwritten. Raises TargetError."""
    target = find_target(path)
    return replace(target, destroy=identity_name(target) if identity_name(target) in request.destroy else "")


def refuse_unfit(job: Job, target: Target, options: RunOptions) -> None:
    """Says what keeps a job from its target before a folder is made; nothing is tried there. Raises IocastError."""
    plan = make_plan(job, target, options.seed, dry=True).plan
    lay_out(plan)
    with held(target, [phase.name for phase in plan.phases if phase.workload.writes]):
        pass


def measured_run(job: Job, target: Target, options: RunOptions, listener: Listener) -> Ran:
    """One run, with its line for lists of runs, also where it failed. Raises IocastError."""
    done = run_job(job, target, options, listener)
    if done.folder is not None:
        with suppress(ArchiveError) if done.error else nullcontext():  # what ended the run says more
            keep_judgement(done.folder)
    return done.told_or_error(listener)


def _refuse_unknown(request: AbRequest) -> None:
    known = {identity_name(find_target(path)) for path in (request.target_a, request.target_b)}
    if unknown := [name for name in request.destroy if name not in known]:
        raise SpecError(
            f"--destroy {unknown[0]} matches neither target{why_outdated(unknown[0])}",
            "omit --destroy: the refusal then shows the identity of each device",
        )


@contextmanager
def group_folder(out: str, name: str) -> Iterator[str]:
    """A fresh folder for the runs of one command, `out/<time>-<name>`; one without a run is taken away at the end.

    Raises ArchiveError.
    """
    base = Path(out)
    with BroughtDirectories(base) as brought:
        _sweep_empty_groups(base)
        folder = make_named(base, name)
    try:
        yield str(folder.path)
    finally:
        _remove_empty_sides(open_base(folder.place))
        if folder.remove_if_empty():  # else what was measured stays
            brought.remove()


def _sweep_empty_groups(base: Path) -> None:
    """Takes away the folders of groups whose process was killed before their first run began."""
    with suppress(OSError):
        above = open_base(base)
        for name in filter(group_kind, above.names()):
            with suppress(OSError):  # a group that is being made
                group = above.folder(name)
                group.claim()
                if not group.is_proven:
                    continue
                _remove_empty_sides(group)
                above.remove_folder(name, group)


def _remove_empty_sides(group: HeldFolder) -> None:
    with suppress(OSError):
        for side in filter(group.has_folder, SIDES):
            group.remove_folder(side, group.folder(side))
