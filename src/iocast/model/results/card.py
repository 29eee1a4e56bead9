"""The result of a card: what each row measured, how far it can be believed, what was found, and how good it is."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from iocast.model.codes import (
    AspectCode,
    BoundCode,
    FindingCode,
    SeverityCode,
    StateCode,
    StatisticCode,
    VerdictCode,
)
from iocast.model.finding import Grade
from iocast.model.grading import Letter
from iocast.model.results.calibration import CalibrationResult
from iocast.model.results.database import (
    CommitsBesideRow,
    DatabaseCommitRow,
    DatabaseLoadRow,
    ReadsBesideRow,
)
from iocast.model.results.experiments import ExperimentRow
from iocast.model.results.layers import DeviceRow, LayerRow, RowLayersRow, TimeRow
from iocast.model.results.replay import Replayed
from iocast.model.results.shown import Duration, Number, shown, shown_below
from iocast.model.results.trust import TrustReason
from iocast.model.workload import Op


class MeasuredRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of results. A part row says more of the row above it: one operation of a mix, the service times, the
    commits, or all that ran at the same time; its trust is that of the row above.
    """

    phase: str
    op: Op | None = None
    test: Annotated[str, shown("row")]
    users: Annotated[int | None, shown("load", "load", pair="depth", explain="users x queue depth")] = None
    depth: int | None = None
    size_bytes: Annotated[Number | None, shown("size", "bytes", explain="size of one I/O")] = None
    throughput_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s", explain="decimal megabytes")] = None
    response_mean_ns: Annotated[Number | None, shown("mean", "duration", explain="mean response time", spare=5)] = None
    response_p50_ns: Annotated[Duration, shown("p50", "duration", explain="median response time", spare=1)] = None
    response_p95_ns: Annotated[
        Duration, shown("p95", "duration", explain="95% of the I/Os took no longer", spare=6)
    ] = None
    response_p99_ns: Annotated[Duration, shown("p99", "duration", explain="1% of the I/Os took longer")] = None
    response_p99_9_ns: Annotated[
        Duration, shown("p99.9", "duration", explain="0.1% of the I/Os took longer", spare=7)
    ] = None
    response_max_ns: Annotated[Number | None, shown("max", "duration", explain="the slowest I/O", spare=4)] = None
    rate_per_s: Annotated[Number | None, shown("IOPS", "rate")] = None
    latency_shares: Annotated[tuple[Number, ...] | None, shown("histogram", "strip", spare=3)] = None
    device_rate_per_s: Annotated[
        Number | None, shown("dev.\nIOPS", "rate", explain="requests with data at the device", spare=10)
    ] = None
    device_size_bytes: Annotated[
        Number | None, shown("dev.\nsize", "bytes", explain="average request at the device", spare=9)
    ] = None
    device_queue: Annotated[
        Number | None, shown("dev.\nqueue", "decimal", explain="average requests at the device", spare=8)
    ] = None
    trust: Annotated[Grade | None, shown("trust", "grade", once=True)] = None
    device_rate_ratio: Number | None = None  # over the I/Os of the row that move data
    # The 95% intervals of response times; null where a bound is unknown: too few I/Os, or too few independent ones.
    response_mean_low_ns: Number | None = None
    response_mean_high_ns: Number | None = None
    response_p50_low_ns: Number | None = None
    response_p50_high_ns: Number | None = None
    response_p95_low_ns: Number | None = None
    response_p95_high_ns: Number | None = None
    response_p99_low_ns: Number | None = None
    response_p99_high_ns: Number | None = None
    response_p99_9_low_ns: Number | None = None
    response_p99_9_high_ns: Number | None = None
    asked_rate_per_s: Number | None = None  # of an open loop
    clock: Literal["service"] | None = None  # null: response, from when an I/O was due
    together: tuple[str, ...] | None = None  # the phases that a row of all of them adds up
    part: bool = False
    void: str | None = None  # why it is no measurement


class DataPointRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A data point of `iocast matrix`; null of a size that had nothing outstanding."""

    small_outstanding: Annotated[int, shown("small\noutstanding", "count")]
    large_outstanding: Annotated[int, shown("large\noutstanding", "count", explain="sequential: streams")]
    small_rate_per_s: Annotated[Number | None, shown("small\nIOPS", "rate")] = None
    small_mean_ns: Annotated[Number | None, shown("small\nmean", "duration", explain="from submission")] = None
    small_in_flight: Annotated[
        Number | None,
        shown("IOPS x\nmean", "decimal", explain="Little's law: the small I/Os outstanding", spare=2),
    ] = None
    large_throughput_bytes_per_s: Annotated[Number | None, shown("large\nMB/s", "bytes_per_s")] = None
    large_mean_ns: Annotated[Number | None, shown("large\nmean", "duration", spare=1)] = None


class SpanDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stretch of a phase, counted from its start."""

    start_ns: int
    end_ns: int


class FindingDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A finding. No phases: it is about the whole run. `state`: "suggested" is only suspected, "counted" leaves nothing
    to be tested, the others were decided by an experiment; a rejected one is not true.
    """

    severity: Annotated[SeverityCode, shown("severity", "code", spare=1)]
    code: Annotated[FindingCode, shown("finding", "code")]
    state: Annotated[StateCode, shown("state", spare=2, explain="what decided it, and how likely it is")]
    confidence: Number
    testable: bool  # only suspected, and an experiment on this machine can decide it
    phases: Annotated[tuple[str, ...], shown("rows", "names")]
    says: Annotated[str, shown("evidence")]
    evidence: dict[str, Number | None]
    remedy: str | None = None
    hypothesis: str | None = None
    confirm: str | None = None
    learned: str | None = None
    rivals: tuple[FindingCode, ...] = ()
    spans: tuple[SpanDocument, ...] = ()
    detector: str | None = None


class FailedDetectorDocument(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A detector that ended with an error: whether its findings are true of the run is unknown; with the step
    "confirm", how to test one is.
    """

    detector: str
    codes: tuple[FindingCode, ...]
    why: str
    where: str
    step: Literal["detect", "confirm"]


class HostShareRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one of many hosts did in a row of their sum."""

    phase: Annotated[str, shown("row", once=True)]
    host: Annotated[str, shown("host")]
    share: Annotated[Number | None, shown("share", "share", explain="of the I/Os of all hosts")] = None
    throughput_bytes_per_s: Annotated[Number | None, shown("MB/s", "bytes_per_s", explain="decimal megabytes")] = None
    response_mean_ns: Annotated[Number | None, shown("mean", "duration", explain="mean response time", spare=3)] = None
    response_p50_ns: Annotated[Number | None, shown("p50", "duration", explain="median response time", spare=2)] = None
    response_p99_ns: Annotated[Number | None, shown("p99", "duration", explain="1% of the I/Os took longer")] = None
    rate_per_s: Annotated[Number | None, shown("IOPS", "rate")] = None
    began_ns: Annotated[Number | None, shown("began", "duration", explain="after the first host", spare=1)] = None
    outside_ios: Annotated[
        int | None, shown("outside", "count", explain="I/Os outside the time in which all hosts ran", spare=4)
    ] = None
    trust: Annotated[Grade | None, shown("trust", "grade", explain="of the host alone")] = None


class GradeRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A letter, or why there is none."""

    code: Annotated[AspectCode, shown("aspect")]
    statistic: StatisticCode | None = None
    letter: Annotated[Letter | None, shown("grade", "grade")] = None
    best: Annotated[Letter | None, shown("range", spare=1)] = None
    worst: Letter | None = None
    says: Annotated[str, shown("reason")]
    phases: tuple[str, ...] = ()
    source: str | None = None


class BoundRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What set the pace of rows."""

    by: Annotated[BoundCode, shown("limit", "code")]
    phases: Annotated[tuple[str, ...], shown("rows", "names")]
    says: Annotated[str, shown("evidence")]


class ErrorRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """I/Os of a row that failed in one way, and where the first of them was."""

    phase: Annotated[str, shown("row")]
    op: Annotated[Op, shown("op")]
    error: Annotated[str, shown("error")]
    count: Annotated[int, shown("count", "count")]
    first_at_ns: Annotated[Number | None, shown("first seen", "duration", explain="since the start of the phase")] = (
        None
    )
    first_offset_bytes: Annotated[int | None, shown("offset", "count", spare=1)] = None
    file: Annotated[str | None, shown("file", spare=2)] = None


class SlowRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One I/O far slower than its row."""

    phase: Annotated[str, shown("row")]
    op: Annotated[Op, shown("op")]
    response_ns: Annotated[Number, shown("response\ntime", "duration")]
    at_ns: Annotated[Number, shown("elapsed", "duration", explain="from the start of the phase to the I/O")]
    size_bytes: Annotated[Number | None, shown("size", "bytes", spare=3)] = None
    # None of what goes to a name
    offset_bytes: Annotated[int | None, shown("offset", "count", spare=1)] = None
    file: Annotated[str | None, shown("file", spare=2)] = None


class TestedRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A suspicion and what its experiment found. `run` is a folder below the run's own `experiments`."""

    finding: Annotated[FindingCode, shown("suspicion", "code")]
    verdict: Annotated[VerdictCode | Literal["not_tested"], shown("verdict", "code")]
    says: Annotated[str, shown("evidence")]
    phase: str | None = None
    question: Annotated[str | None, shown_below()] = None
    ratio: Number | None = None
    low: Number | None = None
    high: Number | None = None
    run: str | None = None


class BlockRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many blocks that were read back are of a kind."""

    kind: Annotated[str, shown("state")]
    count: Annotated[int, shown("count", "count")]
    says: Annotated[str, shown("meaning")]


class PlaceRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A block that is not as it must be."""

    kind: Annotated[str, shown("state")]
    file: Annotated[str, shown("file", spare=1)]
    offset_bytes: Annotated[int, shown("offset", "count")]
    expected: Annotated[str, shown("expected write")]
    content: Annotated[str, shown("found")]


class Verified(Struct, frozen=True, kw_only=True):
    """What was read back."""

    blocks: tuple[BlockRow, ...] = ()
    places: tuple[PlaceRow, ...] = ()


class Card(Verified, frozen=True, kw_only=True):
    """A card, of a run of iocast or of an imported one, with what was diagnosed."""

    calibration: CalibrationResult | None = None  # of a run that is one
    rows: tuple[MeasuredRow, ...] = ()
    hosts: tuple[HostShareRow, ...] = ()  # of a run of many hosts, whose sum `rows` are
    data_points: tuple[DataPointRow, ...] = ()
    trust: tuple[TrustReason, ...] = ()
    findings: tuple[FindingDocument, ...] = ()
    failed_detectors: tuple[FailedDetectorDocument, ...] = ()
    grades: tuple[GradeRow, ...] = ()
    bounds: tuple[BoundRow, ...] = ()
    layers: tuple[LayerRow, ...] = ()
    row_layers: tuple[RowLayersRow, ...] = ()
    database_loads: tuple[DatabaseLoadRow, ...] = ()
    database_commits: tuple[DatabaseCommitRow, ...] = ()
    reads_beside: tuple[ReadsBesideRow, ...] = ()
    commits_beside: tuple[CommitsBesideRow, ...] = ()
    whereabouts: tuple[TimeRow, ...] = ()
    devices: tuple[DeviceRow, ...] = ()
    replays: tuple[Replayed, ...] = ()
    tested: tuple[TestedRow, ...] = ()
    errors: tuple[ErrorRow, ...] = ()
    slowest: tuple[SlowRow, ...] = ()
    # Of a run that a named experiment made:
    answer: VerdictCode | None = None
    experiment: tuple[ExperimentRow, ...] = ()
