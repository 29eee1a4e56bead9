"""What a named experiment found, from its run folder: a report of its own, and the head of the card of its run."""

from __future__ import annotations

import shlex
from pathlib import Path

from msgspec.structs import replace

from iocast import archive
from iocast.analyse.facts import facts_of
from iocast.archive.catalogue import run_folders
from iocast.diagnose.examination import examine
from iocast.diagnose.experiments.answer_trust import for_answer
from iocast.diagnose.experiments.named import Ruling, find_trial, question
from iocast.model.experiment import Diagnosis
from iocast.model.report import Figure, Report, Section, Table
from iocast.model.results.experiments import ExperimentResult
from iocast.model.run import Run
from iocast.report.card.card_report import why_trusted
from iocast.report.card.headline import trust_badge
from iocast.report.result_tables import result_table
from iocast.report.subjects import subject
from iocast.report.wording import SECTIONS
from iocast.results.card import trust_reasons

UNUSABLE = frozenset(("D", "F"))
UNSURE = "The answer rests on rows of trust D or F, too: mend what their reasons say, and repeat the experiment."


def trial_report(run: Run, folder: str) -> Report:
    """The question, the verdict and the table. Raises ArchiveError for a damaged folder."""
    runs = _runs(run, folder)
    ruling, section = _judged(runs)
    examined = [(each, for_answer(each, examine(facts_of(each), _diagnosis(each, run, folder)))) for each in runs]
    letters = [examination.trust[row.phase.name].grade for each, examination in examined for row in each.measured]
    badge = trust_badge(letters)
    if UNUSABLE & {*letters}:
        section = replace(section, paragraphs=(*section.paragraphs, UNSURE))
    reasons = [(each, tuple(trust_reasons(each, examination))) for each, examination in examined]
    server = run.plan.target.database
    place = f"{server.product} {server.version}" if server else run.plan.target.path
    places = place + (f" and {len(runs) - 1} more" if len(runs) > 1 else "")
    return Report(
        title=f"Experiment {run.plan.experiment} · {places}",
        verdict=_answer(ruling),
        sections=(section, *filter(None, (why_trusted(each, why) for each, why in reasons))),
        next_steps=(f"To see its card with all figures: iocast report {shlex.quote(folder)}",) if folder else (),
        badges=(badge,) if badge else (),
        figures=(_verdict(ruling),),
        answer=ruling.verdict,
        kind="experiment",
        result=ExperimentResult(
            answer=ruling.verdict, experiment=ruling.rows, trust=tuple(reason for _, why in reasons for reason in why)
        ),
        subjects=tuple(subject(each, folder if each is run else "") for each in runs),
    )


def _diagnosis(each: Run, first: Run, folder: str) -> Diagnosis | None:
    return archive.load_diagnosis(folder) if folder and each is first else None


def with_trial(report: Report, run: Run, folder: str) -> Report:
    """The card of a run, headed by the outcome of its experiment; others stay as they are."""
    if find_trial(run.plan.experiment) is None or not run.measured:
        return report
    ruling, section = _judged(_runs(run, folder))
    return replace(
        report,
        verdict=_answer(ruling),
        sections=(section, *report.sections),
        figures=(_verdict(ruling), *report.figures),
        answer=ruling.verdict,
        result=replace(report.result, answer=ruling.verdict, experiment=ruling.rows) if report.result else None,
    )


def _judged(runs: tuple[Run, ...]) -> tuple[Ruling, Section]:
    trial = find_trial(runs[0].plan.experiment)
    assert trial is not None
    ruling = trial.judge(runs)
    title = f"{SECTIONS['experiment']} {trial.NAME}"
    return ruling, Section("experiment", title, (question(trial),), (_table(ruling),))


def _table(ruling: Ruling) -> Table:
    """The rows; of a run that was stopped too soon for any, none."""
    if not ruling.rows:
        return Table("", (), (), key="experiment")
    return result_table(type(ruling.rows[0]), ruling.rows, key="experiment", notes=ruling.notes)


def _answer(ruling: Ruling) -> str:
    """The answer to the question, and why."""
    word = {"confirmed": "Yes", "rejected": "No", "undecided": "Undecided"}[ruling.verdict]
    return f"{word}. {ruling.says}"


def _verdict(ruling: Ruling) -> Figure:
    return Figure("verdict", ruling.verdict, "text")


def _runs(run: Run, folder: str) -> tuple[Run, ...]:
    """The run and those of the other targets of the same experiment, which are in its folder, in order of time."""
    inside = Path(folder.removesuffix(archive.RUN_FILE), archive.EXPERIMENTS)
    if not folder or not inside.is_dir():
        return (run,)
    others = [archive.load(each) for each in run_folders(str(inside), 1)]
    mine = sorted(
        (each for each in others if each.plan.experiment == run.plan.experiment), key=lambda each: each.started_unix_ns
    )
    return (run, *mine)
