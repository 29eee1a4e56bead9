"""What was examined of a run becomes the result of its card."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import asdict, replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import published
from iocast.model.codes import BoundCode, FindingCode, TrustCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import GRADES, Examination, FailedDetector, Finding, Grade
from iocast.model.grading import Grades
from iocast.model.measurement import SlowIo
from iocast.model.results.card import (
    BoundRow,
    Card,
    ErrorRow,
    FailedDetectorDocument,
    FindingDocument,
    GradeRow,
    SlowRow,
    SpanDocument,
    TestedRow,
)
from iocast.model.results.layers import LayerRow
from iocast.model.results.trust import TrustReason
from iocast.model.run import PhaseRecord, Run
from iocast.model.tree.tree_places import tree_place
from iocast.model.workload import DIRECTORY_OPS, Op
from iocast.results.database_rows import database_commits, database_loads
from iocast.results.host_shares import host_shares
from iocast.results.measured_rows import measured_rows
from iocast.results.observed_devices import observed_devices
from iocast.results.replayed import replays
from iocast.results.row_layers import row_layers
from iocast.results.verified import verified
from iocast.results.whereabouts import whereabouts
from iocast.text import sentence

SLOW_FACTOR = 10.0  # an I/O this many times slower than p99 is worth naming [J]
SLOW_SHOWN = 5


def card_result(
    facts: Facts,
    examination: Examination,
    *,
    diagnosis: Diagnosis | None = None,
    grades: Grades | None = None,
    failed: Sequence[FailedDetector] = (),
    untestable: frozenset[FindingCode] = frozenset(),
) -> Card:
    """All of it. `failed`: detectors and plans of experiments that did; `untestable`: what no experiment decides."""
    run = facts.run
    read_back = verified(run.verifications[-1]) if run.verifications else None
    return Card(
        rows=measured_rows(facts, examination) if run.measured else (),
        hosts=host_shares(run),
        trust=tuple(trust_reasons(run, examination)),
        findings=tuple(_findings(examination.findings, untestable)),
        failed_detectors=tuple(FailedDetectorDocument(**asdict(each)) for each in failed),
        grades=tuple(_grades(grades)) if grades else (),
        bounds=tuple(_bounds(run, examination)),
        layers=device_stack(run) if run.source is None else (),
        row_layers=row_layers(facts),
        database_loads=database_loads(facts),
        database_commits=database_commits(facts),
        whereabouts=whereabouts(facts),
        devices=observed_devices(run),
        replays=tuple(replays(run)),
        tested=tuple(_tested(diagnosis)) if diagnosis else (),
        blocks=read_back.blocks if read_back else (),
        places=read_back.places if read_back else (),
        errors=tuple(_errors(run)),
        slowest=tuple(_slowest(facts)),
    )


def trust_reasons(run: Run, examination: Examination) -> Iterator[TrustReason]:
    """Every reason that made a row's letter what it is, rows with the same reason together; of a row that went on until
    it was steady what was held against each other, whatever its letter. The worst letters first."""
    groups: dict[tuple[Grade, TrustCode, str], list[str]] = {}
    for record in run.measured:
        trust = examination.trust[record.phase.name]
        codes = set()  # an anomaly may be what a question before it has said already
        for part in trust.components:
            told_anyhow = part.code == "steady" and record.steady is not None
            if (part.grade == trust.grade != "A" or told_anyhow) and part.reason not in codes:
                codes.add(part.reason)
                groups.setdefault((part.grade, part.code, part.reason), []).append(record.phase.name)
    for (grade, code, reason), phases in sorted(groups.items(), key=lambda item: -GRADES.index(item[0][0])):
        yield TrustReason(trust=grade, component=code, phases=tuple(phases), reason=reason)


def _findings(findings: Sequence[Finding], untestable: frozenset[FindingCode]) -> Iterator[FindingDocument]:
    """Each finding once, with all the phases in which it is the same to the figure."""
    groups: list[tuple[Finding, list[str]]] = []
    for each in findings:
        alike = replace(each, phase="")
        phases = next((phases for shared, phases in groups if shared == alike), None)
        if phases is None:
            groups.append((alike, phases := []))
        phases += [each.phase] if each.phase else []
    for shared, phases in groups:
        yield found_document(shared, tuple(phases), untestable)


def found_document(finding: Finding, phases: tuple[str, ...], untestable: frozenset[FindingCode]) -> FindingDocument:
    """A finding as programs are told it."""
    return FindingDocument(
        severity=finding.severity,
        code=finding.code,
        state=finding.state,
        confidence=finding.confidence,
        testable=finding.state == "suggested" and finding.code not in untestable,
        phases=phases,
        says=finding.says,
        evidence={name: value if math.isfinite(value) else None for name, value in finding.evidence.items()},
        remedy=finding.remedy or None,
        hypothesis=finding.hypothesis or None,
        confirm=finding.confirm or None,
        learned=finding.learned or None,
        rivals=finding.rivals,
        spans=tuple(SpanDocument(start_ns=span.start_ns, end_ns=span.end_ns) for span in finding.spans),
        detector=finding.detector or None,
    )


def _grades(grades: Grades) -> Iterator[GradeRow]:
    for part in grades.parts:
        yield GradeRow(
            code=part.code,
            statistic=part.statistic,
            letter=part.letter,
            best=part.best,
            worst=part.worst,
            says=part.says,
            phases=part.phases,
            source=part.source or None,
        )


def _bounds(run: Run, examination: Examination) -> Iterator[BoundRow]:
    """What limited the rows that are a measurement, as far as that is known; those of one answer together."""
    groups: dict[tuple[BoundCode, str], list[str]] = {}
    for record in run.measured:
        name = record.phase.name
        bound = examination.bounds.get(name)
        if bound is not None and bound.by != "unknown" and not examination.trust[name].void:
            groups.setdefault((bound.by, bound.says), []).append(name)
    for (by, says), phases in groups.items():
        yield BoundRow(by=by, phases=tuple(phases), says=says)


def _tested(diagnosis: Diagnosis) -> Iterator[TestedRow]:
    for step in diagnosis.steps:
        yield TestedRow(
            finding=step.finding,
            phase=step.phase or None,
            verdict=step.outcome.verdict,
            says=step.outcome.says,
            ratio=step.outcome.ratio,
            low=step.outcome.low,
            high=step.outcome.high,
            run=step.run or None,
            question=step.question or None,
        )
    for code, why in diagnosis.untested.items():
        yield TestedRow(finding=code, verdict="not_tested", says=sentence(why))


def _errors(run: Run) -> Iterator[ErrorRow]:
    for record in run.measured:
        for error in record.measurement.errors:
            first = error.first[0] if error.first else None
            yield ErrorRow(
                phase=record.phase.name,
                op=error.op,
                error=error.name,
                count=error.count,
                first_at_ns=first.time_ns if first else None,
                first_offset_bytes=_offset(record, first.offset_bytes) if first else None,
                file=_path(record, error.op, first.file, first.offset_bytes) if first else None,
            )


def _slowest(facts: Facts) -> Iterator[SlowRow]:
    """The slowest I/Os, where they stand far outside what their row says."""
    outside = [(record, slow) for record in facts.run.measured for slow in _far_outside(facts.row(record))]
    outside.sort(key=lambda item: -item[1].response_ns)
    for record, slow in outside[:SLOW_SHOWN]:
        yield SlowRow(
            phase=record.phase.name,
            op=slow.op,
            response_ns=slow.response_ns,
            at_ns=slow.time_ns,
            size_bytes=slow.size_bytes or None,
            offset_bytes=_offset(record, slow.offset_bytes),
            file=_path(record, slow.op, slow.file, slow.offset_bytes),
        )


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


def device_stack(run: Run) -> tuple[LayerRow, ...]:
    """Each layer once, with how many layers stand above it."""
    layers = run.plan.target.layers
    level = {layer.name: 0 for layer in layers}
    for layer in layers:
        for name in layer.lower:
            if name in level:
                level[name] = max(level[name], level[layer.name] + 1)
    return tuple(
        LayerRow(
            layer=layer.name,
            level=level[layer.name],
            lower=layer.lower,
            kind=layer.kind,
            size_bytes=layer.size_bytes,
            scheduler=layer.scheduler or None,
            write_cache=layer.write_cache or None,
            spins=layer.rotational,
            queue_depth=layer.queue_depth,
            max_io_bytes=layer.max_io_bytes,
            link=layer.link or None,
            model=layer.model or None,
        )
        for layer in layers
    )
