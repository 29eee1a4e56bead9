"""profile --to: the compact model of a profile as a job of iocast, fio or vdbench."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast.analyse.profiling.concurrency import concurrency
from iocast.analyse.profiling.load_model import LoadModel, Missing, Part, direct_of, load_model
from iocast.analyse.profiling.session_model import SessionModel
from iocast.archive import profile_folder
from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import SpecError
from iocast.model.job import FileSize, Job
from iocast.model.phase_names import unique_names
from iocast.model.plan import Length, Phase
from iocast.model.profiling.profile import Profile
from iocast.model.workload import (
    Arrival,
    Closed,
    Hotspot,
    Locality,
    MixItem,
    Poisson,
    Sequential,
    Uniform,
    Workload,
    Zipf,
)
from iocast.sessions.profiling.profile_traces import Profiled
from iocast.units import size_text

Language = Literal["toml", "fio", "vdbench"]
SUFFIXES: dict[str, Language] = {
    ".toml": "toml",
    ".fio": "fio",
    ".ini": "fio",
    ".vdbench": "vdbench",
    ".parm": "vdbench",
}
LONGEST_S = 300.0  # of a generated job; the rates are means of the whole trace in any case
OPEN_DEPTH = 256  # outstanding I/Os that an open load may reach
NEAR_WHOLE = 0.1  # writes to a flush, from a whole number [J]
NOTES: dict[Missing, str] = {
    "bursts": "the trace has bursts; the job has random arrivals at the mean rate",
    "loop": "open or closed is unknown; the job issues at the mean rate, whatever the storage does",
    "pauses": "sessions pause for times that differ; the job issues at random moments at the mean rate",
    "targets": "the trace has several targets; the job has one region",
    "reuse": "blocks come again by their skew only, not in the order of the trace",
    "places": "the trace has no offsets; the job reads and writes at random in 1 GiB",
    "flushes_by_size": "flushes come after a mean number of writes",
    "sizes": "rare sizes were added to the nearest frequent one",
}


class GeneratedJob(Struct, frozen=True):
    """A job file, and what it leaves out of the trace, a sentence each."""

    text: str
    language: Language
    notes: tuple[str, ...]
    path: str = ""  # where it was written; "" for stdout


def language_of(to: str) -> Language:
    """The language that --to asks for, by its name or the suffix of a file. Raises SpecError."""
    if to in ("toml", "fio", "vdbench"):
        return to  # type: ignore[return-value]
    suffix = os.path.splitext(to)[1].lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise SpecError(f"--to {to}: neither toml, fio, vdbench nor a file of {known}", "for example --to job.toml")
    return SUFFIXES[suffix]


def check_job_file(to: str, *, force: bool) -> None:
    """Refuses, before any trace is read, a file that `generate_job` would refuse. Raises IocastError."""
    from iocast.archive.writing.named_outputs import check_output

    if to != language_of(to):
        check_output(Path(to), "--to", force=force)


def generate_job(profiled: Profiled, to: str, *, force: bool = False) -> GeneratedJob:
    """The job of a profile, written where `to` names a file. Raises IocastError.

    A file that iocast did not make, or that was changed since, is replaced with `force` only.
    """
    language, profile = language_of(to), profiled.profile
    if language == "toml":
        from iocast.jobs.toml.job_writing import toml_text
        from iocast.sessions.profiling.session_job import session_job

        session = session_job(profiled, float(round(min(LONGEST_S, max(1.0, profile.length_ns / 1e9)))))
        if session is not None:
            return _written(GeneratedJob(toml_text(session[0]), language, _notes_on_sessions(session[1])), to, force)
    model = _model(profiled)
    job = job_of(profile, model, whole_flushes=language != "toml")
    notes: tuple[str, ...] = ()
    match language:
        case "toml":
            from iocast.jobs.toml.job_writing import toml_text

            text = toml_text(job)
        case "fio":
            from iocast.tools.fio.fio_writing import fio_text, notes_on

            job = _whole_numbers(job)
            text, notes = (
                fio_text(job, rounds=True),
                (
                    *notes_on(job),
                    "fio takes whole rates, microseconds and per cents only: they are rounded, as its comments say",
                ),
            )
        case "vdbench":
            text, notes = _vdbench(model), tuple(_vdbench_notes(model))
    notes = (*(NOTES[each] for each in model.missing), *notes)
    return _written(GeneratedJob(text, language, notes), to, force)


def _notes_on_sessions(model: SessionModel) -> tuple[str, ...]:
    rare = (f"{model.excluded} I/Os of rare kinds are left out",) if model.excluded else ()
    return ("sessions do not wait for each other, and blocks come again by their skew only", *rare)


def _written(job: GeneratedJob, to: str, force: bool) -> GeneratedJob:
    """Writes it where `to` names a file. Raises ArchiveError."""
    from iocast.archive.writing.named_outputs import put_output

    if to == job.language:
        return job
    put_output(Path(to), job.text.encode(), "--to", force=force)
    return replace(job, path=to)


def _model(profiled: Profiled) -> LoadModel:
    """The model; the skew of its random part is asked of the events, where they are still there."""
    from iocast.analyse.profiling.event_queries import EventTable, footprint

    profile = profiled.profile
    block = profile.reference_bytes
    if not profiled.folder or block is None or profile.footprint is None:
        return load_model(profile)
    with contextlib.ExitStack() as stack:
        room = stack.enter_context(temporary_room("iocast-model-"))
        table = stack.enter_context(EventTable(profile_folder.events_of(profiled.folder), room.place))
        return load_model(profile, lambda only, unit: footprint(table, block, 0, only, unit))


def _whole_numbers(job: Job) -> Job:
    phases = []
    for phase in job.phases:
        load = phase.workload
        if isinstance(load.arrival, Poisson):
            load = replace(load, arrival=Poisson(max(1.0, float(round(load.arrival.rate_per_s)))))
        if isinstance(load.arrival, Closed):
            load = replace(load, arrival=Closed(round(load.arrival.think_ns, -3)))
        if isinstance(load.locality, Hotspot):
            space, access = (
                float(min(99, max(1, round(each))))
                for each in (load.locality.space_percent, load.locality.access_percent)
            )
            load = replace(load, locality=Hotspot(space, access))
        phases.append(replace(phase, workload=load))
    return replace(job, phases=unique_names(phases))


def job_of(profile: Profile, model: LoadModel, *, whole_flushes: bool = False) -> Job:
    """The parts as phases that run together, each in its own region.

    `whole_flushes`: a flush comes after a whole number of writes, as other tools want it.
    """
    seconds = min(LONGEST_S, max(1.0, model.seconds))
    direct = direct_of(profile)
    calls = 0 if direct else _calls_under_way(profile)
    phases, start = [], 0
    for part in model.parts:
        region = _region_of(part)
        alone = len(model.parts) == 1
        phases.append(
            Phase(
                name=part.name,
                test=part.name,
                workload=_workload(part, direct, calls, whole_flushes=whole_flushes),
                length=Length(seconds=float(round(seconds))),
                region_start_bytes=start,
                region_size_bytes=None if alone else region,
                together="" if alone else "profile",
            )
        )
        start += region
    name = f"like {profile.name}"[:80]
    said = "made from a profile by iocast profile --to"
    return Job(
        name=name,
        phases=unique_names(phases),
        description=said,
        file_size=FileSize(size_bytes=start),
        engine="sync" if calls else "auto",
    )


def _calls_under_way(profile: Profile) -> int:
    """Threads that make the buffered system calls of a trace: each waits for its own."""
    under_way = concurrency(profile)
    return max(1, under_way.most) if under_way else 1


def _region_of(part: Part) -> int:
    largest = max(item.size_bytes for item in part.items)
    return -(-max(part.region_bytes, 16 * largest) // (1 << 20)) * (1 << 20)


def _workload(part: Part, direct: bool, calls: int, *, whole_flushes: bool) -> Workload:
    arrival: Arrival = Closed(part.think_ns) if part.rate_per_s is None else Poisson(round(part.rate_per_s, 4))
    mix = [MixItem(item.op, item.size_bytes, round(item.weight, 2)) for item in part.items]
    every = max(1, round(part.flush_every)) if part.flush_every else 0
    if every and not whole_flushes and abs(part.flush_every - every) > NEAR_WHOLE:
        writes = sum(item.weight for item in mix if item.op == "write")
        mix.append(MixItem("fdatasync", 0, round(writes / part.flush_every, 2)))
        every = 0
    open_loop = part.rate_per_s is not None
    return Workload(
        mix=tuple(mix),
        locality=_locality(part),
        arrival=arrival,
        users=calls if open_loop and calls else part.users,
        depth=OPEN_DEPTH if open_loop and not (calls or part.flush_every) else 1,
        direct=direct,
        sync="dsync" if part.durable else "none",
        fsync_every=every,
        fsync_op="fdatasync",
    )


def _locality(part: Part) -> Locality:
    match part.pattern:
        case "sequential":
            return Sequential()
        case "zipf":
            return Zipf(part.theta or 0.0)
        case "hotspot":
            return Hotspot(part.space_percent or 0.0, part.access_percent or 0.0)
        case _:
            return Uniform()


def _vdbench(model: LoadModel) -> str:
    total = sum(part.rate_per_s or 0.0 for part in model.parts)
    threads = max(part.users for part in model.parts)
    size = sum(_region_of(part) for part in model.parts)
    lines = [
        "* made from a profile by iocast profile --to; change lun",
        f"sd=sd1,lun=/change/me,size={size_text(size)},threads={max(threads, 1)},openflags=o_direct",
    ]
    for number, part in enumerate(model.parts, 1):
        weights: dict[int, float] = {}
        for item in part.items:
            weights[item.size_bytes] = weights.get(item.size_bytes, 0.0) + item.weight
        reads = sum(item.weight for item in part.items if item.op == "read")
        whole = sum(item.weight for item in part.items)
        skew = f",skew={100 * part.rate_per_s / total:.4g}" if part.rate_per_s and len(model.parts) > 1 else ""
        lines.append(
            f"wd=wd{number},sd=sd1,xfersize={_xfersize(weights)},rdpct={100 * reads / whole:.4g},"
            f"seekpct={0 if part.pattern == 'sequential' else 100}{skew}"
        )
    rate = f"{total:.6g}" if all(part.rate_per_s for part in model.parts) else "max"
    lines.append(f"rd=rd1,wd=wd*,iorate={rate},elapsed={min(LONGEST_S, max(2.0, model.seconds)):.0f},interval=1")
    return "\n".join(lines) + "\n"


def _xfersize(weights: dict[int, float]) -> str:
    """One size, or pairs of size and percentage that add up to 100."""
    if len(weights) == 1:
        return size_text(next(iter(weights)))
    ordered = sorted(weights, key=lambda size: -weights[size])
    shares = {size: int(100 * weights[size] / sum(weights.values())) for size in ordered}
    shares[ordered[0]] += 100 - sum(shares.values())
    return "(" + ",".join(f"{size_text(size)},{share}" for size, share in shares.items() if share) + ")"


def _vdbench_notes(model: LoadModel) -> list[str]:
    notes = ["change lun=/change/me to a file or device that may be overwritten"]
    if any(part.pattern in ("zipf", "hotspot") for part in model.parts):
        notes.append("vdbench has no skew of this form: places are uniform")
    if any(part.flush_every or part.durable for part in model.parts):
        notes.append("vdbench does not flush after writes: the job has none")
    if any(part.think_ns for part in model.parts):
        notes.append("vdbench has no pause between I/Os: the job has none")
    return notes
