"""Understands one section of a fio job file by itself: what I/O, how much at once, where, for how long."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from iocast.jobs.fio.fio_keys import ENGINES, NEAREST_ENGINE
from iocast.jobs.fio.fio_mix import Sizes, distribution, pace, sizes, split_rw
from iocast.jobs.fio.fio_settings import Reader
from iocast.jobs.fio.fio_steady import steady_ns
from iocast.jobs.fio.fio_text import FioProblems, Section
from iocast.jobs.fio.fio_verify import verifies
from iocast.jobs.problems import meant
from iocast.jobs.toml.inner_tables import MOST_USERS
from iocast.model.plan import EngineName, Polling
from iocast.units import duration_text


class Place(Struct, frozen=True, kw_only=True):
    """Where a section's users go, as it says; a size or offset is bytes or per cent, None is not given."""

    files: tuple[str, ...] = ()  # the names in filename; none: every user has files of its own
    file_count: int = 1  # files of one user
    in_order: bool = False  # one file after the other, not in turn
    file_bytes: int | None = None
    size_bytes: int | None = None
    size_percent: int | None = None
    offset_bytes: int = 0
    offset_percent: int | None = None
    step_bytes: int | None = None  # offset_increment
    step_percent: int | None = None


class Ends(Struct, frozen=True, kw_only=True):
    """When a user of a section ends, as it says."""

    runtime_ns: int | None = None
    time_based: bool = False
    io_bytes: int | None = None
    io_percent: int | None = None
    ios: int | None = None
    loops: int = 1
    steady_ns: int | None = None  # until steady, judged first after this time


class Asked(Struct, frozen=True, kw_only=True):
    """One section, understood. `load` has fields of a job file's [[phase]]; a rate is that of one user."""

    name: str
    line: int
    engine: EngineName
    polling: Polling
    load: dict[str, Any]
    rate_per_s: float | None
    users: int
    place: Place
    ends: Ends
    ramp_ns: int
    role: str
    back: bool  # reads back: after its writes, or, without writes, in place of its reads
    waits: bool
    waits_for: str
    lines: dict[str, int]

    def line_of(self, *keys: str) -> int:
        """The line of the first of `keys` that is there, or of the section."""
        return next((self.lines[key] for key in keys if key in self.lines), self.line)


def understand(section: Section, problems: FioProblems) -> Asked:
    """What a section asks for; notes every problem that it has by itself."""
    reader = Reader(section, problems)
    directions, random = split_rw(reader)
    load: dict[str, Any] = {}
    mix: Sizes = {direction.op: sizes(reader, direction.op) for direction in directions}
    directions, rate_per_s = pace(reader, directions, mix, load)
    load["mix"] = [
        {"op": direction.op, "size": size_bytes, "weight": direction.percent * percent / 100}
        for direction in directions
        for size_bytes, percent in mix[direction.op].items()
    ]
    distribution(reader, random, mix, load)
    writes = any(direction.op == "write" for direction in directions)
    _access(reader, writes, load)
    back = verifies(reader, writes, load)
    engine = _engine(reader, load)
    _think(reader, load)
    _check_sectors(reader, mix, load)
    return Asked(
        name=reader.text("name") or section.name,
        line=section.line,
        engine=engine,
        polling=_polling(reader, engine),
        load=load,
        rate_per_s=rate_per_s,
        users=reader.whole("numjobs", 1, 1, MOST_USERS),
        place=_place(reader),
        ends=_ends(reader),
        ramp_ns=reader.time("ramp_time", "s") or 0,
        role="measure" if reader.flag("stats", True) else "warm",
        back=back,
        waits=reader.flag("stonewall"),
        waits_for=reader.text("wait_for"),
        lines={key: setting.line for key, setting in section.settings.items()},
    )


def _access(reader: Reader, writes: bool, load: dict[str, Any]) -> None:
    """Direct or not, durable or not, and what is written."""
    load["direct"] = reader.flag("direct")
    if reader.has("buffered"):
        order = list(reader.section.settings)
        if not reader.has("direct") or order.index("buffered") > order.index("direct"):
            load["direct"] = not reader.flag("buffered")
    kinds = {"none": "none", "0": "none", "sync": "sync", "1": "sync", "dsync": "dsync"}
    sync = reader.choice("sync", kinds, "none")
    fsync_every, fdatasync_every = reader.whole("fsync", 0), reader.whole("fdatasync", 0)
    if fsync_every and fdatasync_every:
        reader.refuse("fdatasync", "together with fsync it says two things", "keep one")
    if writes:
        syncs = {"fdatasync_every": fdatasync_every} if fdatasync_every else {"fsync_every": fsync_every}
        load |= {"sync": sync, **syncs, **_payload(reader)}


def _payload(reader: Reader) -> dict[str, str]:
    """The payload, or how compressible or dedupable it is; 0 and 100 per cent of both are payloads of their own."""
    compress = reader.whole("buffer_compress_percentage", 0, 0, 100)
    dedupe = reader.whole("dedupe_percentage", 0, 0, 100)
    zeros = reader.flag("zero_buffers") or compress == 100
    if dedupe and (zeros or compress):
        reader.refuse("dedupe_percentage", "data that compresses and dedupes cannot be written", "keep one of them")
    if zeros:
        return {"payload": "zeros"}
    if compress:
        return {"compressible": f"{compress}%"}
    if 0 < dedupe < 100:
        return {"dedupable": f"{dedupe}%"}
    again = dedupe == 100 or not (reader.flag("refill_buffers") or reader.flag("scramble_buffers", True))
    return {"payload": "repeated" if again else "unique"}


def _engine(reader: Reader, load: dict[str, Any]) -> EngineName:
    text = reader.text("ioengine", "psync")
    if text not in ENGINES:
        nearest = NEAREST_ENGINE.get(text, "")
        known = f"ioengine is one of {', '.join(ENGINES)}"
        said = "not an engine of iocast" + ("" if nearest else meant(text, ENGINES))
        reader.refuse("ioengine", said, f"nearest: {nearest}" if nearest else "", known)
    engine: EngineName = "uring" if ENGINES.get(text) == "uring" else "sync"
    load["depth"] = reader.whole("iodepth", 1, 1, MOST_USERS)
    if engine == "sync" and text in ENGINES and load["depth"] > 1:
        reader.note(f"iodepth={load['depth']} with ioengine={text}: one I/O at a time, as in fio")
        load["depth"] = 1
    return engine


def _polling(reader: Reader, engine: EngineName) -> Polling:
    asked = [key for key in ("sqthread_poll", "hipri") if reader.flag(key)]
    if not asked:
        return "none"
    if engine != "uring":
        reader.refuse(asked[0], "only io_uring polls", "ioengine=io_uring")
    elif len(asked) > 1:
        reader.refuse(asked[1], "one polling mode at a time", f"leave out {asked[0]} or {asked[1]}")
    return "sqpoll" if asked[0] == "sqthread_poll" else "iopoll"


def _think(reader: Reader, load: dict[str, Any]) -> None:
    think_ns = reader.time("thinktime", "us")
    blocks = reader.whole("thinktime_blocks", 1, 1)
    if think_ns is None:
        return
    if blocks != 1:
        reader.refuse("thinktime_blocks", "there is a pause after every I/O, or none", "thinktime_blocks=1")
    if "arrival" in load:
        way_out = "keep one: a rate for I/Os that come by the clock, thinktime for users that wait for answers"
        reader.refuse("thinktime", "together with a rate it says two things", way_out)
    load["think"] = duration_text(think_ns)
    if load["depth"] > 1:
        reader.note(f"iodepth={load['depth']} with thinktime: one I/O at a time, as in fio")
        load["depth"] = 1


def _check_sectors(reader: Reader, mix: Sizes, load: dict[str, Any]) -> None:
    """O_DIRECT needs whole sectors; said here in fio's own words."""
    odd = [size for weights in mix.values() for size in weights if size % 512]
    key = "bssplit" if reader.has("bssplit") else "bs"
    if load["direct"] and odd and reader.has(key):
        reader.refuse(
            key, f"{odd[0]} is not a multiple of 512 bytes, which direct I/O needs", "direct=0, or whole sectors"
        )
    if "stride" in load and load["direct"] and load["stride"] % 512:
        reader.refuse("rw", "the step is not a multiple of 512 bytes, which direct I/O needs", "whole sectors")


def _place(reader: Reader) -> Place:
    names = tuple(name for name in reader.text("filename").split(":") if name)
    count = len(names) or reader.whole("nrfiles", 1, 1)
    size_bytes, size_percent = reader.share("size")
    offset_bytes, offset_percent = reader.share("offset")
    step_bytes, step_percent = reader.share("offset_increment")
    return Place(
        files=names,
        file_count=count,
        in_order=reader.text("file_service_type").partition(":")[0] == "sequential",
        file_bytes=reader.size("filesize"),
        size_bytes=size_bytes or None,
        size_percent=size_percent or None,
        offset_bytes=offset_bytes or 0,
        offset_percent=offset_percent or None,
        step_bytes=step_bytes or None,
        step_percent=step_percent or None,
    )


def _ends(reader: Reader) -> Ends:
    runtime_ns = reader.time("runtime", "s")
    time_based = reader.flag("time_based")
    if time_based and runtime_ns is None:
        reader.refuse("time_based", "for how long?", "give runtime=60")
    io_bytes, io_percent = reader.share("io_size")
    return Ends(
        runtime_ns=runtime_ns,
        time_based=time_based and runtime_ns is not None,
        io_bytes=io_bytes or None,
        io_percent=io_percent or None,
        ios=reader.whole("number_ios", 0) or None,
        loops=reader.whole("loops", 1, 1),
        steady_ns=steady_ns(reader, runtime_ns),
    )
