"""Understands one section of a fio job file by itself: what I/O, how much at once, where, for how long."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from iocast.model.plan import EngineName, Polling
from iocast.model.workload import MOST_USERS
from iocast.tools.fio.fio_keys import ENGINES, NEAREST_ENGINE
from iocast.tools.fio.fio_mix import Sizes, distribution, pace, sizes, split_rw
from iocast.tools.fio.fio_settings import FioProblems, Reader
from iocast.tools.fio.job_file import Section
from iocast.tools.fio.job_options import SYNC_WORDS, last_of
from iocast.tools.fio.quantities import read_whole
from iocast.tools.line_problems import meant
from iocast.units import LARGEST, duration_text

# fio's checksums: iocast seals every sector in a way of its own, whichever it is. crc32c is what fio computes fastest.
CHECKSUM = "crc32c"
_SUMS = (
    *("md5", "crc64", "crc32c", "crc32c-intel", "crc32", "crc16", "crc7", "xxhash", "sha512", "sha256", "sha1"),
    *("sha3-224", "sha3-256", "sha3-384", "sha3-512", "meta"),
)
_NO_SUMS = {
    "pattern": ("every sector is sealed, so all sectors differ", f"verify={CHECKSUM}"),
    "pattern_hdr": ("every sector is sealed, so all sectors differ", f"verify={CHECKSUM}"),
    "null": ("it does not really verify", f"leave it out, or verify={CHECKSUM}"),
}
_CRITERION = re.compile(r"(iops|bw|lat)(_slope)?:(\d+(?:\.\d+)?)(%?)")
_S = 1_000_000_000
LEAST_NS = 60 * _S
OVER_ALL_PERCENT = 5.0  # what the rule b3 allows over all that it keeps


class Place(Struct, frozen=True, kw_only=True):
    """Where a section's users go, as it says; a size or offset is bytes or per cent, None is not given."""

    files: tuple[str, ...] = ()  # the names in filename; none: every user has files of its own
    own_files: tuple[str, ...] = ()  # their names, where several sections became one with a file each
    file_count: int = 1  # files of one user
    turn_ios: int | None = 1  # I/Os until the next file has its turn; 0: one file after the other, None: drawn
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


class SectionRequest(Struct, frozen=True, kw_only=True):
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

    @property
    def file_names(self) -> tuple[str, ...]:
        """What fio calls its files: those without filename after the section, the job and their number."""
        place = self.place
        each = range(place.file_count)
        own = (f"{self.name}.{user}.{number}" for user in range(self.users) for number in each)
        return tuple(dict.fromkeys(place.files or place.own_files or own))

    def line_of(self, *keys: str) -> int:
        """The line of the first of `keys` that is there, or of the section."""
        return next((self.lines[key] for key in keys if key in self.lines), self.line)


def understand(section: Section, problems: FioProblems) -> SectionRequest:
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
    back = _verifies(reader, writes, load)
    engine = _engine(reader, load)
    _think(reader, load)
    _check_sectors(reader, mix, load)
    return SectionRequest(
        name=reader.text("name") or section.name,
        line=section.line,
        engine=engine,
        polling=_polling(reader, engine),
        load=load,
        rate_per_s=rate_per_s,
        users=reader.whole("numjobs", 1, MOST_USERS),
        place=_place(reader),
        ends=_ends(reader),
        ramp_ns=reader.time("ramp_time") or 0,
        role="measure" if reader.flag("stats") else "warm",
        back=back,
        waits=reader.flag("stonewall"),
        waits_for=reader.text("wait_for"),
        lines={key: setting.line for key, setting in section.settings.items()},
    )


def _access(reader: Reader, writes: bool, load: dict[str, Any]) -> None:
    """Direct or not, durable or not, and what is written."""
    load["direct"] = reader.flag("direct")
    if last_of(reader.section.settings, "direct", "buffered") == "buffered":
        load["direct"] = not reader.flag("buffered")
    sync = reader.choice("sync", SYNC_WORDS)
    fsync_every, fdatasync_every = reader.whole("fsync"), reader.whole("fdatasync")
    if fsync_every and fdatasync_every:
        reader.refuse("fdatasync", "it contradicts fsync", "keep one")
    if writes:
        syncs = {"fdatasync_every": fdatasync_every} if fdatasync_every else {"fsync_every": fsync_every}
        load |= {"sync": sync, **syncs, **_payload(reader)}


def _payload(reader: Reader) -> dict[str, str]:
    """The payload, or how compressible or dedupable it is; 0 and 100 per cent of both are payloads of their own."""
    compress = reader.whole("buffer_compress_percentage", 0, 100)
    dedupe = reader.whole("dedupe_percentage", 0, 100)
    zeros = reader.flag("zero_buffers") or compress == 100
    if dedupe and (zeros or compress):
        reader.refuse("dedupe_percentage", "data cannot be both compressible and dedupable", "keep one of them")
    if zeros:
        return {"payload": "zeros"}
    if compress:
        return {"compressible": f"{compress}%"}
    if 0 < dedupe < 100:
        return {"dedupable": f"{dedupe}%"}
    again = dedupe == 100 or not (reader.flag("refill_buffers") or reader.flag("scramble_buffers"))
    return {"payload": "repeated" if again else "unique"}


def _engine(reader: Reader, load: dict[str, Any]) -> EngineName:
    text = reader.text("ioengine")
    if text not in ENGINES:
        nearest = NEAREST_ENGINE.get(text, "")
        known = f"ioengine is one of {', '.join(ENGINES)}"
        said = "unknown engine" + ("" if nearest else meant(text, ENGINES))
        reader.refuse("ioengine", said, f"nearest: {nearest}" if nearest else "", known)
    engine: EngineName = "uring" if ENGINES.get(text) == "uring" else "sync"
    load["depth"] = reader.whole("iodepth", 1, MOST_USERS)
    if engine == "sync" and text in ENGINES and load["depth"] > 1:
        reader.note(f"iodepth={load['depth']} with ioengine={text}: queue depth is 1, as in fio")
        load["depth"] = 1
    return engine


def _polling(reader: Reader, engine: EngineName) -> Polling:
    keys = [key for key in ("sqthread_poll", "hipri") if reader.flag(key)]
    if not keys:
        return "none"
    if engine != "uring":
        reader.refuse(keys[0], "only io_uring polls", "ioengine=io_uring")
    elif len(keys) > 1:
        reader.refuse(keys[1], "one polling mode at a time", f"leave out {keys[0]} or {keys[1]}")
    return "sqpoll" if keys[0] == "sqthread_poll" else "iopoll"


def _think(reader: Reader, load: dict[str, Any]) -> None:
    think_ns = reader.time("thinktime")
    blocks = reader.whole("thinktime_blocks", 1)
    if think_ns is None:
        return
    if blocks != 1:
        reader.refuse("thinktime_blocks", "iocast pauses after every I/O or not at all", "thinktime_blocks=1")
    if "arrival" in load:
        way_out = "keep one: rate for an open loop, thinktime for a closed one"
        reader.refuse("thinktime", "it contradicts rate", way_out)
    load["think"] = duration_text(think_ns)
    if load["depth"] > 1:
        reader.note(f"iodepth={load['depth']} with thinktime: queue depth is 1, as in fio")
        load["depth"] = 1


def _check_sectors(reader: Reader, mix: Sizes, load: dict[str, Any]) -> None:
    """O_DIRECT needs whole sectors; said here in fio's own words."""
    odd = [size for weights in mix.values() for size in weights if size % 512]
    key = "bssplit" if reader.has("bssplit") else "bs"
    if load["direct"] and odd and reader.has(key):
        reader.refuse(
            key, f"{odd[0]} is not a multiple of 512 bytes, as direct I/O requires", "direct=0, or whole sectors"
        )
    if "stride" in load and load["direct"] and load["stride"] % 512:
        reader.refuse("rw", "the step is not a multiple of 512 bytes, as direct I/O requires", "whole sectors")


def _place(reader: Reader) -> Place:
    names = tuple(name for name in reader.text("filename").split(":") if name)
    count = len(names) or reader.whole("nrfiles", 1)
    size_bytes, size_percent = reader.share("size")
    offset_bytes, offset_percent = reader.share("offset")
    step_bytes, step_percent = reader.share("offset_increment")
    return Place(
        files=names,
        file_count=count,
        turn_ios=_turn_ios(reader),
        file_bytes=reader.size("filesize"),
        size_bytes=size_bytes or None,
        size_percent=size_percent or None,
        offset_bytes=offset_bytes or 0,
        offset_percent=offset_percent or None,
        step_bytes=step_bytes or None,
        step_percent=step_percent or None,
    )


def _turn_ios(reader: Reader) -> int | None:
    """How long each file has its turn."""
    kind, _, ios = reader.text("file_service_type").partition(":")
    if kind == "sequential":
        return 0
    if kind != "roundrobin":
        return None
    return reader.value("file_service_type", lambda _: read_whole(ios, 1, LARGEST), 1) if ios else 1


def _ends(reader: Reader) -> Ends:
    runtime_ns = reader.time("runtime")
    time_based = reader.flag("time_based")
    if time_based and runtime_ns is None:
        reader.refuse("time_based", "needs a runtime", "runtime=60")
    io_bytes, io_percent = reader.share("io_size")
    return Ends(
        runtime_ns=runtime_ns,
        time_based=time_based and runtime_ns is not None,
        io_bytes=io_bytes or None,
        io_percent=io_percent or None,
        ios=reader.whole("number_ios") or None,
        loops=reader.whole("loops", 1),
        steady_ns=_steady_ns(reader, runtime_ns),
    )


def _steady_ns(reader: Reader, runtime_ns: int | None) -> int | None:
    """The time after which a section is first judged, None when it ends by its time alone."""
    text = reader.text("steadystate")
    match = _CRITERION.fullmatch(text)
    if not text or text == "none":
        return None
    if match is None:
        reader.refuse("steadystate", "expected a metric and a limit", "steadystate=iops_slope:0.1%")
        return None
    figure, is_slope, limit, share = match.groups()
    if figure == "lat" or not share:
        why = "iocast judges a closed loop by its IOPS, relative to their mean"
        reader.refuse("steadystate", why, "nearest: steadystate=iops:5%")
        return None
    if runtime_ns is None:
        reader.refuse("steadystate", "needs an upper limit", "give runtime")
        return None
    window_ns = reader.time("steadystate_duration")
    if window_ns is None:
        reader.note("steadystate without steadystate_duration has no effect, as in fio")
        return None
    first_ns = max(LEAST_NS, min(window_ns, runtime_ns // 2))
    if runtime_ns < 2 * first_ns:
        reader.refuse("steadystate", "the runtime is too short to judge it (2 minutes needed)", "a longer runtime")
        return None
    reader.note(f"steadystate={text}: judged by rule b3 after {duration_text(2 * first_ns)}, then after twice that")
    if is_slope:
        _warn_of_drift(reader, float(limit), window_ns)
    return first_ns


def _warn_of_drift(reader: Reader, limit: float, window_ns: int) -> None:
    """fio's slope is that of one check, one second by default: the window may drift by as many times it."""
    check_ns = reader.time("steadystate_check_interval") or _S
    drift = limit * window_ns / check_ns
    if drift > OVER_ALL_PERCENT:
        reader.note(
            f"fio applies the slope of {limit:g}% to each check of {duration_text(check_ns)}: over its window of "
            f"{duration_text(window_ns)} that allows {drift:g}%; iocast allows a total drift of {OVER_ALL_PERCENT:g}%"
        )


def _verifies(reader: Reader, writes: bool, load: dict[str, Any]) -> bool:
    """Whether a section reads back; marks its load when it writes what is to be read back."""
    text = reader.text("verify")
    if text in _NO_SUMS:
        reader.refuse("verify", *_NO_SUMS[text])
        return False
    if not reader.choice("verify", {"0": False, **dict.fromkeys(_SUMS, True)}):
        return False
    if not writes:
        reader.note("reads back everything written with verify, each block once: its own bs, size and iodepth do not")
        return True
    load["verify"] = True
    if load.get("payload") == "repeated":
        load["payload"] = "unique"  # as in fio, where what is to be verified is never the same twice
    interval_bytes = reader.size("verify_interval")
    if interval_bytes:
        load["verify_block"] = interval_bytes
    back = reader.flag("do_verify")
    if not back:
        reader.note("is not read back; iocast verify RUN does that later")
    elif reader.has("runtime"):
        reader.note("is read back in full, even after its runtime has ended, where fio reads nothing")
    return back
