"""Files that are no results: sums without I/Os and latencies, and jobs; whose they are, and what to give instead."""

from __future__ import annotations

import re

from msgspec import Struct

from iocast.errors import SourceError
from iocast.tools.fio.job_file import looks_like_fio
from iocast.tools.source_files import Head
from iocast.tools.vdbench.parameter_file import looks_like_vdbench

_OWN_JOB = re.compile(r"^\[(?:\[phase\]|files|defaults|tree|database)\]", re.MULTILINE)
_CAPTURE = "trace single I/Os: `iocast capture`, or biosnoop"


class Summary(Struct, frozen=True):
    """What a file is whose heading is `heading`, and the way out."""

    heading: re.Pattern[str]
    says: str
    instead: str


SUMMARIES = (
    Summary(
        re.compile(r"=+ All Devices =+$"),
        "a report of btt: means of all requests, and no single one",
        "give the binary traces that btt has read: NAME.blktrace.*",
    ),
    Summary(
        re.compile(r"\s*HITS\s+MISSES\s+DIRTIES\s"),
        "the output of cachestat: hits and misses of the page cache in each interval",
        _CAPTURE,
    ),
    Summary(
        re.compile(r"[PT]ID\s+COMM\s+READS\s+WRITES\s+R_Kb\s+W_Kb\s"),
        "the output of filetop: counts of each file in each interval",
        _CAPTURE,
    ),
    Summary(
        re.compile(r"TIME\s+DISK\s+%RND\s+%SEQ\s+COUNT\s+KBYTES"),
        "the output of biopattern: shares of random and sequential I/Os in each interval",
        _CAPTURE,
    ),
    Summary(
        re.compile(r"TIME\s+COMM\s+PID\s+T\s+BYTES\s+OFF_KB\s+LAT\(ms\)\s+FILENAME"),
        "the output of a tool for slow I/Os (ext4slower, xfsslower): those below its threshold are missing",
        _CAPTURE,
    ),
    Summary(
        re.compile(r"\s*Kbytes\s+: I/O\s+Distribution"),
        "the output of bitesize: counts of sizes, without times",
        _CAPTURE,
    ),
    Summary(
        re.compile(r"@\[vfs_[a-z]+\]: \d+$"),
        "the output of vfsstat: counts of calls in each interval",
        _CAPTURE,
    ),
    Summary(
        re.compile(r"device \S+ mounted on \S+ with fstype "),
        "a copy of /proc/self/mountstats: counters since the mount",
        "`iocast capture --path` traces the I/Os of a mount; `nfsiostat` shows what its counters say",
    ),
)


def refused_summary(path: str, head: Head) -> SourceError | None:
    """The refusal of a summary or a job, which names it; None for all other files."""
    if job := _job(head.text):
        return SourceError(f"{path} is {job}", f"run it: iocast run {path} PATH")
    summary = next((each for line in head.lines() for each in SUMMARIES if each.heading.match(line)), None)
    return SourceError(f"{path} is {summary.says}", summary.instead) if summary else None


def _job(text: str) -> str:
    """What kind of job it is, "" where it is none."""
    if looks_like_fio(text):
        return "a job for fio, not its result"
    if looks_like_vdbench(text):
        return "a parameter file of vdbench, not its result"
    return "a job of iocast, not a result" if _OWN_JOB.search(text) else ""
