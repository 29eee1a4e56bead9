"""vdbench's storage and workload definitions: what I/O each means, and several of them as one mix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.model.workload import (
    Compressible,
    Dedupable,
    Locality,
    MixItem,
    Op,
    Payload,
    Sequential,
    Sync,
    Uniform,
    Unique,
)
from iocast.tools.line_problems import LineProblems
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_values import Reader, percent_of, ratio_of, size_of, whole_of
from iocast.units import parse_size

USUAL_THREADS, USUAL_BYTES = 8, 4096
MIB = 1 << 20
DEDUP_BYTES = 4096
_DIRECT = ("o_direct", "directio")
_SYNC: dict[str, Sync] = {"o_sync": "sync", "o_dsync": "dsync"}
_SEQUENTIAL = ("0", "seq", "sequential")
_RANDOM = ("100", "random", "rand")


class Storage(Struct, frozen=True):
    """A storage definition."""

    name: str
    line: int
    lun: str
    size_bytes: int | None
    parameters: dict[str, Parameter]


class Io(Struct, frozen=True, kw_only=True):
    """What one workload does. `threads` is of each storage, `skew` its share of the rate in percent."""

    name: str
    line: int
    storage: tuple[str, ...]
    mix: tuple[MixItem, ...]
    locality: Locality
    direct: bool
    sync: Sync
    threads: int
    depth: int  # outstanding I/Os of each thread
    skew: float | None
    region: tuple[int, int | None]
    payload: Payload


class Place(NamedTuple):
    """All storage of a file, its problems, and its general parameters."""

    storage: Mapping[str, Storage]
    problems: LineProblems
    general: Mapping[str, Parameter] = {}


def storage_of(definition: Definition, problems: LineProblems) -> Storage:
    """A storage definition that was read."""
    reader = Reader(definition.parameters, problems)
    return Storage(
        definition.name,
        definition.line,
        reader.one("lun", str, ""),
        reader.one("size", size_of, None),
        dict(definition.parameters),
    )


def io_of(name: str, line: int, layers: Sequence[Mapping[str, Parameter]], used: Sequence[Storage], place: Place) -> Io:
    """The I/O of a workload on its storage; what stands in a later one of `layers` replaces what is before it."""
    merged = {key: value for layer in ({}, used[0].parameters, *layers) for key, value in layer.items()}
    reader = Reader(merged, place.problems)
    direct, sync = flags_of(reader)
    direct = direct or all(each.lun.startswith("/dev/") for each in used)
    locality, threads, depth = _streams(reader, _locality(reader))
    return Io(
        name=name,
        line=line,
        storage=tuple(each.name for each in used),
        mix=_mix(sizes_of(reader, "xfersize", USUAL_BYTES), reader.one("rdpct", percent_of, 100.0)),
        locality=locality,
        direct=direct,
        sync=sync,
        threads=threads,
        depth=depth,
        skew=reader.one("skew", percent_of, None),
        region=_region(reader, used),
        payload=payload_of(reader),
    )


def payload_of(reader: Reader) -> Payload:
    """What is written: data that shrink, or repeat, by the ratio that is asked for. Blocks of 4 KiB repeat here."""
    shrinks, repeats = reader.one("compratio", ratio_of, 1.0), reader.one("dedupratio", ratio_of, 1.0)
    if "dedupunit" in reader.parameters and reader.one("dedupunit", size_of, DEDUP_BYTES) != DEDUP_BYTES:
        reader.refuse("dedupunit", "blocks of 4 KiB repeat here", "dedupunit=4k")
    if shrinks > 1 and repeats > 1:
        reader.refuse("dedupratio", "data that shrink and repeat are not written", "give one of the two")
    if repeats > 1:
        return Dedupable(round(100 * (1 - 1 / repeats), 6))
    return Compressible(round(100 * (1 - 1 / shrinks), 6)) if shrinks > 1 else Unique()


def _mix(sizes: Sequence[tuple[int, float]], read_percent: float) -> tuple[MixItem, ...]:
    """Reads and writes of each size with their weights."""
    shares: tuple[tuple[Op, float], ...] = (("read", read_percent), ("write", 100 - read_percent))
    return tuple(
        MixItem(op, size_bytes, round(share * part / 100, 6))
        for op, share in shares
        for size_bytes, part in sizes
        if share and part
    )


def sizes_of(reader: Reader, key: str, usual: int) -> tuple[tuple[int, float], ...]:
    """One size, or sizes with their shares."""
    given = reader.parameters.get(key)
    if given is None or len(given.values) == 1:
        return ((reader.one(key, size_of, usual), 100.0),)
    if len(given.values) % 2:
        reader.refuse(key, "random sizes are not supported", f"a distribution: {key}=(4k,50,8k,50)")
        return ((usual, 100.0),)
    try:
        sizes = tuple(map(size_of, given.values[::2]))
        shares = tuple(map(percent_of, given.values[1::2]))
    except SpecError as error:
        reader.refuse(key, error.message, error.hint)
        return ((usual, 100.0),)
    if abs(sum(shares) - 100) > 0.01:
        reader.refuse(key, f"the shares add up to {sum(shares):g}", "make them add up to 100")
    return tuple(zip(sizes, shares, strict=True))


def _locality(reader: Reader) -> Locality:
    """Random unless it says otherwise, as vdbench is."""
    said = reader.parameters["seekpct"].text.lower() if "seekpct" in reader.parameters else "100"
    if said not in (*_SEQUENTIAL, *_RANDOM):
        way_out = "maxdata= of the storage ends a run there" if said == "eof" else "use two wd= with skew="
        reader.refuse("seekpct", "only 0 (sequential) and 100 (random) are supported", way_out)
    return Sequential(start="own_offset") if said in _SEQUENTIAL else Uniform()


def _streams(reader: Reader, locality: Locality) -> tuple[Locality, int, int]:
    """Threads and their depth. A stream is one sequence through a part of its own, with the outstanding I/Os of all
    threads that share it: one of our users."""
    threads, streams = reader.one("threads", whole_of, USUAL_THREADS), reader.one("streams", whole_of, None)
    if streams is None:
        return locality, threads, 1
    if streams < 2 or not isinstance(locality, Sequential):
        reader.refuse("streams", "2 or more streams of a sequential workload", "add seekpct=0, or leave streams= out")
    each = -(-threads // streams)
    if each * streams != threads:
        reader.problems.note(f"{threads} threads are {each * streams} for {streams} streams: {each} for each")
    return Sequential(start="own_region"), streams, each


def flags_of(reader: Reader) -> tuple[bool, Sync]:
    """Direct, and durable writes, where a flag says so."""
    flags = reader.parameters["openflags"].values if "openflags" in reader.parameters else ()
    sync: Sync = "none"
    for flag in (flag.lower() for flag in flags):
        if flag in _SYNC:
            sync = _SYNC[flag]
        elif flag not in (*_DIRECT, "none"):
            known = ", ".join((*_DIRECT, *_SYNC))
            reader.refuse("openflags", f"{flag} is not supported", f"supported: {known}")
    return any(flag.lower() in _DIRECT for flag in flags), sync


def _region(reader: Reader, used: Sequence[Storage]) -> tuple[int, int | None]:
    """Where in each storage it works: range=(40,60) in percent, or in bytes above 200."""
    given = reader.parameters.get("range")
    if given is None:
        return 0, None
    try:
        low, high = (parse_size(each) for each in given.values)
    except (SpecError, ValueError):
        reader.refuse("range", "two percentages or sizes are needed", "for example range=(40,60)")
        return 0, None
    if low >= high or 100 < high <= 200:
        reader.refuse("range", "it goes round the end, or backwards", "give it from low to high: range=(40,60)")
        return 0, None
    if high <= 100:
        size_bytes = used[0].size_bytes
        if size_bytes is None:
            reader.refuse("range", "the size of the storage is unknown", "add size= to its sd=")
            return 0, None
        low, high = (size_bytes * each // 100 // MIB * MIB for each in (low, high))
    return low, high - low


def as_one(ios: Sequence[Io]) -> Io | None:
    """Several workloads as one mix, each with its share; None where they differ in more than that."""
    first = ios[0]
    if len(ios) == 1:
        return first
    alike = {(each.storage, each.locality, each.direct, each.sync, each.threads, each.region) for each in ios}
    if len(alike) > 1 or not isinstance(first.locality, Uniform):
        return None
    weights: dict[tuple[Op, int], float] = {}
    for each, share in zip(ios, skews(ios), strict=True):
        for item in each.mix:
            key = (item.op, item.size_bytes)
            weights[key] = weights.get(key, 0.0) + item.weight * share / 100
    return replace(first, mix=tuple(MixItem(op, size, round(part, 6)) for (op, size), part in weights.items()))


def skews(ios: Sequence[Io]) -> tuple[float, ...]:
    """The share of each workload in percent: as given, the rest evenly over the others."""
    given = sum(each.skew or 0.0 for each in ios)
    without = sum(each.skew is None for each in ios)
    rest = (100 - given) / without if without else 0.0
    return tuple(rest if each.skew is None else each.skew for each in ios)
