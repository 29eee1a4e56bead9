"""The report card of a run: verdict, target, rows, reasons of trust, findings, next steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from iocast import archive, text
from iocast.analyse.facts import Facts, RowFacts, facts_of
from iocast.analyse.statistics import published
from iocast.diagnose.detectors import untestable
from iocast.model.codes import TrustCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import GRADES, Examination, Finding, Grade
from iocast.model.grading import Grades
from iocast.model.measurement import Course, SlowIo
from iocast.model.report import Column, Report, Row, Section, Table
from iocast.model.run import PhaseRecord, Run
from iocast.model.tree import totals
from iocast.model.tree.tree_places import tree_place
from iocast.model.workload import DIRECTORY_OPS, Op
from iocast.report.card import observed_devices, replay_section, time_section, verification_section
from iocast.report.card.bottleneck_section import bottleneck_section
from iocast.report.card.conclusions import conclusions
from iocast.report.card.findings_section import findings_section
from iocast.report.card.grade_section import graded_section
from iocast.report.card.headline import badges, figures
from iocast.report.card.results_table import results
from iocast.report.card.row_labels import labels
from iocast.report.card.target_section import blind_section, target_section
from iocast.report.card.verdict import verdict
from iocast.report.charts import chart_sections, charts_at
from iocast.report.charts.subjects.examined_run import ExaminedRun
from iocast.report.charts.subjects.graded_run import GradedRun
from iocast.report.database import database_section
from iocast.report.diagnosis.tested_section import tested_section
from iocast.report.layers import layers_section
from iocast.report.subjects import subject
from iocast.report.wording import section

SLOW_FACTOR = 10.0  # an I/O this many times slower than p99 is worth naming [J]
SLOW_SHOWN = 5
LETTERS_NOTE = "A and B: usable. C: indicative only. D and F: do not use. The worst reason decides."


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
    glance = charts_at("glance", ExaminedRun(facts, examination)) if courses is not None else ()
    sections = (
        target_section(run, void),
        replay_section.section(run, charts=courses is not None),
        section("results", tables=(results(facts, examination),), charts=glance) if run.measured else None,
        database_section.section(facts),
        time_section.section(facts),
        layers_section.section(facts),
        observed_devices.section(run),
        graded_section(
            grades, charts_at("grade", GradedRun(facts, grades)) if grades is not None and courses is not None else ()
        ),
        _why(run, examination),
        findings_section(run, examination, guesses),
        tested_section(diagnosis),
        bottleneck_section(run, examination),
        verification_section.section(run),
        _errors(run),
        _slowest(facts),
        *(chart_sections(facts, examination, courses) if courses is not None else ()),
        blind_section(run, failed),
    )
    return Report(
        title=" · ".join(filter(None, (run.plan.name, run.plan.target.path))),
        verdict=verdict(facts, examination)
        if run.measured or not observed_devices.seen(run)
        else observed_devices.sentence(run),
        sections=tuple(each for each in sections if each is not None),
        next_steps=tuple(_next_steps(run, examination, folder)),
        badges=badges(run, examination, grades),
        figures=figures(facts, examination),
        subjects=(subject(run, folder, void=void),),
        findings=examination.findings,
        untestable=guesses,
        conclusions=tuple(conclusions(run, examination, diagnosis, guesses)),
        failed=failed,
    )


def _why(run: Run, examination: Examination) -> Section | None:
    """Every reason that made a row's letter what it is, rows with the same reason together; of a row that went on until
    it was steady what was held against each other, whatever its letter."""
    groups: dict[tuple[Grade, TrustCode, str], list[PhaseRecord]] = {}
    for record in run.measured:
        trust = examination.trust[record.phase.name]
        told = set()  # an anomaly may be what a question before it has said already
        for part in trust.components:
            told_anyhow = part.code == "steady" and record.steady is not None
            if (part.grade == trust.grade != "A" or told_anyhow) and part.reason not in told:
                told.add(part.reason)
                groups.setdefault((part.grade, part.code, part.reason), []).append(record)
    if not groups:
        return None
    ordered = sorted(groups.items(), key=lambda item: -GRADES.index(item[0][0]))
    rows = tuple(
        Row(
            {
                "trust": grade,
                "component": code,
                "tests": labels(run, [record.phase.name for record in records]),
                "phases": tuple(record.phase.name for record in records),
                "reason": reason,
            }
        )
        for (grade, code, reason), records in ordered
    )
    columns = (
        Column("trust", "trust", "grade"),
        Column("component", "aspect", "code"),
        Column("tests", "rows", "names"),
        Column("reason", "reason"),
    )
    return section("trust", tables=(Table("", columns, rows, key="trust", notes=(LETTERS_NOTE,)),))


def _errors(run: Run) -> Section | None:
    rows = tuple(
        Row(
            {
                "test": record.phase.name,
                "phase": record.phase.name,
                "op": error.op,
                "error": error.name,
                "count": error.count,
                "first_at": error.first[0].time_ns if error.first else None,
                "first_offset_bytes": _offset(record, error.first[0].offset_bytes) if error.first else None,
                "file": _path(record, error.op, error.first[0].file, error.first[0].offset_bytes)
                if error.first
                else None,
            }
        )
        for record in run.measured
        for error in record.measurement.errors
    )
    if not rows:
        return None
    columns = (
        Column("test", "row"),
        Column("op", "op"),
        Column("error", "error"),
        Column("count", "count", "count"),
        Column("first_at", "first seen", "duration", "since the start of the phase"),
        Column("first_offset_bytes", "offset", "count", spare=1),
        Column("file", "file", spare=2),
    )
    return section("errors", tables=(Table("", columns, rows, key="errors"),))


def _slowest(facts: Facts) -> Section | None:
    """The slowest I/Os, where they stand far outside what their row says."""
    outside = [
        (slow.response_ns, record, slow) for record in facts.run.measured for slow in _far_outside(facts.row(record))
    ]
    if not outside:
        return None
    outside.sort(key=lambda item: -item[0])
    rows = tuple(
        Row(
            {
                "test": record.phase.name,
                "phase": record.phase.name,
                "op": slow.op,
                "response": slow.response_ns,
                "at": slow.time_ns,
                "size": slow.size_bytes or None,
                "offset_bytes": _offset(record, slow.offset_bytes),
                "file": _path(record, slow.op, slow.file, slow.offset_bytes),
            }
        )
        for _, record, slow in outside[:SLOW_SHOWN]
    )
    columns = (
        Column("test", "row"),
        Column("op", "op"),
        Column("response", "response\ntime", "duration"),
        Column("at", "elapsed", "duration", "from the start of the phase to the I/O"),
        Column("size", "size", "bytes", spare=3),
        Column("offset_bytes", "offset", "count", spare=1),
        Column("file", "file", spare=2),
    )
    note = "Each took more than ten times the p99 of its row."
    return section("slowest", tables=(Table("", columns, rows, key="slowest", notes=(note,)),))


def _far_outside(row: RowFacts) -> Iterator[SlowIo]:
    did = row.measurement
    p99_ns = {op: published(row.response(op), 0.99) for op in {slow.op for slow in did.slow}}
    for slow in did.slow:
        known_ns = p99_ns[slow.op]
        if known_ns is not None and slow.response_ns > SLOW_FACTOR * known_ns:
            yield slow


def _path(record: PhaseRecord, op: Op, file: int, offset_bytes: int) -> str | None:
    """The file; in a tree its name from the top on."""
    if record.plan.tree is not None and record.plan.files:
        name, _ = tree_place(record.plan.tree, offset_bytes, of_directory=op in DIRECTORY_OPS)
        return f"{record.plan.files[0].path}/{name}"
    return record.plan.files[file].path if 0 <= file < len(record.plan.files) else None


def _offset(record: PhaseRecord, offset_bytes: int) -> int | None:
    """The byte in its file; None for what goes to a name."""
    if record.plan.tree is None:
        return offset_bytes
    moves = any(item.size_bytes for item in record.plan.mix)
    return tree_place(record.plan.tree, offset_bytes)[1] if moves else None


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
    if run.plan.trees and run.plan.target.kind == "directory":
        last = {tree.name: totals(tree, run.plan.most_users).files for tree in run.plan.trees}
        place, files = shlex.quote(run.plan.target.path), sum(last.values())
        one = "The tree of {} files is kept for the next run. To remove it: iocast clean {}"
        several = "The trees of {} files are kept for the next run. To remove them: iocast clean {}"
        yield (one if len(last) == 1 else several).format(f"{files:,}", place)
    elif run.files_whole and run.plan.target.kind in ("directory", "file"):
        kept = "The work files are" if run.plan.files.count > 1 else "The work file is"
        size = text.capacity(run.plan.files.count * run.plan.files.size_bytes)
        them = "them" if run.plan.files.count > 1 else "it"
        place = shlex.quote(run.plan.target.path)
        yield f"{kept} kept for the next run ({size}). To remove {them}: iocast clean {place}"


def _remedies(findings: Iterable[Finding]) -> Iterator[str]:
    """What to put right first: the remedy of the gravest finding."""
    grave = [found for found in findings if found.severity in ("void", "severe") and found.remedy]
    if grave:
        yield grave[0].remedy
