"""fio's normal output for people, of fio 1.50 to 3.x: line by line to what each job states."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from iocast.tools.fio.job_options import OPS, SYNCHRONOUS, Op, ops_of
from iocast.tools.fio.latency_bins import buckets
from iocast.tools.fio.quantities import PRINTED_NS
from iocast.tools.fio.results import MIXED_HINT, MIXED_ONLY, JobResult, Side
from iocast.tools.foreign_numbers import LARGEST_NUMBER, number, number_of, whole
from iocast.tools.source_files import refuse

# Every pattern takes a time that grows with the line, whatever is in it: no part can begin inside another.
START = re.compile(
    r"^: \(g=(?P<group>\d+)\): rw=(?P<rw>[^,]+), .*?\bioengine=(?P<engine>[^\s,=]+), iodepth=(?P<depth>\d{1,9})\b"
)
SIZES = re.compile(r"\bbs=([^=]*), ioengine=")
VERSION = re.compile(r"^fio[- ](?P<version>\d+\.\S*)\s*$")
GROUP = re.compile(
    r"^(?P<name>.*): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d{1,9})\): err=\s*(?P<err>\d{1,9})(?P<rest>.*)$"
)
PID = re.compile(r"pid=(\d+)")
OLD_SIDE = re.compile(
    r"^\s*(read|write|trim)\s*: io=\s*(\S+), bw=\s*(\S+(?: B/s)?), iops=\s*(\S+?)\s*, runt=\s*(\d{1,15})msec"
)
NEW_SIDE = re.compile(
    r"^\s*(read|write|trim): IOPS=(\S+), BW=([^\s/]+)(?:/s)? \(([^\s()/]+)(?:/s)?\)\s*\(([^\s()]+)/(\d{1,15})msec\)"
)
MIXED = re.compile(r"^\s*mixed\s*: (?:io=|IOPS=)")
ANY_SIDE = re.compile(r"^\s*(read|write|trim)\s*: (?:io=|IOPS=)")
LATENCY = re.compile(
    r"^\s*(slat|clat|lat|sync) \((nsec|usec|msec|sec)\)\s*: min=\s*(\S+?)\s*, max=\s*(\S+?)\s*,"
    r" avg=\s*(\S+?)\s*, stdev=\s*(\S+?)\s*$"
)
PERCENTILES = re.compile(r"^\s*(clat|lat|slat|sync) percentiles \((nsec|usec|msec)\)\s*:")
PERCENTILE = re.compile(r"(?<![\d.])([\d.]+)th=\[>?\s*([\d.]+[kKMG]?)\]")
SHARES = re.compile(r"^\s*lat \((nsec|usec|msec)\)\s*: ((?:>?=?\d{1,9}=[\d.]{1,40}%[, ]*)+)$")
OTHER_PERCENTILES = re.compile(r"percentiles \((nsec|usec|msec)\)\s*:\s*$")  # of each priority
LIKE_LATENCY = re.compile(r"^\s*(?:slat|clat|lat|sync) \(")
SHARE = re.compile(r"(>=)?(\d{1,9})=([\d.]{1,40})%")
ISSUED = re.compile(r"^\s*issued[^:]*:\s*total=([^ ]+?),? short=(\S+)")
CLIENT = re.compile(r"^<[^>]*> ?")
SHORT = {"nsec": "ns", "usec": "us", "msec": "ms"}
_RANGE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?) ?([kKMGT]?)i?B?-(\d+(?:\.\d+)?) ?([kKMGT]?)i?B?")
_DIGIT = re.compile(r"[0-9]")
_PARTED = re.compile(r"[/,]")
_AMOUNT = re.compile(r"([\d.]{1,40})([kKMGTP]?)(i?)B?")
SIZE_SLACK = 0.01  # io= is printed with three figures or four
CUT = re.compile(r"[0-9]{1,20}\.0([kKMGTP]i?B)")  # fio 3.0 to 3.7 print 24.9 GiB as "24.0GiB"


def without_prefix(lines: list[str]) -> list[str]:
    """The lines without what a log or a text around them put before each: blanks, a time, a level.

    It is what they have in common up to a blank, but for digits; nothing where fio's own version begins a line.
    """
    if any(VERSION.match(line) for line in lines):
        return lines
    shapes = [_DIGIT.sub("0", line) for line in lines if line.strip()]
    common = _common([shape for shape in shapes if " " in shape.strip()])
    length = common.rfind(" ") + 1
    blank = common.rstrip()
    if not length or any(shape[:length] != common[:length] and shape != blank for shape in shapes):
        return lines
    return [line[length:] for line in lines]


def _common(lines: list[str]) -> str:
    """What all of these begin with."""
    first, last = min(lines, default=""), max(lines, default="")
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first[:same]


def begins(lines: Iterator[str]) -> bool:
    """Whether one of these lines is the head line of a job, or begins its result."""
    plain = (CLIENT.sub("", line) for line in lines)
    return any(start_of(line) or GROUP.match(line) for line in plain)


def start_of(line: str) -> tuple[str, re.Match[str]] | None:
    """The name of the job that a line says the start of, and what it says."""
    at = line.rfind(": (g=")
    match = START.match(line[at:]) if at > 0 else None
    return (line[:at], match) if match else None


class StartLine:
    """What fio says of a job before it starts: "name: (g=0): rw=randread, bs=8K-8K/8K-8K, ioengine=..."."""

    def __init__(self, rw: str, sizes: str, engine: str, depth: int) -> None:
        self.rw, self.engine = rw.strip(), engine
        self.depth: int | None = 1 if engine in SYNCHRONOUS else depth
        self.sizes = [_one_size(*match) for match in _RANGE.findall(sizes)]

    @classmethod
    def of_all(cls, starts: Sequence[StartLine]) -> StartLine:
        """What all sections of a group have in common; an I/O of each operation is of those that do it."""
        engines, depths, kinds = ({getattr(each, name) for each in starts} for name in ("engine", "depth", "rw"))
        start_line = cls(kinds.pop() if len(kinds) == 1 else "", "", engines.pop() if len(engines) == 1 else "", 1)
        start_line.depth = depths.pop() if len(depths) == 1 else None
        for op in OPS:
            sizes = {each.size(op) for each in starts if op in ops_of(each.rw)}
            start_line.sizes.append(sizes.pop() if len(sizes) == 1 else None)
        return start_line

    def size(self, op: Op) -> int | None:
        """The size of each I/O; None for a range."""
        place = OPS.index(op)
        return self.sizes[place] if place < len(self.sizes) else None


def _one_size(low: str, low_unit: str, high: str, high_unit: str) -> int | None:
    amounts = ((number_of(low), low_unit), (number_of(high), high_unit))
    sizes = {n and n * 1024 ** " KMGT".index(unit.upper() or " ") for n, unit in amounts}
    size = sizes.pop()
    return None if sizes or size is None or size > LARGEST_NUMBER else round(size)


class _PrintedSide:
    """What is told of the reads, the writes, the trims or the flushes of a job."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.moved_bytes = self.runtime_ms = 0
        self.rate_per_s = 0.0
        self.cut_bytes = 0  # of moved_bytes, by which it may have been cut
        self.bytes_per_s: tuple[int, ...] = ()  # as printed, in KiB and in kB
        self.latencies: dict[str, dict[str, float]] = {}
        self.quantiles: dict[str, list[tuple[float, float]]] = {}

    def moved(self, exact: int | None) -> int:
        """The bytes that were moved: `exact` where it agrees with what is printed, which may be cut to whole units."""
        printed, by_rate = self.moved_bytes, [round(rate * self.runtime_ms / 1000) for rate in self.bytes_per_s]
        uncut = [each for each in by_rate if printed <= each < printed + self.cut_bytes and not _near(each, printed)]
        if exact is not None and any(_near(exact, each) for each in (printed, *uncut)):
            return exact
        return uncut[0] if uncut else printed

    def mean_ns(self, which: str) -> float | None:
        """The mean of one latency line."""
        return self.latencies.get(which, {}).get("mean")


def _near(one: int, other: int) -> bool:
    return abs(one - other) <= SIZE_SLACK * max(one, other)


class Job:
    """A job of the output; it is whole when its `issued` line was seen."""

    def __init__(
        self, path: str, line: int, name: str, group: str, pid: str, jobs: int, err: int, start: StartLine | None
    ) -> None:
        self.path, self.line, self.name, self.group, self.pid = path, line, name, group, pid
        self.jobs, self.err, self.start = jobs, err, start
        self.date = ""
        self.output = 1  # of several in one file
        self.sides: dict[str, _PrintedSide] = {}
        self.shares: dict[tuple[str, str], float] = {}
        self.issued: tuple[int, ...] = ()
        self.short: tuple[int, ...] = ()

    def result(self) -> JobResult:
        """What the job states. Raises SourceError."""
        if "mixed" in self.sides and not {*OPS} & {*self.sides}:
            raise refuse(self.path, self.sides["mixed"].line, f"job {self.name}: {MIXED_ONLY}", MIXED_HINT)
        doubts: list[str] = []
        issued, short = ((*counts, 0, 0, 0, 0) for counts in (self.issued, self.short))
        alone = sum(count > 0 for count in issued[: len(OPS)]) == 1
        sides = {op: self._side(op, issued[i], short[i], alone, doubts) for i, op in enumerate(OPS) if issued[i]}
        flushed = self.sides.get("sync")
        count = issued[3] or short[0]
        flushes = None
        if flushed and count:
            lat, quantiles = flushed.latencies.get("lat", {}), flushed.quantiles.get("sync", [])
            flushes = Side(ios=count, size_bytes=0, lat=lat, quantiles=quantiles)
        runtime_ms = max((side.runtime_ms for side in self.sides.values()), default=0)
        return JobResult(
            path=self.path,
            line=self.line,
            name=self.name,
            runtime_ms=runtime_ms,
            sides=sides,
            flushes=flushes,
            data_only=flushes is not None and not issued[3],
            error=self.err,
            errors=1 if self.err else 0,
            doubts=doubts,
        )

    def _side(self, op: Op, ios: int, short_ios: int, alone: bool, doubts: list[str]) -> Side:
        side = self.sides.get(op)
        if side is None:
            raise refuse(self.path, self.line, f"job {self.name} issued {ios} {op}s but states no figures for them")
        size = self.start.size(op) if self.start else None
        moved = side.moved(None if size is None else ios * size)
        if size is not None and ios * size != moved:
            doubts.append(
                f"{self.name}, {op}: {ios} I/Os of {size} bytes are not the {moved} bytes it states, which are used"
            )
            size = None
        return Side(
            ios=ios,
            bytes=moved,
            size_bytes=size,
            short_ios=short_ios,
            runtime_ms=side.runtime_ms,
            rate_per_s=side.rate_per_s,
            lat=side.latencies.get("lat") or side.latencies.get("clat") or {},
            means_ns=(side.mean_ns("slat"), side.mean_ns("clat"), side.mean_ns("lat")),
            quantiles=side.quantiles.get("clat") or side.quantiles.get("lat") or [],
            buckets=buckets(self.shares) if alone else (),
        )


class Output:
    """One file, read line by line: its jobs, its versions, what was cut."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.starts: dict[tuple[str, str], StartLine] = {}
        self.groups: dict[str, dict[str, StartLine]] = {}  # of the output being read
        self.told = False  # results began
        self.outputs, self.ended = 1, False
        self.jobs: list[Job] = []
        self.versions: list[str] = []
        self.warnings: list[str] = []
        self.open = False  # a job is being told; fio 1 tells its buckets after the `issued` line
        self.side: _PrintedSide | None = None
        self.percentiles: tuple[str, int] | None = None  # which, and the unit in ns
        for at, line in enumerate(without_prefix(text.splitlines()), 1):
            self._line(at, CLIENT.sub("", line))

    def finished(self) -> list[Job]:
        """The whole jobs; of one that was printed several times as it went on, the last state."""
        whole = [job for job in self.jobs if job.issued]
        for job in self.jobs:
            if not job.issued:
                self.warnings.append(f"{self.path}:{job.line}: job {job.name} is truncated: left out")
        if not whole:
            at, why = (
                (self.jobs[-1].line, "the job is truncated") if self.jobs else (0, "there is no result of a job in it")
            )
            raise refuse(self.path, at, why)
        if self.open and whole and self.versions and self.versions[-1].startswith("1."):
            self.warnings.append(f"{self.path}: truncated after the counts of {whole[-1].name}: buckets may be missing")
        last = {(job.name, job.group, job.pid): job for job in whole}
        if len(last) < len(whole):
            self.warnings.append(
                f"{self.path}: {len(whole) - len(last)} earlier states of an unfinished job are left out"
            )
        return list(last.values())

    def _line(self, at: int, line: str) -> None:
        if match := VERSION.match(line):
            self.versions.append(match["version"])
        elif begun := start_of(line):
            name, says = begun
            sizes = SIZES.search(line)
            start = StartLine(
                says["rw"], sizes[1] if sizes else "", says["engine"], whole(self.path, at, says["depth"], "the depth")
            )
            self.starts[name, says["group"]] = start
            if self.told:
                self.groups, self.told = {}, False
            self.groups.setdefault(says["group"], {})[name] = start
        elif match := GROUP.match(line):
            self._begin(at, match)
        elif line.startswith("Run status group"):
            self.open, self.ended = False, True
        elif self.open:
            self._of_job(at, line, self.jobs[-1])
        elif ANY_SIDE.match(line):
            raise refuse(self.path, at, "figures of a job whose first line (groupid=, jobs=) is missing or damaged")

    def _begin(self, at: int, match: re.Match[str]) -> None:
        pid = PID.search(match["rest"])
        date = match["rest"].rpartition(": ")[2] if pid and ": " in match["rest"] else ""
        name, group = match["name"].strip(), match["group"]
        start = self.starts.get((name, group))
        jobs, err = (whole(self.path, at, match[key], key) for key in ("jobs", "err"))
        together = self.groups.get(group, {})
        if jobs > 1 and name in together and len(together) > 1:
            start = StartLine.of_all(tuple(together.values()))
        job = Job(self.path, at, name, group, pid[1] if pid else str(at), jobs, err, start)
        job.date = "" if date.startswith("pid=") else date.strip()
        self.outputs += self.ended
        self.ended = False
        job.output = self.outputs
        self.jobs.append(job)
        self.open = self.told = True
        self.side = self.percentiles = None

    def _of_job(self, at: int, line: str, job: Job) -> None:
        if match := ANY_SIDE.match(line):
            if job.issued or match[1] in job.sides:
                raise refuse(
                    self.path, at, f"{match[1]}s after those of {job.name}: the line that begins a job is damaged"
                )
            self.side = job.sides[line.split(":")[0].strip()] = self._side(at, line)
            self.percentiles = None
        elif MIXED.match(line):  # unified_rw_reporting: with "both" reads and writes were told before
            self.side = job.sides["mixed"] = _PrintedSide(at)
            self.percentiles = None
        elif line.strip().startswith("fsync/fdatasync"):
            self.side = job.sides["sync"] = _PrintedSide(at)
        elif match := LATENCY.match(line):
            self._latency(at, match, job)
        elif match := PERCENTILES.match(line):
            self.percentiles = (match[1], PRINTED_NS[match[2]])
        elif match := OTHER_PERCENTILES.search(line):
            self.percentiles = ("of a priority", PRINTED_NS[match[1]])
        elif line.strip().startswith("|"):
            self._percentiles(at, line, self.side)
        elif match := SHARES.match(line):
            for beyond, edge, share in SHARE.findall(match[2]):
                job.shares[SHORT[match[1]], f"{beyond}{edge}"] = number(self.path, at, share, "a share")
        elif match := ISSUED.match(line):
            job.issued = self._issued(at, match[1])
            job.short = self._issued(at, match[2])
        elif LIKE_LATENCY.match(line):
            raise refuse(self.path, at, "unreadable latencies")

    def _side(self, at: int, line: str) -> _PrintedSide:
        side = _PrintedSide(at)
        if match := OLD_SIDE.match(line):
            moved, iops, runtime = match[2].split(";")[0], match[4], match[5]
            side.moved_bytes = self._amount(at, moved, modern=False)
        elif match := NEW_SIDE.match(line):
            moved, iops, runtime = match[5], match[2], match[6]
            side.moved_bytes = self._amount(at, moved, modern=True)
            side.bytes_per_s = (self._amount(at, match[3], modern=True), self._amount(at, match[4], modern=True))
            if cut := CUT.fullmatch(moved):
                side.cut_bytes = self._amount(at, f"1{cut[1]}", modern=True)
        else:
            raise refuse(self.path, at, "I/Os, bytes and run time are unreadable in this line")
        side.rate_per_s, side.runtime_ms = (
            self._scaled(at, iops, "the rate"),
            whole(self.path, at, runtime, "the run time"),
        )
        return side

    def _latency(self, at: int, match: re.Match[str], job: Job) -> None:
        if self.side is None:
            raise refuse(self.path, at, "a latency line without a read or write line before it")
        unit = PRINTED_NS[match[2]]
        names = ("min", "max", "mean", "stddev")
        values = (self._scaled(at, text, "a latency") * unit for text in match.groups()[2:])
        self.side.latencies["lat" if match[1] == "sync" else match[1]] = dict(zip(names, values, strict=True))

    def _percentiles(self, at: int, line: str, side: _PrintedSide | None) -> None:
        if side is None or self.percentiles is None:
            raise refuse(self.path, at, "percentiles without their heading: the line is missing or damaged")
        which, unit = self.percentiles
        kept = side.quantiles.setdefault(which, [])
        for q, value in PERCENTILE.findall(line):
            kept.append(
                (number(self.path, at, q, "a percentile") / 100, self._scaled(at, value, "a percentile") * unit)
            )

    def _issued(self, at: int, text: str) -> tuple[int, ...]:
        """ "r=2857/w=0/d=0", "25600/0/0", "0,33052,0,0": reads, writes, trims, and in fio 3 syncs."""
        parts = [part.rpartition("=")[2] for part in _PARTED.split(text) if part]
        return tuple(whole(self.path, at, part, "a count of I/Os") for part in parts)

    def _scaled(self, at: int, text: str, what: str) -> float:
        """A number with fio's short suffix: k is 1000 in rates and times of every version."""
        factor = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "G": 1e9}.get(text[-1:], 1.0)
        return number(self.path, at, text[:-1] if factor > 1 else text, what) * factor

    def _amount(self, at: int, text: str, modern: bool) -> int:
        """An amount of data: KB is 1024 before fio 3; since then KiB is, and kB is 1000."""
        match = _AMOUNT.fullmatch(text)
        if not match:
            raise refuse(self.path, at, f'"{text}" is not an amount of data')
        base = 1024 if match[3] or not modern else 1000
        power = " KMGTP".index(match[2].upper() or " ")
        return round(number(self.path, at, match[1], "an amount of data") * math.pow(base, power))
