"""replay: the I/Os of a trace are made again on a target; the result is a run like any other."""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from iocast._core import CoreError, replay_survey
from iocast.errors import SourceError, SpecError, TargetError
from iocast.load.work_files import permission_of
from iocast.model.job import FileSize, Job
from iocast.model.measurement import ReplayFacts
from iocast.model.plan import Length, Phase, Replay, ReplayMode
from iocast.model.target import Target
from iocast.model.workload import (
    Closed,
    MixItem,
    Op,
    RecordedPlaces,
    RecordedTimes,
    Workload,
)
from iocast.sessions.forecasting.several_targets import find_targets
from iocast.sessions.listener import Listener
from iocast.sessions.measure import MeasuredJob, measure_job
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.replay import ReplayRequest
from iocast.sessions.requests.run_options import MIB, option_value
from iocast.sessions.target_finding import with_direct_tried
from iocast.sessions.tracing.event_tables import event_table
from iocast.sessions.tracing.target_mapping import Mapping, mapping_of, needed_bytes
from iocast.text import capacity
from iocast.tools.traces import TraceOptions
from iocast.units import parse_size

INTERVAL_NS = 1_000_000_000
CLASSES_MOST = 64  # operations and sizes that are counted apart
EXACT_MOST = 24  # of more, so many of the most frequent keep their size
FAST_DEPTH, OPEN_DEPTH, LEAST_DEPTH, MOST_DEPTH = 32, 128, 32, 512
BUFFERS_MOST = 1 << 30


class _Counted(Struct, frozen=True):
    op: Op
    size_bytes: int
    ios: int


class _Reached(Struct, frozen=True):
    name: str
    ios: int
    end_bytes: int


class Survey(Struct, frozen=True):
    """What a replay would be (crates/iocast-core/src/replay/survey.rs)."""

    classes: tuple[_Counted, ...]
    targets: tuple[_Reached, ...]
    end_bytes: int
    outstanding_most: int | None
    longest_gap_ns: int
    facts: ReplayFacts

    @property
    def largest_bytes(self) -> int:
        """The largest I/O."""
        return max(each.size_bytes for each in self.classes)


def replay(request: ReplayRequest, listener: Listener) -> MeasuredJob:
    """Reads the trace, plans, announces, replays, judges. Raises IocastError."""
    _check(request)
    mapping = mapping_of(request)
    target = with_direct_tried(_target(request, mapping))
    with event_table(request.trace, _reading(request)) as events:
        job = replay_job(request, target, events)
        wanted = MeasureRequest(
            job=job, path=target.path, options=request.options, grade_request=request.grade_request, page=request.page
        )
        return measure_job(job, target, wanted, listener)


def replay_job(request: ReplayRequest, target: Target, events: str) -> Job:
    """The job that an event table is on a target. Raises SourceError, TargetError."""
    may_write = permission_of(target).may_write
    mapping = mapping_of(request)
    direct = not request.buffered and target.direct is not False
    task = Replay(
        events=os.path.abspath(events),
        mode=request.mode,
        speed=request.speed,
        remap=request.remap,
        block_bytes=_block_bytes(target) if direct else 1,
        reads_only=request.reads_only or not may_write,
        targets=tuple(mapping.files) or request.targets,
        files=mapping.files,
    )
    survey = surveyed(task)
    _check_each(request, target, survey, mapping)
    size_bytes = _size_bytes(request, target, survey)
    phase = Phase(
        name=f"replay {request.mode}",
        test="replay",
        workload=_workload(request, survey, direct),
        length=_length(request, survey),
        replay=task,
    )
    return Job(
        name=f"replay of {os.path.basename(request.trace)}",
        phases=(phase,),
        file_size=FileSize(size_bytes=size_bytes),
        interval_ns=INTERVAL_NS,
        notes=tuple(_notes(request, survey, may_write)),
        fits_target=True,
    )


def surveyed(task: Replay) -> Survey:
    """What a replay would be. Raises SourceError for a trace that cannot be replayed so."""
    try:
        return msgspec.json.decode(replay_survey(msgspec.json.encode(task).decode(), INTERVAL_NS), type=Survey)
    except CoreError as refusal:
        message, hint, _ = refusal.args
        raise SourceError(message, hint) from refusal


def _reading(request: ReplayRequest) -> TraceOptions | None:
    """What is said of the trace; None for nothing. Raises SpecError."""
    if request.format_of_trace is None and request.block_size is None:
        return None
    block = request.block_size
    size = None if block is None else option_value("--block-size", block, parse_size)
    return TraceOptions(format=request.format_of_trace, block_size_bytes=size)


def _check(request: ReplayRequest) -> None:
    if not 1e-6 <= request.speed <= 1e6:
        raise SpecError(f"--speed {request.speed:g} is not from 0.000001 to 1000000", "2 is twice as fast")
    if request.mode == "fast" and request.speed != 1.0:
        raise SpecError("--speed changes nothing in --mode fast", "omit it, or give --mode timed")


def _target(request: ReplayRequest, mapping: Mapping) -> Target:
    """The target of PATH, or of all files and devices that targets of the trace are mapped to. Raises IocastError."""
    named = request.options.destroy
    if not mapping.paths:
        return find_targets((request.path,), (named,) if named else ())
    return find_targets(mapping.paths, tuple(filter(None, named.split(","))))


def _check_each(request: ReplayRequest, target: Target, survey: Survey, mapping: Mapping) -> None:
    """Raises TargetError where the targets of the trace do not fit into the file or device that they are mapped to."""
    if request.remap != "refuse" or len(mapping.paths) < 2:
        return
    needed = needed_bytes({each.name: each.end_bytes for each in survey.targets}, mapping)
    for member, need in zip(target.members, needed, strict=True):
        if need > (member.size_bytes or 0):
            raise TargetError(
                f"what is mapped to {member.path} reaches to {need:,} bytes, it has {member.size_bytes:,}",
                "map it to a larger one, or give --remap wrap or scale",
            )


def _block_bytes(target: Target) -> int:
    """The largest logical block of all."""
    if target.members:
        return max(_block_bytes(member) for member in target.members)
    if target.kind == "sim":
        return 1
    return (target.device.logical_block_bytes if target.device else None) or 512


def _size_bytes(request: ReplayRequest, target: Target, survey: Survey) -> int:
    """How large the work file is to be, or the target is. Raises TargetError where the trace does not fit."""
    taken = target.size_bytes if target.kind != "directory" else None
    size_bytes = request.options.size_bytes
    size = taken if taken is not None else size_bytes
    if size is None:
        return max(-(-survey.end_bytes // MIB), 1) * MIB
    if size < survey.end_bytes and request.remap == "refuse":
        where = target.path if taken is not None else "the work file"
        raise TargetError(
            f"the trace reaches to {survey.end_bytes:,} bytes, {where} has {size:,}",
            "give --remap wrap (places go on from the beginning) or scale (they are shrunk), or a larger target",
        )
    return size


def _workload(request: ReplayRequest, survey: Survey, direct: bool) -> Workload:
    seconds = survey.facts.recorded_ns / 1e9 / request.speed
    rate_per_s = survey.facts.replayed / seconds if seconds > 0 else 1e9
    gap_ns = survey.facts.recorded_ns if request.mode == "dependent" else survey.longest_gap_ns
    return Workload(
        mix=mix_of(survey),
        locality=RecordedPlaces(),
        arrival=Closed() if request.mode == "fast" else RecordedTimes(rate_per_s, int(gap_ns / request.speed)),
        users=request.users,
        depth=request.depth or _depth(request.mode, survey),
        direct=direct,
    )


def _depth(mode: ReplayMode, survey: Survey) -> int:
    """Enough for what was outstanding in the trace, twice; as far as the buffers do not take too much memory."""
    wanted = FAST_DEPTH
    if mode != "fast":
        known = survey.outstanding_most
        wanted = OPEN_DEPTH if known is None else min(max(2 * known, LEAST_DEPTH), MOST_DEPTH)
    return max(1, min(wanted, BUFFERS_MOST // max(survey.largest_bytes, 1)))


def mix_of(survey: Survey) -> tuple[MixItem, ...]:
    """Operations and sizes by number; where there are many, rare sizes are counted with the next power of two."""
    if len(survey.classes) <= CLASSES_MOST:
        return tuple(MixItem(each.op, each.size_bytes, float(each.ios)) for each in survey.classes)
    counts: dict[tuple[Op, int], int] = {}
    for place, each in enumerate(survey.classes):
        size = each.size_bytes
        if place >= EXACT_MOST and size:
            size = max(512, 1 << (size - 1).bit_length())
        counts[each.op, size] = counts.get((each.op, size), 0) + each.ios
    return tuple(MixItem(op, size, float(ios)) for (op, size), ios in counts.items())


def _length(request: ReplayRequest, survey: Survey) -> Length:
    limit_ns = request.options.duration_ns
    return Length(ios=survey.facts.replayed, seconds=None if limit_ns is None else limit_ns / 1e9)


def _notes(request: ReplayRequest, survey: Survey, may_write: bool) -> list[str]:
    facts = survey.facts
    notes = []
    left = facts.left_out.get("not_a_read", 0)
    if left and not request.reads_only and not may_write:
        notes.append(
            f"{request.path} may not be written to: {left:,} writes, syncs and trims of the trace are left out"
        )
    if facts.rounded:
        notes.append(f"{facts.rounded:,} I/Os are rounded to whole blocks, which direct I/O requires")
    if len(survey.targets) > 1 and not mapping_of(request).files:
        notes.append(f"The {len(survey.targets)} targets of the trace lie one after the other on {request.path}")
    sizes = len(survey.classes)
    if sizes > CLASSES_MOST:
        notes.append(f"Of {sizes} sizes the rarer ones are counted with the next power of two; I/Os keep their size")
    if survey.end_bytes and request.remap != "refuse":
        notes.append(f"Offsets up to {capacity(survey.end_bytes)} are remapped ({request.remap})")
    return notes
