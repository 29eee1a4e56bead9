"""fio's options, each known once: other names, defaults, units, the words of rw=, which engines wait for each I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

Op = Literal["read", "write", "trim"]
OPS: tuple[Op, ...] = ("read", "write", "trim")  # also the order of the parts of bs=8k,32k,1m

# How else fio calls an option -> the option.
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "blockalign": "ba",
    "fileoffset": "offset",
    "io_limit": "io_size",
    "timeout": "runtime",
    "wait_for_previous": "stonewall",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "ratemin": "rate_min",
    "iomem": "mem",
    "iomem_align": "mem_align",
    "start_delay": "startdelay",
    "exit_on_error": "exitall_on_error",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "ss_interval": "steadystate_check_interval",
}


class Option(NamedTuple):
    """What fio takes an option for. `unit` is that of a number without one; a "share" is a size or a percentage."""

    kind: Literal["word", "text", "size", "share", "time", "whole", "flag", "list"]
    means: str
    default: str = ""
    unit: str = ""


# The options that something here reads, in the order of the guide.
OPTIONS: Mapping[str, Option] = {
    "rw": Option("word", "I/O direction, sequential or random; :N is a step", "read"),
    "rwmixread": Option("whole", "per cent of reads in a mix", "50"),
    "rwmixwrite": Option("whole", "per cent of writes in a mix; the later of both counts"),
    "bs": Option("list", "bytes of each I/O: for reads, writes, trims", "4k", "bytes"),
    "bssplit": Option("list", "several sizes with their shares: 4k/60:64k/40", "", "bytes"),
    "random_distribution": Option("text", "where random I/Os go", "random"),
    "ioengine": Option("word", "how I/Os are submitted", "psync"),
    "sqthread_poll": Option("flag", "the kernel polls for submissions", "0"),
    "hipri": Option("flag", "the worker polls for completions", "0"),
    "iodepth": Option("whole", "I/Os that each job keeps outstanding", "1"),
    "numjobs": Option("whole", "jobs that do the same", "1"),
    "direct": Option("flag", "direct I/O, bypassing the page cache (O_DIRECT)", "0"),
    "buffered": Option("flag", "the opposite of direct; the later of both counts", "1"),
    "sync": Option("word", "O_SYNC or O_DSYNC", "none"),
    "fsync": Option("whole", "writes between two fsync calls", "0"),
    "fdatasync": Option("whole", "writes between two fdatasync calls", "0"),
    "size": Option("share", "data that a job covers, in all its files together", "", "bytes"),
    "filesize": Option("size", "size of each file", "", "bytes"),
    "offset": Option("share", "offset at which a job begins", "0", "bytes"),
    "offset_increment": Option("share", "added to the offset of each further job", "0", "bytes"),
    "io_size": Option("share", "bytes that a job moves", "", "bytes"),
    "number_ios": Option("whole", "I/Os of a job", "0"),
    "loops": Option("whole", "number of times a job is repeated", "1"),
    "runtime": Option("time", "time after which a job ends", "0", "s"),
    "time_based": Option("flag", "a job repeats until its runtime is over", "0"),
    "ramp_time": Option("time", "time before anything is counted", "0", "s"),
    "stats": Option("flag", "the job counts", "1"),
    "stonewall": Option("flag", "begins when all jobs above have ended", "0"),
    "wait_for": Option("text", "begins when the named job has ended"),
    "steadystate": Option("text", "ends when a figure stays within a limit", "none"),
    "steadystate_duration": Option("time", "the window of steadystate", "0", "s"),
    "steadystate_check_interval": Option("time", "between two checks of steadystate", "1", "s"),
    "rate": Option("list", "bandwidth limit of a job: reads, writes, trims", "", "bytes"),
    "rate_iops": Option("list", "IOPS limit of a job: reads, writes, trims"),
    "rate_process": Option("word", "arrival process of a rate", "linear"),
    "thinktime": Option("time", "pause between I/Os", "0", "us"),
    "thinktime_blocks": Option("whole", "I/Os between two pauses", "1"),
    "zero_buffers": Option("flag", "zeros are written", "0"),
    "refill_buffers": Option("flag", "every write has new content", "0"),
    "scramble_buffers": Option("flag", "content is changed a little for each write", "1"),
    "buffer_compress_percentage": Option("whole", "how far data can be compressed", "0"),
    "dedupe_percentage": Option("whole", "writes that repeat others", "0"),
    "verify": Option("word", "the checksum of what is written", "0"),
    "do_verify": Option("flag", "what was written is read back", "1"),
    "verify_interval": Option("size", "bytes under one checksum", "", "bytes"),
    "filename": Option("text", "files, with colons between them"),
    "nrfiles": Option("whole", "files of a job without filename", "1"),
    "file_service_type": Option("text", "in which order a job uses its files", "roundrobin"),
    "name": Option("text", "name of the job"),
    "description": Option("text", "description of the job"),
    "kb_base": Option("whole", "value of k: 1000 or 1024", "1024"),
    "norandommap": Option("flag", "random blocks may repeat before all have been visited", "0"),
}

# Options of fio's command line that people put into job files, where fio refuses them too.
COMMAND_LINE = frozenset(
    (
        *("output", "output-format", "bandwidth-log", "minimal", "append-terse", "terse-version", "eta"),
        *("eta-interval", "eta-newline", "status-interval", "section", "debug", "readonly", "max-jobs", "server"),
        *("client", "idle-prof", "inflate-log", "warnings-fatal", "parse-only", "showcmd", "aux-path", "alloc-size"),
    )
)


class Kind(NamedTuple):
    """What a word of rw= says: the operations, and whether they go to random places."""

    ops: tuple[Op, ...]
    random: bool


RW: Mapping[str, Kind] = {
    "read": Kind(("read",), False),
    "write": Kind(("write",), False),
    "rw": Kind(("read", "write"), False),
    "readwrite": Kind(("read", "write"), False),
    "randread": Kind(("read",), True),
    "randwrite": Kind(("write",), True),
    "randrw": Kind(("read", "write"), True),
    "trim": Kind(("trim",), False),
    "randtrim": Kind(("trim",), True),
    "trimwrite": Kind(("trim", "write"), False),
    "randtrimwrite": Kind(("trim", "write"), True),
}
SYNC_WORDS: Mapping[str, Literal["none", "sync", "dsync"]] = {
    "none": "none",
    "0": "none",
    "sync": "sync",
    "1": "sync",
    "dsync": "dsync",
}
POISSON = {"linear": False, "poisson": True}  # rate_process
QUEUEING = ("io_uring", "libaio", "posixaio")
ONE_BY_ONE = ("psync", "sync", "vsync", "pvsync", "pvsync2")
# They keep one I/O outstanding each, whatever iodepth says.
SYNCHRONOUS = frozenset((*ONE_BY_ONE, "mmap", "splice", "ftruncate", "filecreate"))


def canonical(given: Mapping[str, str]) -> dict[str, str]:
    """The same options by fio's own names, in their order; the later one counts."""
    values: dict[str, str] = {}
    for name, text in given.items():
        key = ALIASES.get(name, name)
        values.pop(key, None)
        values[key] = text
    return values


def last_of(given: Iterable[str], *names: str) -> str:
    """Which of these options is given last, and so counts; "" when none is."""
    return next((name for name in reversed(tuple(given)) if name in names), "")


def part_of(text: str, op: Op) -> str:
    """The part of a list such as "8k,32k," for one operation: a value counts for those after it too."""
    parts = [part.strip() for part in text.split(",")]
    return parts[min(OPS.index(op), len(parts) - 1)]


def ops_of(rw: str) -> tuple[Op, ...]:
    """The operations that move data in rw=, also in words that only fio's output has."""
    kind = rw.lower().partition(":")[0]
    if kind == "randreadwrite":
        return ("read", "write")
    return tuple(op for op in OPS if op in (RW[kind].ops if kind in RW else kind))
