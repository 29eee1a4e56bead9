"""The JSON documents of reports, field by field: one kind of document for each kind of report, each with its tables.

Every key is a field's name or a code, and has its unit at its end; numbers are numbers, and null is unknown, or not
of this row. docs/reference/report.schema.json is made from here. A field may be added within a version; one that
goes, or changes its meaning, makes a new version.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from iocast.model.codes import (
    AspectCode,
    BadgeCode,
    BoundCode,
    FindingCode,
    SectionCode,
    SeverityCode,
    StateCode,
    StatisticCode,
    TrustCode,
    VerdictCode,
)
from iocast.model.finding import Grade
from iocast.model.grading import Letter
from iocast.model.results import calibration as of_calibration
from iocast.model.results import forecast as of_forecast
from iocast.model.results import profiles as of_profile
from iocast.model.results import tapes as of_tape
from iocast.model.results.comparison import ComparedPair, Relative, Repeats
from iocast.model.results.copies import CopiedWay, CopyRemark
from iocast.model.results.listing import ListedRun
from iocast.model.results.shown import Number
from iocast.model.results.size import Loaded, Needed, Provisioned, SizedModel, Year
from iocast.model.results.studies import MeasuredCell, StudyProgress, StudyView
from iocast.model.results.trend import TrendChange, TrendRow
from iocast.model.workload import Op
from iocast.report.database.database_documents import DatabaseCommitRow, DatabaseLoadRow
from iocast.report.layers.layer_documents import RowLayersRow
from iocast.report.renderers.document_values import Duration, Value
from iocast.report.renderers.forecast_documents import ModelTable

VERSION = 1


class MeasuredRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A row of results. A part row says more of the row above it: one operation of a mix, the service times, the
    commits, or all that ran at the same time.
    """

    phase: str
    test: str
    part: bool
    op: Op | None = None
    clock: Literal["service"] | None = None  # null: response, from when an I/O was due
    together: list[str] | None = None  # the phases that a row of all of them adds up
    users: int | None = None
    depth: int | None = None
    size_bytes: Number | None = None
    throughput_bytes_per_s: Number | None = None
    rate_per_s: Number | None = None
    response_mean_ns: Number | None = None
    response_p50_ns: Duration = None
    response_p95_ns: Duration = None
    response_p99_ns: Duration = None
    response_p99_9_ns: Duration = None
    response_max_ns: Number | None = None
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
    latency_shares: list[Number] | None = None
    device_rate_per_s: Number | None = None  # requests with data at the device
    device_rate_ratio: Number | None = None  # over the I/Os of the row that move data
    device_size_bytes: Number | None = None
    device_queue: Number | None = None
    trust: Grade | None = None
    void: str | None = None  # why it is no measurement


class DataPointRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A data point of `iocast matrix`; null of a size that had nothing outstanding."""

    small_outstanding: int
    large_outstanding: int  # sequential: streams
    small_rate_per_s: Number | None = None
    small_mean_ns: Number | None = None
    small_in_flight: Number | None = None  # rate x mean
    large_throughput_bytes_per_s: Number | None = None
    large_mean_ns: Number | None = None


class TrustReason(Struct, kw_only=True, forbid_unknown_fields=True):
    """Why rows have the letter of trust that they have."""

    trust: Grade
    component: TrustCode
    phases: list[str]
    reason: str


class FoundDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """A finding. No phases: it is about the whole run. `state`: "suggested" is only suspected, "counted" leaves nothing
    to be tested, the others were decided by an experiment; a rejected one is not true.
    """

    code: FindingCode
    severity: SeverityCode
    state: StateCode
    confidence: Number
    testable: bool  # only suspected, and an experiment on this machine can decide it
    phases: list[str]
    says: str
    evidence: dict[str, Number | None]
    remedy: str | None = None
    hypothesis: str | None = None
    confirm: str | None = None
    learned: str | None = None
    rivals: list[FindingCode] = []
    spans: list[SpanDocument] = []
    detector: str | None = None


class FailedDetectorDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """A detector that ended with an error: whether its findings are true of the run is unknown; with the step
    "confirm", how to test one is.
    """

    detector: str
    codes: list[FindingCode]
    why: str
    where: str
    step: Literal["detect", "confirm"]


class SpanDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """A stretch of a phase, counted from its start."""

    start_ns: int
    end_ns: int


class GradeRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A letter, or why there is none."""

    code: AspectCode
    statistic: StatisticCode | None = None
    letter: Letter | None = None
    best: Letter | None = None
    worst: Letter | None = None
    says: str
    phases: list[str] = []
    source: str | None = None


class BoundRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What set the pace of rows."""

    by: BoundCode
    phases: list[str]
    says: str


class LayerRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A layer of the device stack."""

    layer: str
    lower: list[str]
    kind: str
    size_bytes: Number | None = None
    scheduler: str | None = None
    write_cache: str | None = None
    spins: bool | None = None
    queue_depth: int | None = None
    max_io_bytes: Number | None = None
    link: str | None = None
    model: str | None = None


class TimeRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """Where the time of a row went; means, but where a percentile is named."""

    phase: str
    op: Op
    response_ns: Number | None = None
    unsent_ns: Number | None = None
    system_ns: Number | None = None
    queue_ns: Number | None = None
    device_ns: Number | None = None
    queue_p99_ns: Number | None = None
    device_p99_ns: Number | None = None
    generator_share: Number | None = None
    cpu_per_io_ns: Number | None = None
    requests: int | None = None
    watched_share: Number | None = None
    size_ratio: Number | None = None
    lost_events: int | None = None
    inexact: list[str] = []
    devices: list[str] = []


class DeviceRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """What iostat, sar, dstat or collectl saw of a device: means over the intervals of an imported run."""

    device: str
    intervals: int
    ios_per_s: Number | None = None
    reads_per_s: Number | None = None
    writes_per_s: Number | None = None
    flushes_per_s: Number | None = None
    read_bytes_per_s: Number | None = None
    write_bytes_per_s: Number | None = None
    size_bytes: Number | None = None
    read_size_bytes: Number | None = None
    write_size_bytes: Number | None = None
    await_ns: Number | None = None
    read_await_ns: Number | None = None
    write_await_ns: Number | None = None
    flush_await_ns: Number | None = None
    queue_mean: Number | None = None
    queue_most: Number | None = None
    util_percent: Number | None = None


class ErrorRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """I/Os of a row that failed in one way, and where the first of them was."""

    phase: str
    op: Op
    error: str
    count: int
    first_at_ns: Number | None = None
    first_offset_bytes: int | None = None
    file: str | None = None


class SlowRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """One I/O far slower than its row."""

    phase: str
    op: Op
    response_ns: Number
    at_ns: Number
    size_bytes: Number | None = None
    offset_bytes: int | None = None  # None of what goes to a name
    file: str | None = None


class TestedRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A suspicion and what its experiment found. `run` is a folder below the run's own `experiments`."""

    finding: FindingCode
    verdict: VerdictCode | Literal["not_tested"]
    says: str
    phase: str | None = None
    question: str | None = None
    ratio: Number | None = None
    low: Number | None = None
    high: Number | None = None
    run: str | None = None


class BlockRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """How many blocks that were read back are of a kind."""

    kind: str
    count: int
    says: str


class PlaceRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A block that is not as it must be."""

    kind: str
    file: str
    offset_bytes: int
    expected: str
    found: str


class ChartDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a chart tells, for those who draw it themselves. The columns of its tables are those of the chart's kind."""

    kind: str  # the name of the chart's file
    title: str
    summary: str
    tables: dict[str, list[dict[str, Value]]]


class SubjectDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """A run that a report speaks of."""

    job: str
    target: str
    host: str | None = None
    started: str | None = None  # ISO 8601, in UTC
    started_unix_ns: int | None = None
    seed: int | None = None
    iocast_version: str | None = None
    run_id: str | None = None
    folder: str | None = None
    side: str | None = None
    price: Number | None = None  # of the target, as it was given; null: not given
    price_per_gb: Number | None = None
    price_per_iops: Number | None = None  # of its fastest row of random direct I/O


class _Document(Struct, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What all documents have. `text` is what sections say in prose, by their codes."""

    schema_version: Literal[1]
    title: str
    verdict: str
    notes: list[str] = []
    next_steps: list[str] = []
    text: dict[SectionCode, list[str]] = {}
    charts: dict[str, ChartDocument] = {}


class _OfARun(_Document, kw_only=True):
    """What documents have that speak of one run."""

    job: str
    target: str
    host: str | None = None
    started: str | None = None  # ISO 8601, in UTC
    started_unix_ns: int | None = None
    seed: int | None = None
    iocast_version: str | None = None
    run_id: str | None = None
    folder: str | None = None
    price: Number | None = None  # of the target, as it was given; null: not given
    price_per_gb: Number | None = None
    price_per_iops: Number | None = None  # of its fastest row of random direct I/O


class CardDocument(_OfARun, kw_only=True, tag="card"):
    """A card, of a run of iocast or of an imported one, with what was diagnosed; `experiment` and `answer` are of a
    run that a named experiment made.
    """

    letters: dict[BadgeCode, Letter | None] = {}
    rows: list[MeasuredRow] = []
    data_points: list[DataPointRow] = []
    trust: list[TrustReason] = []
    findings: list[FoundDocument] = []
    failed_detectors: list[FailedDetectorDocument] = []
    grades: list[GradeRow] = []
    bounds: list[BoundRow] = []
    layers: list[LayerRow] = []
    row_layers: list[RowLayersRow] = []
    database_loads: list[DatabaseLoadRow] = []
    database_commits: list[DatabaseCommitRow] = []
    whereabouts: list[TimeRow] = []
    devices: list[DeviceRow] = []
    tested: list[TestedRow] = []
    blocks: list[BlockRow] = []
    places: list[PlaceRow] = []
    errors: list[ErrorRow] = []
    slowest: list[SlowRow] = []
    answer: VerdictCode | None = None
    experiment: list[dict[str, Value]] = []
    # Of a run that is a calibration:
    asked: list[of_calibration.AskedRow] = []
    maxima: list[of_calibration.MaximumRow] = []
    curve: list[of_calibration.CurveRow] = []
    knees: list[of_calibration.KneeRow] = []
    fit: list[of_calibration.FitRow] = []
    refusals: list[of_calibration.RefusalRow] = []
    refused: list[of_calibration.RefusedRow] = []


class CalibrationDocument(_OfARun, kw_only=True, tag="calibration"):
    """The highest load within a latency limit, the most IOPS and MB/s, the whole curve, and what is refused."""

    letters: dict[BadgeCode, Letter | None] = {}
    asked: list[of_calibration.AskedRow]
    maxima: list[of_calibration.MaximumRow]
    curve: list[of_calibration.CurveRow]
    knees: list[of_calibration.KneeRow] = []
    fit: list[of_calibration.FitRow] = []
    refusals: list[of_calibration.RefusalRow] = []
    refused: list[of_calibration.RefusedRow] = []


class ExperimentDocument(_OfARun, kw_only=True, tag="experiment"):
    """The answer of a named experiment, and its own table."""

    answer: VerdictCode
    experiment: list[dict[str, Value]]
    subjects: list[SubjectDocument]  # one for each target


class VerificationDocument(_OfARun, kw_only=True, tag="verification"):
    """What was read back."""

    blocks: list[BlockRow]
    places: list[PlaceRow] = []


class ListingDocument(_Document, kw_only=True, tag="listing"):
    """The runs of a directory."""

    runs: list[ListedRun]


class ComparisonDocument(_Document, kw_only=True, tag="comparison"):
    """Two or more sides; all are compared with the first."""

    subjects: list[SubjectDocument]
    pairs: list[ComparedPair]
    relative: list[Relative] = []
    repeats: list[Repeats] = []


class RepeatsDocument(_Document, kw_only=True, tag="repeats"):
    """Several runs of one job on one target. `maxima`: of calibrations, which share no rows at rates."""

    subjects: list[SubjectDocument]
    repeats: list[Repeats]
    maxima: list[of_calibration.RepeatedMaximumRow] = []


class TrendDocument(_Document, kw_only=True, tag="trend"):
    """The runs of one job on one target over time."""

    rows: list[TrendRow]
    changes: list[TrendChange]


class ModelDocument(_Document, kw_only=True, tag="model"):
    """What a law says: `iocast model`."""

    tables: list[ModelTable]


class ProfileDocument(_Document, kw_only=True, tag="profile"):
    """What a trace is like, how two differ (`iocast compare`), or a made load and its original: `iocast profile`."""

    operations: list[of_profile.OperationSize] = []
    peaks: list[of_profile.BusiestWindow] = []
    dispersion: list[of_profile.WindowDispersion] = []
    concurrency: list[of_profile.ConcurrencyFigure] = []
    sequentiality: list[of_profile.Sequentiality] = []
    scans: list[of_profile.LongRun] = []
    shares: list[of_profile.BusiestBlocks] = []
    hot_spots: list[of_profile.BusyStretch] = []
    working_sets: list[of_profile.WorkingSetSize] = []
    caches: list[of_profile.CacheMisses] = []
    pairs: list[of_profile.BlockReuse] = []
    modes: list[of_profile.LatencyPeak] = []
    targets: list[of_profile.TargetOperation] = []
    phases: list[of_profile.EvenStretch] = []
    breakdown: list[of_profile.ResponsePart] = []
    wait_events: list[of_profile.EventWaits] = []
    statements: list[of_profile.StatementTimes] = []
    sources: list[of_profile.ReadSource] = []
    # Of two profiles:
    workloads: list[of_profile.ComparedWorkload] = []
    compared_operations: list[of_profile.ComparedOperation] = []
    reasons: list[of_profile.BandShare] = []
    compared_latencies: list[of_profile.LatencyCounts] = []
    # Of a made load and its original:
    distances: list[of_profile.LoadDistance] = []


class TapeDocument(_Document, kw_only=True, tag="tape"):
    """What was seen on a tape of a live watch: `iocast report TAPE`."""

    devices_seen: list[of_tape.WatchedDevice] = []
    layers: list[of_tape.WatchedLayer] = []
    events: list[of_tape.WatchedEvent] = []
    activity: list[of_tape.DatabaseActivity] = []
    pgmon: list[of_tape.PostgresqlFigure] = []
    oramon: list[of_tape.OracleWaits] = []
    asm: list[of_tape.AsmDisk] = []
    sysmetric: list[of_tape.OracleMetric] = []


class StudyDocument(_Document, kw_only=True, tag="study"):
    """A matrix of loads on several configurations: `iocast study`. The last view has all cells."""

    progress: list[StudyProgress]
    views: list[StudyView]
    cells: list[MeasuredCell]


class CopyDocument(_Document, kw_only=True, tag="copy"):
    """Copies of a file in several ways: `iocast experiment copy`."""

    copies_cold: list[CopiedWay] = []
    copies_warm: list[CopiedWay] = []
    copy_remarks: list[CopyRemark] = []


class SizeDocument(_Document, kw_only=True, tag="size"):
    """How many devices a need takes: `iocast size`. Without a device, only `library`."""

    counts: list[Needed] = []
    states: list[Loaded] = []
    provisioned: list[Provisioned] = []
    years: list[Year] = []
    library: list[SizedModel] = []


class ForecastDocument(_OfARun, kw_only=True, tag="forecast"):
    """What a load will come to on the storage of a run."""

    forecast: of_forecast.ForecastSummary
    figures: list[of_forecast.ForecastFigure] = []
    headroom: list[of_forecast.HeadroomRow] = []
    what_if: list[of_forecast.WhatIfRow] = []
    ladder: list[of_forecast.LadderRow] = []
    open_rows: list[of_forecast.OpenLoopRow] = []
    # With --explain:
    arithmetic_ladder: list[of_forecast.ArithmeticLevel] = []
    arithmetic_states: list[of_forecast.ArithmeticState] = []


Document = (
    CardDocument
    | CalibrationDocument
    | ExperimentDocument
    | VerificationDocument
    | ListingDocument
    | ComparisonDocument
    | RepeatsDocument
    | TrendDocument
    | ModelDocument
    | ProfileDocument
    | TapeDocument
    | CopyDocument
    | StudyDocument
    | SizeDocument
    | ForecastDocument
)


def report_schema() -> dict[str, Any]:
    """JSON Schema of all documents; docs/reference/report.schema.json is its copy."""
    (shape,), definitions = msgspec.json.schema_components([Document], ref_template="#/definitions/{name}")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Reports of iocast as JSON",
        **shape,
        "definitions": {name: definitions[name] for name in sorted(definitions)},
    }


def schema_text() -> str:
    """The schema as it is kept in docs/reference/report.schema.json."""
    return msgspec.json.format(msgspec.json.encode(report_schema()), indent=2).decode() + "\n"
