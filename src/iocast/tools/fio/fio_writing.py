"""Writes a Job as a fio job file that fio runs and that reads back to the same phases, or says what fio cannot."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from iocast.errors import SpecError
from iocast.model.job import Job
from iocast.model.phase_names import plain_name
from iocast.model.plan import EngineName, Length, Phase, groups_of
from iocast.model.workload import (
    PLACED,
    Bursts,
    Closed,
    Compressible,
    Dedupable,
    Hotspot,
    MixItem,
    Payload,
    Poisson,
    RecordedTimes,
    Repeated,
    Sequential,
    Stride,
    Uniform,
    Workload,
    Zeros,
    Zipf,
)
from iocast.tools.fio.fio_sections import CHECKSUM
from iocast.tools.fio.job_options import OPS
from iocast.tools.fio.quantities import text_of, time_of

FILE_NAME = "iocast-fio.{}.dat"
MOST_MOVED = 2.0  # points of the I/Os that whole per cents may give to another size or direction [J]
_ROUNDING = 0.05  # how much of a rate fio may lose: with poisson it rounds down to whole I/Os a second
_EXACT = 1e-9  # of a per cent: as near are sums of shares
_START_BYTES = 8192  # what the core rounds the starts of users to, as fio.sh does

Lines = dict[str, str]


class Whole:
    """Whole numbers, which are all that fio takes of shares and rates. `rounds`: others are rounded, and what came of
    them is kept as remarks; else they are refused."""

    def __init__(self, rounds: bool) -> None:
        self.rounds, self.remarks = rounds, list[str]()

    def per_cents(self, shares: Mapping[str, float], part: float = 1.0) -> dict[str, int]:
        """Shares that add up to 100, as whole ones that do. They are those of a `part` of the I/Os. Raises SpecError
        where that would be another mix."""
        whole = {what: round(share) for what, share in shares.items()}
        if all(abs(share - whole[what]) < _EXACT for what, share in shares.items()):
            return whole
        if not self.rounds:
            what, share = next((what, share) for what, share in shares.items() if abs(share - whole[what]) >= _EXACT)
            raise SpecError(f"the share of {what} is {share:.4g} %: fio accepts only whole per cents", "")
        whole = {what: math.floor(share) for what, share in shares.items()}
        by_rest = sorted(shares, key=lambda what: whole[what] - shares[what])
        for what in by_rest[: 100 - sum(whole.values())]:
            whole[what] += 1
        moved = part * sum(abs(share - whole[what]) for what, share in shares.items()) / 2
        if moved > MOST_MOVED:
            raise SpecError(
                f"whole per cents would give {moved:.1f} % of the I/Os another size", "--to job.toml keeps them"
            )
        self.remarks += [
            f"{what} {whole[what]}% instead of {share:.4g}%"
            for what, share in shares.items()
            if abs(share - whole[what]) >= _EXACT
        ]
        return whole

    def comment(self) -> list[str]:
        """The remarks as lines of a comment."""
        said = f"rounded for fio: {', '.join(self.remarks)}"
        return textwrap.wrap(said, 100, initial_indent="; ", subsequent_indent=";   ") if self.remarks else []

    def rate(self, what: str, rate_per_s: float) -> str | None:
        """A rate that was rounded; None where it may not be, or would be another one."""
        whole = round(rate_per_s)
        if not self.rounds or whole < 1 or abs(whole - rate_per_s) > _ROUNDING * rate_per_s:
            return None
        self.remarks.append(f"{what} {whole}/s instead of {rate_per_s:.6g}/s a user")
        return str(whole)


def fio_text(job: Job, *, rounds: bool = False) -> str:
    """The job as fio's ini. Shares and rates that are no whole numbers are refused, or rounded, which a comment says.
    Raises SpecError that lists every phase that fio cannot do, each with the reason."""
    if job.file_size and job.file_size.size_bytes is None:
        raise SpecError("its file size is a multiple of RAM, which fio cannot express", "give --size")
    if job.tree is not None:
        raise SpecError("fio has no job for operations in a tree of files", "`iocast spec --to toml` writes it")
    sections: list[tuple[str, Lines]] = []
    remarks: list[list[str]] = []
    problems: list[str] = []
    verifying = _back(job.phases)
    phases = _spoken(job.phases)
    for phase in phases:
        whole = Whole(rounds)
        try:
            sections.append((plain_name(phase), _section(job, phase, whole) | verifying.get(phase.name, {})))
            remarks.append(whole.comment())
        except SpecError as error:
            hint = f" ({error.hint})" if error.hint else ""
            problems.append(f'phase "{phase.name}": {error.message}{hint}')
    if problems:
        if len(problems) == 1:
            raise SpecError(f"fio cannot do this job: {problems[0]}")
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise SpecError(f"fio cannot do {len(problems)} phases of this job\n{listed}")
    begins = {group[0].name for group in groups_of(phases)}
    alone = len(begins) == len(phases)
    shared = {
        key: value for key, value in sections[0][1].items() if all(lines.get(key) == value for _, lines in sections)
    }
    polling = {"none": {}, "sqpoll": {"sqthread_poll": "1"}, "iopoll": {"hipri": "1"}}[job.polling]
    head = {"ioengine": _engine_name(job.engine), "filename": _files(range(job.file_count)), **polling}
    order = (
        "sections run one after the other"
        if alone
        else "sections without stonewall run concurrently with the one above"
    )
    text = [f"; {_plain(job.name)}: {order}", "[global]"]
    text += [f"description={_plain(job.description)}"] if _plain(job.description) else []
    text += _written({**head, **({"stonewall": "1"} if alone else {}), "group_reporting": "1", **shared})
    for phase, (name, lines), remark in zip(phases, sections, remarks, strict=True):
        own = {"stonewall": "1"} if not alone and phase.name in begins else {}
        own |= {key: value for key, value in lines.items() if key not in shared}
        text += ["", *remark, f"[{name}]", *_written(own)]
    return "\n".join(text) + "\n"


def _files(numbers: Iterable[int]) -> str:
    return ":".join(FILE_NAME.format(number) for number in numbers)


def _engine_name(engine: EngineName) -> str:
    """fio's engine that is nearest: it has no word for auto."""
    return "psync" if engine == "sync" else "io_uring"


def _plain(text: str) -> str:
    """A text without what fio takes for a comment or a variable."""
    return " ".join(text.replace(";", ",").replace("#", "no. ").replace("$", "").split())


def _written(lines: Lines) -> Iterator[str]:
    for key, value in lines.items():
        yield f"{key}={value}"


def _section(job: Job, phase: Phase, whole: Whole) -> Lines:
    """The settings of one section. Raises SpecError for what fio cannot say."""
    load = phase.workload
    engine = phase.engine or job.engine
    if phase.length.follows:
        raise SpecError("fio cannot end a section with the others", "give it time")
    if engine == "sync" and load.depth > 1:
        raise SpecError("psync has a queue depth of 1", 'engine = "uring"')
    if engine == "sync" and job.polling != "none":
        raise SpecError("psync cannot poll", 'engine = "uring"')
    lines = _mix(load.mix, load.locality, whole)
    lines |= {"numjobs": str(load.users), "iodepth": str(load.depth), "direct": str(int(load.direct))}
    if any(item.op == "write" for item in load.mix):
        lines |= _durable(phase) | _payload(load.payload)
    lines |= _arrival(load, whole)
    if phase.until:
        raise SpecError("until steady: fio's steadystate is a different rule that lets drift pass", "give time")
    lines |= _length(phase.length, load.users, max(item.size_bytes for item in load.mix))
    lines |= _place(job, phase) | ({"filename": _files(phase.on_files)} if phase.on_files else {})
    if phase.role == "warm":
        lines["stats"] = "0"
    if _engine_name(engine) != _engine_name(job.engine):
        lines["ioengine"] = _engine_name(engine)
    return lines


def shares(mix: tuple[MixItem, ...]) -> dict[str, dict[int, float]]:
    """The weight of each size of reads and of writes. Raises SpecError for other operations."""
    by_size: dict[str, dict[int, float]] = {}
    for item in mix:
        if item.op not in PLACED:
            raise SpecError(f"fio cannot mix {item.op} with other I/Os", "fsync_every is nearest")
        sizes = by_size.setdefault(item.op, {})
        sizes[item.size_bytes] = sizes.get(item.size_bytes, 0.0) + item.weight
    return by_size


def _mix(mix: tuple[MixItem, ...], locality: object, whole: Whole) -> Lines:
    """rw, rwmixread, bs or bssplit, random_distribution."""
    by_size = shares(mix)
    totals = {op: sum(sizes.values()) for op, sizes in by_size.items()}
    kind = _kind(totals)
    lines = {"rw": kind}
    every = {item.size_bytes for item in mix}
    match locality:
        case Sequential(backwards=True) | Stride() if len(every) > 1:
            raise SpecError("fio supports strides for a single I/O size only", "")
        case Sequential(backwards=True):
            lines["rw"] = f"{kind}:-{text_of(2 * max(every))}"
        case Sequential():
            pass
        case Stride(stride_bytes=stride):
            if stride == max(every):
                raise SpecError("a stride equal to the I/O size is sequential", 'pattern = "sequential"')
            lines["rw"] = f"{kind}:{text_of(stride - max(every))}"
        case _:
            lines |= {"rw": f"rand{kind}"} | _spread(locality)
    part = {op: total / sum(totals.values()) for op, total in totals.items()}
    if kind == "rw":
        lines["rwmixread"] = str(whole.per_cents({f"{op}s": 100 * share for op, share in part.items()})["reads"])
    if all(len(sizes) == 1 for sizes in by_size.values()):
        lines["bs"] = _parts_of([text_of(next(iter(by_size[op]))) if op in by_size else "" for op in PLACED])
    else:
        lines["bssplit"] = _parts_of(
            [_split(op, by_size[op], part[op], whole) if op in by_size else "" for op in PLACED]
        )
    return lines


def _parts_of(texts: list[str]) -> str:
    """ "8k" when all that do something do the same, else a part each for reads, writes and trims."""
    read, write, trim = texts
    given = dict.fromkeys(text for text in texts if text)
    if len(given) == 1:
        return next(iter(given))
    return f"{read or write},{write},{trim}" if trim else f"{read},{write}"


def _kind(totals: dict[str, float]) -> str:
    """The word of rw without "rand". Raises SpecError for a mix that fio has no word for."""
    match set(totals):
        case ops if len(ops) == 1:
            return next(iter(totals))
        case ops if ops == {"read", "write"}:
            return "rw"
        case ops if ops == {"trim", "write"} and totals["trim"] == totals["write"]:
            return "trimwrite"
    raise SpecError(
        "fio mixes trims only with an equal share of writes", "trim = 50 with write = 50, or a phase of trims"
    )


def _split(op: str, sizes: dict[int, float], part: float, whole: Whole) -> str:
    total = sum(sizes.values())
    shares = {f"{text_of(size)} {op}s": 100 * weight / total for size, weight in sizes.items()}
    return ":".join(f"{what.split()[0]}/{share}" for what, share in whole.per_cents(shares, part).items() if share)


def _percent(what: str, percent: float) -> str:
    if abs(percent - round(percent)) > _EXACT:
        raise SpecError(f"{what} is {percent:.4g} %: fio accepts only whole per cents", "")
    return str(round(percent))


def _spread(locality: object) -> Lines:
    match locality:
        case Zipf(theta=theta) if theta == 1:
            raise SpecError("fio does not support zipf with theta = 1", "theta = 0.99")
        case Zipf(theta=theta):
            return {"random_distribution": f"zipf:{f'{theta:.12f}'.rstrip('0')}"}
        case Hotspot(space_percent=space, access_percent=access):
            hot, wide = _percent("access_percent", access), _percent("space_percent", space)
            if not 0 < int(wide) < 100 or not 0 < int(hot) < 100:
                raise SpecError("fio supports a hot spot of 1 to 99 %", "")
            return {"random_distribution": f"zoned:{hot}/{wide}:{100 - int(hot)}/{100 - int(wide)}"}
        case Uniform(repeats=True):
            return {"norandommap": "1"}
        case _:
            return {}


def _durable(phase: Phase) -> Lines:
    load = phase.workload
    if load.sync == "rwf_dsync":
        raise SpecError("fio cannot set RWF_DSYNC", 'sync = "dsync"')
    lines = {"sync": load.sync} if load.sync != "none" else {}
    return lines | ({load.fsync_op: str(load.fsync_every)} if load.fsync_every else {})


def _payload(payload: Payload) -> Lines:
    match payload:
        case Zeros():
            return {"zero_buffers": "1"}
        case Repeated():
            return {"scramble_buffers": "0"}
        case Compressible(percent=percent) | Dedupable(percent=percent) if not 0 < percent < 100:
            raise SpecError("fio treats 0 % and 100 % as other payloads", "zeros, repeated or unique")
        case Compressible(percent=percent):
            return {"buffer_compress_percentage": _percent("compressible", percent)}
        case Dedupable(percent=percent):
            return {"dedupe_percentage": _percent("dedupable", percent)}
        case _:
            return {"refill_buffers": "1"}


def _arrival(load: Workload, numbers: Whole) -> dict[str, str]:
    """The settings of the arrival; fio's rates are for each user and direction. Raises SpecError."""
    if isinstance(load.arrival, Closed):
        if not load.arrival.think_ns:
            return {}
        if load.depth > 1:
            raise SpecError("fio's queue depth is 1 with think time", "depth = 1")
        return {"thinktime": time_of(load.arrival.think_ns)}
    if isinstance(load.arrival, RecordedTimes):
        raise SpecError(
            "a replay cannot be a fio job: its I/Os are the rows of a trace", "iocast replay TRACE PATH repeats it"
        )
    if isinstance(load.arrival, Bursts):
        raise SpecError("fio has no bursts", "thinktime with thinktime_blocks is nearest, by hand")
    poisson = isinstance(load.arrival, Poisson)
    total = sum(item.weight for item in load.mix)
    whole: list[str] = []
    in_bytes: list[str] = []
    rates: dict[str, float] = {}
    for op in [op for op in OPS if any(item.op == op for item in load.mix)]:
        items = [item for item in load.mix if item.op == op]
        weight = sum(item.weight for item in items)
        rate_per_s = load.arrival.rate_per_s * weight / total / load.users
        mean = sum(item.size_bytes * item.weight for item in items) / weight
        smallest = min(item.size_bytes for item in items)
        if _is_whole(rate_per_s) and (poisson or len(items) == 1):
            whole.append(str(round(rate_per_s)))
        rates[f"{op}s"] = rate_per_s
        bytes_per_s = rate_per_s * mean
        lost = abs(bytes_per_s // smallest - rate_per_s) / rate_per_s if poisson else 0.0
        if _is_whole(bytes_per_s) and lost <= _ROUNDING:
            in_bytes.append(str(round(bytes_per_s)))
    process = {"rate_process": "poisson" if poisson else "linear"}
    directions = len({item.op for item in load.mix})
    if len(whole) == directions:
        return {"rate_iops": ",".join(whole), **process}
    if len(in_bytes) == directions:
        return {"rate": ",".join(in_bytes), **process}
    rounded = [numbers.rate(what, rate) for what, rate in rates.items()] if poisson else [None]
    if None not in rounded:
        return {"rate_iops": ",".join(filter(None, rounded)), **process}
    rate_per_s = load.arrival.rate_per_s
    fewer = [users for users in range(load.users, 0, -1) if _is_whole(rate_per_s / users)]
    each = f"{rate_per_s / load.users:.6g} IOPS for each user"
    raise SpecError(
        f"{each}: fio accepts only whole numbers for reads and for writes",
        f"users = {fewer[0]}" if fewer and directions == 1 else "other rates",
    )


def _is_whole(value: float) -> bool:
    return value >= 1 and abs(value - round(value)) < 1e-9 * max(1.0, value)


def _length(length: Length, users: int, largest: int) -> Lines:
    """runtime, number_ios and io_size; fio counts the last two for each user."""
    lines: Lines = {}
    if length.seconds is not None:
        lines["runtime"] = time_of(round(length.seconds * 1e9))
        if length.ios is None and length.bytes is None:
            return {"time_based": "1", **lines}
    for what, value in (("I/Os", length.ios), ("bytes", length.bytes)):
        if value is not None and value % users:
            raise SpecError(f"{value} {what} of {users} users together: fio needs a whole number for each", "")
    if length.ios is not None:
        lines["number_ios"] = str(length.ios // users)
    io_bytes = length.bytes if length.bytes is not None else (length.ios or 0) * largest
    return {**lines, "io_size": text_of(io_bytes // users)}


def _place(job: Job, phase: Phase) -> Lines:
    """size, offset, filesize, offset_increment. With filesize fio does not take size in bytes for a region."""
    load, users = phase.workload, phase.workload.users
    start, region = phase.region_start_bytes, phase.region_size_bytes
    file_bytes = job.file_size.size_bytes if job.file_size else None
    if job.file_sizes:
        file_bytes = min(job.file_sizes[number] for number in phase.on_files or range(job.file_count))
    lines = {"offset": text_of(start)} if start else {}
    in_order = isinstance(load.locality, Sequential | Stride)
    if (len(phase.on_files) or job.file_count) > 1:
        lines["file_service_type"] = _turns(job, phase) if in_order else "random"
    if in_order and users > 1 and not load.starts_together:
        return lines | _parts(job, phase, file_bytes)
    if region is not None:
        return {**lines, "size": text_of(region * (len(phase.on_files) or job.file_count))}
    return {**lines, **({"filesize": text_of(file_bytes)} if file_bytes else {}), "size": "100%"}


def _turns(job: Job, phase: Phase) -> str:
    """How fio changes files for a load that goes in order. Raises SpecError for stripes that it cannot make."""
    if not job.stripe_bytes:
        return "sequential"
    kinds = {(item.op, item.size_bytes) for item in phase.workload.mix}
    if len(kinds) > 1 or not isinstance(phase.workload.locality, Sequential) or phase.workload.users > 1:
        raise SpecError(
            "fio alternates between files for one user, one kind and one size of I/O", 'layout = "concatenated"'
        )
    ios = job.stripe_bytes // max(size for _, size in kinds)
    return "roundrobin" if ios == 1 else f"roundrobin:{ios}"


def _parts(job: Job, phase: Phase, file_bytes: int | None) -> Lines:
    """offset_increment for users that go in order, each in its part or from its start."""
    load, users = phase.workload, phase.workload.users
    largest = max(item.size_bytes for item in load.mix)
    if not isinstance(load.locality, Sequential):
        raise SpecError("fio's users would all read the same blocks", "users = 1")
    if job.file_count > 1:
        raise SpecError("fio's users would all read the same blocks of several files", "one file, or one user")
    onward = load.locality.start == "own_offset"
    region = phase.region_size_bytes
    if region is None and file_bytes is None:
        return _parts_of_unknown(users, onward, phase.region_start_bytes)
    whole = region is None or region == file_bytes
    region = (file_bytes or 0) - phase.region_start_bytes if region is None else region
    if onward:
        if not whole or file_bytes is None:
            raise SpecError("fio's users continue to the end of the file, not of a region", "leave region out")
        unit = max(_START_BYTES, min(item.size_bytes for item in load.mix))
        share = region // largest * largest // users // unit * unit
        lines = {"filesize": text_of(file_bytes), **({"size": "100%"} if phase.region_size_bytes is None else {})}
        lines["offset_increment"] = text_of(share)
    else:
        share = region // largest * largest // users // largest * largest
        lines = {"size": text_of(share), "offset_increment": text_of(share)}
    if not share:
        raise SpecError(f"the shares of {users} users are smaller than one I/O", "larger files")
    return lines


def _parts_of_unknown(users: int, onward: bool, start: int) -> Lines:
    """The same in whole per cents."""
    if start or (100 % users and not onward) or users > 100:
        raise SpecError(f"the start offsets of {users} users depend on the file size", "give --size")
    return {"size": "100%" if onward else f"{100 // users}%", "offset_increment": f"{100 // users}%"}


def _back(phases: tuple[Phase, ...]) -> dict[str, dict[str, str]]:
    """For each phase that verifies the lines that say so. Raises SpecError for a reading back that fio has not."""
    lines: dict[str, dict[str, str]] = {}
    read_back: set[str] = set()
    before: Phase | None = None
    for phase in phases:
        if phase.role == "verify":
            _refuse_back(phase, before, [name for name in lines if name not in read_back])
            read_back.update(lines)
        elif phase.verify:
            block = phase.verify_block_bytes
            interval = {"verify_interval": text_of(block)} if block else {}
            lines[phase.name] = {"verify": CHECKSUM, **interval, "do_verify": "0"}
        before = phase
    for phase, after in itertools.pairwise(phases):
        if phase.verify and after.role == "verify":
            lines[phase.name]["do_verify"] = "1"
    return lines


def _refuse_back(phase: Phase, before: Phase | None, waiting: list[str]) -> None:
    """fio reads back after each section, what this section wrote, and only before its runtime is over."""
    says = ""
    if before is None or not before.verify or waiting != [before.name]:
        says = "fio reads back only what a section wrote, right after that section"
        hint = 'add a phase with role = "verify" after each phase that writes with verify'
    elif before.workload.users > 1:
        says, hint = "fio's users report blocks that other users overwrote as errors", "users = 1"
    elif before.length.seconds is not None:
        says, hint = "fio reads nothing back once a section's runtime is over", "ios or bytes in place of time"
    if says:
        raise SpecError(f'fio cannot do this job: phase "{phase.name}": {says}', hint)


def _spoken(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """The phases that are sections of their own: all but those that read back."""
    return tuple(phase for group in groups_of(phases) for phase in group if phase.role != "verify")


def notes_on(job: Job) -> list[str]:
    """What a user should know about the file that fio_text makes."""
    notes = []
    if not job.file_size:
        notes.append("the job sets no file size: give fio an existing filename, or give --size")
    if any(isinstance(phase.workload.arrival, Closed) is False for phase in job.phases):
        notes.append("fio counts latency from submission, not from when an I/O was due")
    return notes
