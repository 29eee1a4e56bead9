"""fio's normal output for people, of fio 1.50 to 3.x.

What it is: what fio prints when no other format is asked for, also with a client's <host> before each line.
What is read: each job (or group) is a row; I/Os from its `issued` line, bytes, run time, latencies in whatever unit
each line says, percentiles, latency buckets, fsync times; from the head line rw=, sizes, engine and depth.
What it cannot see: whether I/O was direct, which file was used, whether a rate was given.
What is refused: a job without its `issued` line is cut: it is left out with a warning, and the file is refused when
no whole job is left; so is one that tells reads and writes as one (unified_rw_reporting=mixed). The minb and maxb of
fio 1 and 2 are never read: they count KB of 1000, all others of 1024.
"""

from __future__ import annotations

import re

from iocast.imports import consistency
from iocast.imports.fio_jobs import Job, Side, StartLine
from iocast.imports.fio_words import ALL, CLOCK_NOTE, MIXED_NOTE, PACE_NOTE, UNIT_NS
from iocast.imports.source_files import Head, number, read_text, refuse
from iocast.imports.stated_rows import Row, at_once, run
from iocast.model.run import Run, Source

START = re.compile(
    r"^(?P<name>.+): \(g=(?P<group>\d+)\): rw=(?P<rw>[^,]+), .*?\bioengine=(?P<engine>\S+), iodepth=(\d{1,9})\b"
)
SIZES = re.compile(r"\bbs=(.*?), ioengine=")
VERSION = re.compile(r"^fio[- ](?P<version>\d+\.\S*)\s*$")
GROUP = re.compile(
    r"^(?P<name>.*): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d{1,9})\): err=\s*(?P<err>\d{1,9})(?P<rest>.*)$"
)
PID = re.compile(r"pid=(\d+)")
OLD_SIDE = re.compile(r"^\s*(read|write|trim)\s*: io=\s*(\S+), bw=\s*(\S+), iops=\s*(\S+?)\s*, runt=\s*(\d{1,15})msec")
NEW_SIDE = re.compile(r"^\s*(read|write|trim): IOPS=(\S+), BW=(\S+) \(\S+\)\s*\((\S+)/(\d{1,15})msec\)")
MIXED = re.compile(r"^\s*mixed\s*: (?:io=|IOPS=)")
ANY_SIDE = re.compile(r"^\s*(read|write|trim)\s*: (?:io=|IOPS=)")
LATENCY = re.compile(
    r"^\s*(slat|clat|lat|sync) \((nsec|usec|msec|sec)\)\s*: min=\s*(\S+?)\s*, max=\s*(\S+?)\s*,"
    r" avg=\s*(\S+?)\s*, stdev=\s*(\S+?)\s*$"
)
PERCENTILES = re.compile(r"^\s*(clat|lat|slat|sync) percentiles \((nsec|usec|msec)\)\s*:")
PERCENTILE = re.compile(r"([\d.]+)th=\[>?\s*([\d.]+[kKMG]?)\]")
SHARES = re.compile(r"^\s*lat \((nsec|usec|msec)\)\s*: ((?:>?=?\d+=[\d.]+%[, ]*)+)$")
OTHER_PERCENTILES = re.compile(r"percentiles \((nsec|usec|msec)\)\s*:\s*$")  # of each priority
LIKE_LATENCY = re.compile(r"^\s*(?:slat|clat|lat|sync) \(")
SHARE = re.compile(r"(>=)?(\d+)=([\d.]+)%")
ISSUED = re.compile(r"^\s*issued[^:]*:\s*total=([^ ]+?),? short=(\S+)")
CLIENT = re.compile(r"^<[^>]*> ?")
SHORT = {"nsec": "ns", "usec": "us", "msec": "ms"}


def sniff(head: Head) -> bool:
    """A head line of a job, or the line that begins its result."""
    lines = (CLIENT.sub("", line) for line in head.lines())
    return any(START.match(line) or GROUP.match(line) for line in lines)


def read(paths: tuple[str, ...]) -> Run:
    """The jobs of all these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    warnings: list[str] = []
    versions: dict[str, None] = {}
    dates: dict[str, None] = {}
    for order, path in enumerate(paths, 1):
        place = f"file {order}, output " if len(paths) > 1 else "output "
        reader = _Reader(path)
        reader.read(read_text(path))
        jobs = reader.finished()
        warnings += reader.warnings
        versions |= dict.fromkeys(reader.versions)
        own = [job.row() for job in jobs]
        rows += at_once(own, ["" if job.name == ALL else f"group {job.group} of {place}{job.output}" for job in jobs])
        for job, row in zip(jobs, own, strict=True):
            dates |= {job.date: None} if job.date else {}
            warnings += [*job.warnings, *consistency.inconsistencies(row)]
    notes = [CLOCK_NOTE, PACE_NOTE] + ([MIXED_NOTE] if any(len(row.ops) > 1 for row in rows) else [])
    if dates:
        notes.append(f"fio printed {next(iter(dates))} at its end, without a time zone.")
    source = Source(tool="fio", version=", ".join(versions), files=paths, notes=tuple(notes))
    return run(source, rows, warnings=warnings)


class _Reader:
    """One file being read, line by line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.starts: dict[tuple[str, str], StartLine] = {}
        self.groups: dict[str, dict[str, StartLine]] = {}  # of the output being read
        self.told = False  # results began
        self.outputs, self.ended = 1, False
        self.jobs: list[Job] = []
        self.versions: list[str] = []
        self.warnings: list[str] = []
        self.open = False  # a job is being told; fio 1 tells its buckets after the `issued` line
        self.side: Side | None = None
        self.percentiles: tuple[str, int] | None = None  # which, and the unit in ns

    def read(self, text: str) -> None:
        for at, line in enumerate(text.splitlines(), 1):
            self._line(at, CLIENT.sub("", line))

    def finished(self) -> list[Job]:
        """The whole jobs; of one that was printed several times as it went on, the last state."""
        whole = [job for job in self.jobs if job.issued]
        for job in self.jobs:
            if not job.issued:
                self.warnings.append(f"{self.path}:{job.line}: job {job.name} is cut before its end: left out")
        if not whole:
            at, why = (self.jobs[-1].line, "the job is cut") if self.jobs else (0, "there is no result of a job in it")
            raise refuse(self.path, at, why)
        if self.open and whole and self.versions and self.versions[-1].startswith("1."):
            self.warnings.append(f"{self.path}: cut after the counts of {whole[-1].name}, buckets may be missing")
        last = {(job.name, job.group, job.pid): job for job in whole}
        if len(last) < len(whole):
            self.warnings.append(f"{self.path}: {len(whole) - len(last)} earlier states of a job going on are left out")
        return list(last.values())

    def _line(self, at: int, line: str) -> None:
        if found := VERSION.match(line):
            self.versions.append(found["version"])
        elif found := START.match(line):
            sizes = SIZES.search(line)
            start = StartLine(found["rw"], sizes[1] if sizes else "", found["engine"], int(found[5]))
            self.starts[found["name"], found["group"]] = start
            if self.told:
                self.groups, self.told = {}, False
            self.groups.setdefault(found["group"], {})[found["name"]] = start
        elif found := GROUP.match(line):
            self._begin(at, found)
        elif line.startswith("Run status group"):
            self.open, self.ended = False, True
        elif self.open:
            self._of_job(at, line, self.jobs[-1])
        elif ANY_SIDE.match(line):
            raise refuse(self.path, at, "figures of a job whose first line (groupid=, jobs=) is missing or damaged")

    def _begin(self, at: int, found: re.Match[str]) -> None:
        pid = PID.search(found["rest"])
        date = found["rest"].rpartition(": ")[2] if pid and ": " in found["rest"] else ""
        name, group = found["name"].strip(), found["group"]
        start, jobs = self.starts.get((name, group)), int(found["jobs"])
        together = self.groups.get(group, {})
        if jobs > 1 and name in together and len(together) > 1:
            start = StartLine.of_all(tuple(together.values()))
        job = Job(self.path, at, name, group, pid[1] if pid else str(at), jobs, int(found["err"]), start)
        job.date = "" if date.startswith("pid=") else date.strip()
        job.modern = bool(self.versions) and not self.versions[-1].startswith(("1.", "2."))
        self.outputs += self.ended
        self.ended = False
        job.output = self.outputs
        self.jobs.append(job)
        self.open = self.told = True
        self.side = self.percentiles = None

    def _of_job(self, at: int, line: str, job: Job) -> None:
        if found := ANY_SIDE.match(line):
            if job.issued or found[1] in job.sides:
                raise refuse(
                    self.path, at, f"{found[1]}s after those of {job.name}: the line that begins a job is damaged"
                )
            self.side = job.sides[line.split(":")[0].strip()] = self._side(at, line)
            self.percentiles = None
        elif MIXED.match(line):  # unified_rw_reporting: with "both" reads and writes were told before
            self.side = job.sides["mixed"] = Side(at)
            self.percentiles = None
        elif line.strip().startswith("fsync/fdatasync"):
            self.side = job.sides["sync"] = Side(at)
        elif found := LATENCY.match(line):
            self._latency(at, found, job)
        elif found := PERCENTILES.match(line):
            self.percentiles = (found[1], UNIT_NS[found[2]])
        elif found := OTHER_PERCENTILES.search(line):
            self.percentiles = ("of a priority", UNIT_NS[found[1]])
        elif line.strip().startswith("|"):
            self._percentiles(at, line, self.side)
        elif found := SHARES.match(line):
            for beyond, edge, share in SHARE.findall(found[2]):
                job.shares[SHORT[found[1]], f"{beyond}{edge}"] = float(share)
        elif found := ISSUED.match(line):
            job.issued = self._issued(at, found[1])
            job.short = self._issued(at, found[2])
        elif LIKE_LATENCY.match(line):
            raise refuse(self.path, at, "latencies that cannot be read")

    def _side(self, at: int, line: str) -> Side:
        side = Side(at)
        if found := OLD_SIDE.match(line):
            moved, iops, runtime = found[2], found[4], found[5]
        elif found := NEW_SIDE.match(line):
            moved, iops, runtime = found[4], found[2], found[5]
            side.modern = True
        else:
            raise refuse(self.path, at, "I/Os, bytes and run time cannot be read in this line")
        side.moved_bytes = self._amount(at, moved.split(";")[0], side.modern)
        side.rate_per_s, side.runtime_ms = self._scaled(at, iops, "the rate"), int(runtime)
        return side

    def _latency(self, at: int, found: re.Match[str], job: Job) -> None:
        if self.side is None:
            raise refuse(self.path, at, "a latency without a read or write before it")
        unit = UNIT_NS[found[2]]
        names = ("min", "max", "mean", "stddev")
        values = (self._scaled(at, text, "a latency") * unit for text in found.groups()[2:])
        self.side.latencies["lat" if found[1] == "sync" else found[1]] = dict(zip(names, values, strict=True))

    def _percentiles(self, at: int, line: str, side: Side | None) -> None:
        if side is None or self.percentiles is None:
            raise refuse(self.path, at, "percentiles of what? The line that says so is missing or damaged")
        which, unit = self.percentiles
        kept = side.quantiles.setdefault(which, [])
        for q, value in PERCENTILE.findall(line):
            kept.append((float(q) / 100, self._scaled(at, value, "a percentile") * unit))

    def _issued(self, at: int, text: str) -> tuple[int, ...]:
        """ "r=2857/w=0/d=0", "25600/0/0", "0,33052,0,0": reads, writes, trims, and in fio 3 syncs."""
        parts = [part.rpartition("=")[2] for part in re.split(r"[/,]", text) if part]
        return tuple(int(number(self.path, at, part, "a count of I/Os")) for part in parts)

    def _scaled(self, at: int, text: str, what: str) -> float:
        """A number with fio's short suffix: k is 1000 in rates and times of every version."""
        factor = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "G": 1e9}.get(text[-1:], 1.0)
        return number(self.path, at, text[:-1] if factor > 1 else text, what) * factor

    def _amount(self, at: int, text: str, modern: bool) -> int:
        """An amount of data: KB is 1024 before fio 3; since then KiB is, and kB is 1000."""
        found = re.fullmatch(r"([\d.]+)([kKMGTP]?)(i?)B?", text)
        if not found:
            raise refuse(self.path, at, f'"{text}" is no amount of data')
        base = 1024 if found[3] or not modern else 1000
        power = " KMGTP".index(found[2].upper() or " ")
        return round(number(self.path, at, found[1], "an amount of data") * float(base**power))
