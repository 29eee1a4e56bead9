"""The report card of a run: verdict, target, rows, reasons of trust, findings, next steps."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from iocast import archive, text
from iocast.analyse.facts import Facts, facts_of
from iocast.diagnose.detectors import untestable
from iocast.diagnose.limits.by_load import RULE
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination, Finding
from iocast.model.grading import Grades
from iocast.model.measurement import Course
from iocast.model.report import Report, Section
from iocast.model.results.card import BoundRow, ErrorRow, GradeRow, SlowRow
from iocast.model.results.trust import TrustReason
from iocast.model.run import Run
from iocast.model.tree import totals
from iocast.report import layers_section
from iocast.report.card import hosts_section, observed_devices, replay_section, time_section, verification_section
from iocast.report.card.conclusions import conclusions
from iocast.report.card.findings_section import findings_section
from iocast.report.card.headline import badges, figures
from iocast.report.card.results_table import results
from iocast.report.card.row_labels import labels
from iocast.report.card.target_section import blind_section, target_section
from iocast.report.card.verdict import verdict
from iocast.report.charts import chart_sections, charts_at
from iocast.report.charts.subjects import ExaminedRun, GradedRun
from iocast.report.database import database_section
from iocast.report.result_tables import result_table
from iocast.report.subjects import subject
from iocast.report.tested_section import tested_section
from iocast.report.wording import section
from iocast.report.wording import words as words_of
from iocast.results.card import card_result

LETTERS_NOTE = "A and B: usable. C: indicative only. D and F: do not use. The worst reason decides."
BOUNDS_NOTE = (
    f"Device-bound: a doubling of the load gains less than {RULE} IOPS, and I/Os do not pass as evenly as behind a cap"
    " (a lock that lets one pass at a time may look the same)."
    " Queue-bound: it gains more."
)
LADDERS = ("device", "device_or_limit", "queue", "not_shown")


def card(
    run: Run | Facts,
    examination: Examination,
    folder: str = "",
    courses: dict[int, Course] | None = None,
    diagnosis: Diagnosis | None = None,
    grades: Grades | None = None,
) -> Report:
    """The report card. `folder` is where the run was saved ("" when it was not).

    With `courses`, the course of each phase over time by its number ({} when none was kept), it has charts too.
    """
    facts = facts_of(run)
    run = facts.run
    guesses, unplanned = untestable(run, examination.findings)
    failed = (*examination.failed, *unplanned)
    void = {name for name, trust in examination.trust.items() if trust.void}
    result = card_result(
        facts,
        examination,
        diagnosis=diagnosis,
        grades=grades,
        failed=failed,
        untestable=guesses,
    )
    sections = (
        target_section(run, result.layers, void),
        replay_section.section(run, result.replays),
        section("results", tables=(results(facts, result.rows),)) if run.measured else None,
        hosts_section.section(run, result.hosts),
        database_section.section(facts, result.database_loads, result.database_commits),
        time_section.section(facts, result.whereabouts),
        layers_section.section(facts, result.row_layers),
        observed_devices.section(run, result.devices),
        graded_section(grades, result.grades),
        why_trusted(run, result.trust),
        findings_section(run, examination, guesses),
        tested_section(result.tested),
        _bounds(run, result.bounds),
        verification_section.section(run),
        _errors(result.errors),
        _slowest(result.slowest),
        blind_section(run, failed),
    )
    report = Report(
        title=" · ".join(filter(None, (run.plan.name, run.plan.target.path))),
        verdict=verdict(facts, examination)
        if run.measured or not result.devices
        else observed_devices.sentence(run, result.devices),
        sections=tuple(each for each in sections if each is not None),
        next_steps=tuple(_next_steps(run, examination, folder)),
        badges=badges(run, examination, grades),
        figures=figures(facts, examination),
        subjects=(subject(run, folder, void=void),),
        findings=examination.findings,
        untestable=guesses,
        conclusions=tuple(conclusions(run, examination, diagnosis, guesses, result.bounds)),
        failed=failed,
        result=result,
    )
    return report if courses is None else with_charts(report, facts, examination, courses, grades)


def with_charts(
    report: Report, facts: Facts, examination: Examination, courses: dict[int, Course], grades: Grades | None = None
) -> Report:
    """A card with its charts: in its own sections, and in sections of their own before the remarks."""
    drawn = {"results": charts_at("glance", ExaminedRun(facts, examination))}
    drawn["replay"] = tuple(chart for each in replay_section.replays(facts.run) for chart in charts_at("replay", each))
    if grades is not None:
        drawn["grade"] = charts_at("grade", GradedRun(facts, grades))
    own = tuple(
        replace(each, charts=drawn[each.code]) if each.code in drawn and (each.tables or each.code != "grade") else each
        for each in report.sections
    )
    at = next((at for at, each in enumerate(own) if each.code == "remarks"), len(own))
    return replace(report, sections=(*own[:at], *chart_sections(facts, examination, courses), *own[at:]))


def why_trusted(run: Run, rows: Sequence[TrustReason]) -> Section | None:
    """Every reason that made a row's letter what it is."""
    if not rows:
        return None
    words: dict[str, Callable[[TrustReason], tuple[str, ...]]] = {"phases": lambda each: labels(run, each.phases)}
    return section("trust", tables=(result_table(TrustReason, rows, key="trust", words=words, notes=(LETTERS_NOTE,)),))


def _errors(rows: Sequence[ErrorRow]) -> Section | None:
    return section("errors", tables=(result_table(ErrorRow, rows, key="errors"),)) if rows else None


def _slowest(rows: Sequence[SlowRow]) -> Section | None:
    """The slowest I/Os, where they stand far outside what their row says."""
    note = "Each took more than ten times the p99 of its row."
    return section("slowest", tables=(result_table(SlowRow, rows, key="slowest", notes=(note,)),)) if rows else None


def _incomplete(run: Run) -> str:
    """What of it is missing: rows, or the ends of some."""
    cut = [each for each in run.measured if each.measurement.stopped != "finished"]
    left = sum(each.role == "measure" for each in run.plan.phases) - len(run.measured)
    if not cut:
        return "the rows above are those that finished"
    if not left and all(each.measurement.stopped == "errors" for each in cut):
        return f"errors cut {text.counted(len(cut), 'row')} short"
    names = ", ".join(each.phase.name for each in cut)
    return f"{names} {'was' if len(cut) == 1 else 'were'} cut short{f', {left} not measured' if left > 0 else ''}"


def _next_steps(run: Run, examination: Examination, folder: str) -> Iterator[str]:
    real = [each for each in examination.findings if each.state != "rejected"]
    yield from _remedies(real)
    if folder and archive.is_dead(run, folder):
        yield "The run is dead: its process no longer exists. The rows above are those that finished."
        yield f"To close it: iocast runs --mend {shlex.quote(folder)}"
    if run.status in ("interrupted", "failed"):
        yield f"The run is incomplete: {_incomplete(run)}."
    elif run.measured and not real and run.plan.target.kind != "sim":
        yield "Run it again at another time of day: one run says nothing about repeatability."
    paths = dict.fromkeys(part.path for part in run.hosts) or {run.plan.target.path: None}
    place = shlex.quote(next(iter(paths))) if len(paths) == 1 else "PATH"
    if run.plan.trees and run.plan.target.kind == "directory":
        last = {tree.name: totals(tree, run.plan.most_users).files for tree in run.plan.trees}
        one = "The tree of {:,} files is kept for the next run. To remove it{}: iocast clean {}"
        several = "The trees of {:,} files are kept for the next run. To remove them{}: iocast clean {}"
        yield (one if len(last) == 1 else several).format(sum(last.values()), _where(run), place)
    elif run.files_whole and run.plan.target.kind in ("directory", "file"):
        kept = "The work files are" if run.plan.files.count > 1 else "The work file is"
        size = text.capacity(sum(run.plan.files.each_bytes))
        them = "them" if run.plan.files.count > 1 else "it"
        yield f"{kept} kept for the next run ({size}). To remove {them}{_where(run)}: iocast clean {place}"


def _where(run: Run) -> str:
    return ", on each host" if run.hosts else ""


def _remedies(findings: Iterable[Finding]) -> Iterator[str]:
    """What to put right first: the remedy of the gravest finding."""
    grave = [finding for finding in findings if finding.severity in ("void", "severe") and finding.remedy]
    if grave:
        yield grave[0].remedy


def _bounds(run: Run, rows: Sequence[BoundRow]) -> Section | None:
    """A line for each answer; None where nothing is known of any row."""
    if not rows:
        return None
    words: dict[str, Callable[[BoundRow], tuple[str, ...]]] = {"phases": lambda each: labels(run, each.phases)}
    notes = (BOUNDS_NOTE,) if any(each.by in LADDERS for each in rows) else ()
    return section("bounds", tables=(result_table(BoundRow, rows, key="bounds", words=words, notes=notes),))


SCALES = {
    "modern": "iocast's absolute scale, the same for all storage: a letter is a factor of two in time or throughput",
    "hailey2012": "the scale of Kyle Hailey's fio_scripts (2012), made for hard disks",
    "slo": "the scale of the workload's service level: measured over allowed",
}


def graded_section(grades: Grades | None, rows: Sequence[GradeRow]) -> Section | None:
    """The overall letter in a sentence, and a row for each aspect where any has one; None for a run without rows."""
    if grades is None:
        return None
    head = grades.says
    if grades.overall:
        trust = f", from rows of trust {grades.trust}" if grades.trust else ""
        head = f"Overall {grades.overall}{trust}. {grades.says}"
    if not any(part.letter for part in grades.parts):
        return section("grade", (head,))  # a list of what is missing says no more
    words: dict[str, Callable[[GradeRow], str]] = {
        "code": lambda each: " ".join(filter(None, (words_of(each.code), each.statistic))),
        "best": lambda each: f"{each.best} to {each.worst}" if each.best != each.worst else "",
    }
    leave = () if any(map(words["best"], rows)) else ("best",)
    notes = (f"Graded on {SCALES[grades.scale]}.",)
    table = result_table(GradeRow, rows, key="grades", words=words, leave=leave, notes=notes)
    return section("grade", (head,), tables=(table,))
