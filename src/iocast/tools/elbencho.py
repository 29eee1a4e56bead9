"""elbencho's results: its text, its CSV (--csvfile) and its JSON (--jsonfile), of versions 1.3 to 3.1.

What it is: the table "OPERATION  RESULT TYPE  FIRST DONE  LAST DONE" that it prints and keeps in --resfile, one line
a phase of --csvfile, one document a phase of --jsonfile. It appends: a file may hold several runs.
What is read: each phase is a row, with what is under "last done": all that was done until the slowest thread ended.
"First done" leaves out what the others did after the fastest had ended. Of reads, writes and mixes IOPS, bytes and
latencies; size, threads, depth, order and direct I/O, of a text as far as its command line says; the path as it stands
there. MKDIRS, STAT, RMFILES, RMDIRS and WRITE of empty files count files or directories, as mdtest does. A length is
stated in whole ms, cut off: a count over its rate is more exact. How many I/Os there were is the bytes over the size,
or the sum of the histogram, where that fits the IOPS, else the IOPS times the length. Latencies are whole microseconds,
cut off, in buckets a quarter of a power of two wide: the edges here are the whole microseconds between which it lies.
Whether one I/O followed the other is left open where the mean is below 20us, or files are opened in between.
What it cannot see: in a CSV, percentiles; in what it printed, without --resfile, the load; of a CSV or a text the bytes
beyond whole MiB; percentiles where a latency was above 225 s, for which elbencho has no bucket.
What is left out: phases without I/O (SYNC, DROPCACHE), those of object stores, HDFS and networks, mixes before 2.0.7,
which count reads among the writes, and writes that are each read back (+r, --verifydirect). A warning names them.
What is refused: live statistics (--livecsv), a column that is missing, lines of several versions in one CSV, a figure
that cannot be read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any, Literal

from msgspec import Struct

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Bucket, Coarse, Quantile
from iocast.model.workload import Closed, Locality, Op, Sequential, Uniform, Unstated
from iocast.tools import consistency
from iocast.tools.foreign_numbers import bounded, moment_ns, number, whole, whole_of
from iocast.tools.source_files import Head, read_text, refuse, whole_lines
from iocast.tools.stated_rows import OpFigures, Row, run, stated

EDGES = "elbencho's percentiles are the upper edges of its buckets: up to 19 % above what was measured."
SEVERAL = "the files are of several forms: if they are of the same phases, each is counted twice; give the JSON alone"
SAME_FILE = "give the file of --jsonfile, --csvfile or --resfile exactly as elbencho wrote it"
OTHER_VERSION = "another version wrote this line: give the results of each in its own file"
LIVE_HINT = "let elbencho write its results, too: --jsonfile, --csvfile or --resfile, and give that file"
Form = Literal["text", "CSV", "JSON"]
US, MS = 1_000, 1_000_000  # in ns
MIB = 1 << 20
STEPS = 4  # buckets of its histogram for a power of two
LAST_STEP = 28 * STEPS
READS = "rwmix read "  # before the columns of the reads of a mix
_END = "---"  # of a phase
_LIVE = "ISO Date,Label,Phase,RuntimeMS,"
_CSV = "ISO date,"
_NEEDED = (
    *("operation", "time ms [last]", "entries/s [last]", "entries [last]"),
    *("IOPS [last]", "MiB [last]", "block size", "threads", "IO depth"),
)
_DOCUMENT = ('"phase_type"', '"phase_id"')
_TABLE = ["OPERATION", "RESULT", "TYPE", "FIRST", "DONE", "LAST", "DONE"]
_PAIR = re.compile(r"^(\S{1,20})? {1,60}(\S(?:[^:]{0,30}\S)?) {0,40}: {1,60}(\S{1,40}) {1,60}(\S{1,40})$")
_LIST = re.compile(r"^ {1,60}(\S(?:[^:]{0,30}\S)?) {0,40}: \[ ?(.{0,20000}?) ?\]$")
_TIMES_OF = re.compile(r"^(IO|Files|Dirs|Objects|Buckets)( wr| rd)? (?:lat|latency)( %(?:ile)?| hist(?:o)?)?(?: us)?$")
_HEADED = re.compile(r"^(ISO DATE|LABEL|COMMAND LINE): (.{1,20000})$")
_ARGUMENT = re.compile(r'"([^"]{0,4000})"')
_SIZE = re.compile(r"^(\d{1,15})([kmgt]?)$", re.ASCII | re.IGNORECASE)
_LENGTH = re.compile(r"^(?:(\d{1,9})h)?(?:(\d{1,9})m(?!s))?(?:(\d{1,12}(?:\.\d{1,9})?)(ms|s))?$", re.ASCII)
_TIME = re.compile(r"^(min|avg|max)=(\d{1,20}(?:\.\d{1,9})?)(us|ms|s)?$", re.ASCII)
_TIME_NS = {"": US, "us": US, "ms": MS, "s": 1000 * MS}
_PERCENTILE = re.compile(r"^(\d{1,3}(?:\.\d{1,12})?)%<=(\S{1,40})$", re.ASCII)
_MIX = re.compile(r"^(?:RWMIX|MIX-T)\d{1,9}(?:\+s)?$", re.ASCII)
_SIDES: dict[str, tuple[tuple[Op, str], ...]] = {
    "WRITE": (("write", ""),),
    "WRITE+s": (("write", ""),),
    "READ": (("read", ""),),
    "READ+s": (("read", ""),),
    "MIX": (("write", ""), ("read", READS)),
}
_NAMES: dict[str, Op] = {
    **{"MKDIRS": "mkdir", "RMDIRS": "rmdir", "STATDIRS": "stat", "STAT": "stat", "RMFILES": "unlink"},
    **{"WRITE": "create", "WRITE+s": "create"},  # of empty files
}
_KINDS = {"", "dir", "file", "blockdev"}
# Label of the text -> column of the CSV; before it stands what is counted.
_LABELS = {
    **{"Elapsed time": "time ms [last]", "Elapsed ms": "time ms [last]"},
    **{"IOPS": "IOPS [last]", "IOPS write": "IOPS [last]", "IOPS read": f"{READS}IOPS [last]"},
    **{"Total MiB": "MiB [last]", "MiB write": "MiB [last]", "MiB read": f"{READS}MiB [last]"},
    **{"Total files": "entries [last]", "Total dirs": "entries [last]"},  # of the first versions
    **{"IOs total": "IOs [last]", "IOs write": "IOs [last]", "IOs read": f"{READS}IOs [last]"},
}
_ENTRIES = {
    **{"/s": "entries/s [last]", "/s write": "entries/s [last]", "/s read": f"{READS}entries/s [last]"},
    **{" total": "entries [last]", " write": "entries [last]", " read": f"{READS}entries [last]"},
}
_CONFIG = {
    **{"path_type": "path type", "hosts": "hosts", "threads": "threads", "block_size": "block size"},
    **{"direct_io": "direct IO", "random_offsets": "random", "io_depth": "IO depth"},
    **{"version": "version", "command": "command"},
}
_WITH_VALUE = {
    **{"-t": "threads", "--threads": "threads"},
    **{"-b": "block size", "--block": "block size", "--iodepth": "IO depth"},
}
# Options whose value may look like a path and is none of those that were measured.
_FILES_OF_ITS_OWN = frozenset(
    f"--{name}"
    for name in (
        *("csvfile", "jsonfile", "resfile", "livecsv", "livejson", "treefile", "treescan", "configfile", "opslog"),
        *("hostsfile", "clientsfile", "serversfile", "svcpwfile", "s3credfile", "s3logprefix", "label"),
    )
) | {"-c"}
_LIMITS = {"--limitread", "--limitwrite", "--rwmixthrpct"}
_ORDERS = {"--backward", "--strided"}
_ELSEWHERE = {"-c", "--configfile"}  # options that are not in the command line
_ON = {"1", "true"}
_COUNT = "the count of a bucket"
LEAST_MEAN_NS = 20 * US  # below it, what is cut off from a time is too much of it


class _Phase(Struct, frozen=True):
    """What one phase states: cells under the names that the CSV has for them, lists of latencies under their prefix."""

    form: Form
    line: int
    cells: dict[str, str]
    buckets: dict[str, tuple[tuple[str, str], ...]] = {}  # upper edge in us, count
    percentiles: dict[str, tuple[tuple[str, str], ...]] = {}  # per cent, upper edge in us


def sniff(head: Head) -> bool:
    """The headings of its table or its CSV, the first fields of a document."""
    if head.text.lstrip()[:1] in ("{", "[") and all(name in head.text for name in _DOCUMENT):
        return True
    return any(_is_table(line) or _is_csv(line) or line.startswith(_LIVE) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The phases of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    versions: dict[str, None] = {}
    forms: set[Form] = set()
    rows: list[Row] = []
    notes: list[str] = []
    for path in paths:
        form, phases = _phases(path, read_text(path), warnings)
        forms.add(form)
        rows += _rows(path, phases, warnings)
        versions |= {each.cells["version"]: None for each in phases if each.cells.get("version")}
        notes += [EDGES for each in phases if each.percentiles.keys() - each.buckets.keys()]
    for row in rows:
        warnings += consistency.inconsistencies(row)
    if len(forms) > 1:
        warnings.append(SEVERAL)
    source = Source(tool="elbencho", version=", ".join(versions), files=paths, notes=tuple(dict.fromkeys(notes)))
    return run(source, rows, warnings=warnings)


def _is_table(line: str) -> bool:
    return line.split() == _TABLE


def _is_csv(line: str) -> bool:
    return line.startswith(_CSV) and "[last]" in line


def _phases(path: str, text: str, warnings: list[str]) -> tuple[Form, list[_Phase]]:
    if text.lstrip()[:1] in ("{", "["):
        return "JSON", list(_documents(path, text, warnings))
    lines = whole_lines(path, text, warnings)
    if any(_is_csv(line) for line in lines):
        return "CSV", list(_csv(path, lines))
    if any(_is_table(line) for line in lines):
        return "text", _table(path, lines, warnings)
    at = next((at for at, line in enumerate(lines, 1) if line.startswith(_LIVE)), 0)
    if at:
        raise refuse(path, at, "these are elbencho's live statistics (--livecsv), not its results", LIVE_HINT)
    raise refuse(path, 0, "it is cut within its headings", SAME_FILE)


def _rows(path: str, phases: list[_Phase], warnings: list[str]) -> list[Row]:
    rows: list[Row] = []
    left_out: dict[str, None] = {}
    for phase in phases:
        row = _row(path, phase)
        rows += [row] if row else []
        left_out |= {} if row else {phase.cells["operation"][:20]: None}
    names = ", ".join([*left_out][:10])
    if not rows:
        what = f"only {names}: no reads, writes or names of files alone" if names else "no phase that ended"
        raise refuse(path, 0, f"it has {what}", SAME_FILE)
    if names:
        warnings.append(
            f"{path}: left out are phases that are no reads, writes or names of files alone, or too short: {names}"
        )
    return rows


def _csv(path: str, lines: list[str]) -> Iterator[_Phase]:
    """Its lines. No cell has a comma: elbencho takes those of labels and command lines away."""
    columns: list[str] = []
    for at, line in enumerate(lines, 1):
        cells = line.split(",")
        if _is_csv(line):
            columns = [name.strip() for name in cells]
            if missing := [name for name in _NEEDED if name not in columns]:
                raise refuse(path, at, f'it has no column "{missing[0]}"', SAME_FILE)
        elif line.strip() and columns:
            if len(cells) != len(columns):
                raise refuse(path, at, f"{len(cells)} values under {len(columns)} headings", OTHER_VERSION)
            yield _Phase("CSV", at, dict(zip(columns, cells, strict=True)))


def _documents(path: str, text: str, warnings: list[str]) -> Iterator[_Phase]:
    """A document a phase, one after the other, or in a list."""
    decoder = json.JSONDecoder()
    at, line, counted = 0, 1, 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        line, counted = line + text.count("\n", counted, at), at
        try:
            document, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if counted == 0:
                raise refuse(path, line, "the document is truncated or damaged", SAME_FILE) from None
            warnings.append(f"{path}:{line}: a document is truncated or damaged; the documents before it were read")
            return
        for each in document if isinstance(document, list) else [document]:
            yield _document(path, line, each)


def _document(path: str, line: int, document: Any) -> _Phase:
    root = _object(document)
    config, last = _object(root.get("config")), _object(root.get("last_done"))
    if "phase_type" not in root or "elapsed_time_ms" not in last:
        raise refuse(path, line, 'a document without "phase_type" or "last_done"', SAME_FILE)
    cells = {
        "operation": _text(root, "phase_type"),
        "label": _text(root, "label"),
        "ISO date": _text(root, "iso_start_date"),
        "time ms [last]": _text(last, "elapsed_time_ms"),
        **{column: _text(config, name) for name, column in _CONFIG.items()},
    }
    latencies = _object(last.get("latency"))
    buckets: dict[str, tuple[tuple[str, str], ...]] = {}
    for prefix in ("", READS):
        side = _object(last.get("rwmix_read")) if prefix else last
        for name, column in (("entries/s", "entries/s"), ("entries", "entries"), ("iops", "IOPS")):
            cells[f"{prefix}{column} [last]"] = _text(side, name)
        cells[f"{prefix}bytes [last]"], cells[f"{prefix}bytes/s [last]"] = _text(side, "bytes"), _text(side, "bytes/s")
        for name, of in (("entries", "Ent"), ("IO", "IO")):
            both = _object(latencies.get(name))
            times = _object(both.get("rwmix_read")) if prefix else both
            for column in ("min", "avg", "max"):
                cells[f"{prefix}{of} lat us [{column}]"] = _text(times, f"{column}_us")
            drawn = _object(both.get("histogram"))
            drawn = _object(drawn.get("rwmix_read")) if prefix else drawn
            if counts := _ranges(drawn.get("buckets")):
                buckets[f"{prefix}{of}"] = counts
    return _Phase("JSON", line, cells, buckets)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return "" if value is None or isinstance(value, (dict, list)) else str(value)[:20_000]


def _ranges(values: Any) -> tuple[tuple[str, str], ...]:
    """Of ranges ("91-108us") the upper edges, with their counts."""
    ranges = [_object(each) for each in values] if isinstance(values, list) else []
    return tuple(
        (_text(each, "range").partition("-")[2].removesuffix("us"), _text(each, "count")) for each in ranges if each
    )


class _Table:
    """The lines of a text, phase after phase."""

    def __init__(self) -> None:
        self.phases: list[_Phase] = []
        self.open: _Phase | None = None
        self.begun = 0  # the line of a run's beginning without a phase after it
        self._headed: dict[str, str] = {}

    def take(self, path: str, at: int, line: str) -> None:
        """One line more. Raises SourceError."""
        if _is_table(line):
            self.begun = at
        elif match := _HEADED.match(line):
            self.begun = at
            self._head(match[1], match[2].strip())
        elif line.strip() == _END:
            self._end()
        elif match := _PAIR.match(line):
            self._pair(path, at, match)
        elif self.open and (match := _LIST.match(line)):
            self._list(self.open, match[1].strip(), match[2].split())

    def _head(self, what: str, value: str) -> None:
        if what == "ISO DATE":
            self._headed = {"ISO date": value}
        elif what == "LABEL":
            self._headed["label"] = value
        else:
            self._headed |= {"command": value, **_of_command(_ARGUMENT.findall(value))}

    def _end(self) -> None:
        if self.open:
            self.phases.append(self.open)
            self._headed.pop("ISO date", None)  # when the first phase began
        self.open = None

    def _pair(self, path: str, at: int, match: re.Match[str]) -> None:
        name, label, last = match[1], match[2], match[4]
        if name and label.startswith("Elapsed "):
            milliseconds = last if label == "Elapsed ms" else _milliseconds(path, at, last)
            self.begun = 0
            self.open = _Phase("text", at, {"operation": name, "time ms [last]": milliseconds, **self._headed}, {}, {})
        elif self.open:
            counted = label.partition("/")[0].partition(" ")[0]
            column = _LABELS.get(label, "")
            if counted in ("Files", "Dirs", "Objects", "Buckets"):
                column = _ENTRIES.get(label.removeprefix(counted), "")
                if counted in ("Objects", "Buckets"):
                    self.open.cells["path type"] = counted
            if column:
                self.open.cells[label] = last
                self.open.cells.setdefault(column, last)  # with --dirstats, directories follow the files

    @staticmethod
    def _list(phase: _Phase, label: str, words: list[str]) -> None:
        match = _TIMES_OF.match(label)
        if match is None:
            return
        prefix = (READS if match[2] == " rd" else "") + ("IO" if match[1] == "IO" else "Ent")
        kind = (match[3] or "").strip()[:1]
        if kind == "h":
            edges, counts = words[::2], words[1::2]
            if len(edges) == len(counts) and all(each.endswith(":") for each in edges):
                pairs = zip(edges, counts, strict=True)
                phase.buckets[prefix] = tuple((edge[:-1], count.rstrip(",")) for edge, count in pairs)
        elif kind == "%":
            stated_at = [each for word in words if (each := _PERCENTILE.match(word))]
            phase.percentiles[prefix] = tuple((each[1], each[2]) for each in stated_at)
        else:
            for each in filter(None, map(_TIME.match, words)):
                phase.cells[f"{prefix} lat us [{each[1]}]"] = f"{each[2]} {each[3] or ''}".strip()


def _table(path: str, lines: list[str], warnings: list[str]) -> list[_Phase]:
    table = _Table()
    for at, line in enumerate(lines, 1):
        table.take(path, at, line.rstrip())
    if table.open:
        name = table.open.cells["operation"]
        warnings.append(f"{path}:{table.open.line}: {name} is cut before the line --- that ends it: left out")
    elif table.begun or _ends_within(lines):
        warnings.append(f"{path}:{table.begun or len(lines)}: the run has no end of a phase here: it may be cut")
    return table.phases


def _ends_within(lines: list[str]) -> bool:
    """Whether a text ends in the middle of a heading: not with the end of a phase, or with a sentence."""
    last = next((line.strip() for line in reversed(lines) if line.strip()), _END)
    return last != _END and not last.endswith(".")


def _milliseconds(path: str, at: int, text: str) -> str:
    """ "2m3.241s", "1h2m3s", "45ms" """
    match = _LENGTH.match(text)
    if not match or not text:
        raise refuse(path, at, f'the elapsed time is "{text[:40]}", not a time')
    hours, minutes = (whole_of(match[place] or "0") or 0 for place in (1, 2))
    rest = number(path, at, match[3] or "0", "the elapsed time") * (1 if match[4] == "ms" else 1000)
    return str(round((hours * 60 + minutes) * 60_000 + rest))


def _of_command(arguments: list[str]) -> dict[str, str]:
    """What the options of a command line say for sure, under the names of the columns."""
    cells = {"direct IO": "1"} if "--direct" in arguments else {}
    cells |= {"random": "1"} if "--rand" in arguments else {}
    cells |= {} if _ELSEWHERE & {*arguments} else {"IO depth": "1"}  # where nothing asks for another
    for option, value in pairwise(arguments):
        if column := _WITH_VALUE.get(option):
            match = _SIZE.match(value)
            size = (whole_of(match[1]) or 0) << 10 * " kmgt".index(match[2].lower() or " ") if match else 0
            cells |= {column: str(size)} if size else {}
    if {"--hosts", "--hostsfile"} & {*arguments}:
        cells.pop("threads", None)
    return cells


def _paths(arguments: list[str]) -> str:
    """What was measured: the arguments before all options, or after them."""
    before = arguments[1:]
    first = next((at for at, each in enumerate(before) if each.startswith("-")), len(before))
    places, rest = before[:first], before[first:]
    last = next((at for at in range(len(rest), 0, -1) if rest[at - 1].startswith("-") or "/" not in rest[at - 1]), 0)
    places += rest[last + (1 if last and rest[last - 1] in _FILES_OF_ITS_OWN else 0) :]
    return places[0] if len(places) == 1 else f"{len(places)} paths" if places else ""


def _row(path: str, phase: _Phase) -> Row | None:
    """The phase as a row; None where it has no I/O to compare."""
    cells, at = phase.cells, phase.line
    kind, arguments = cells["operation"], _ARGUMENT.findall(cells.get("command", ""))
    if cells.get("path type", "") not in _KINDS or "--verifydirect" in arguments or not _is_apart(phase):
        return None
    elapsed_ns = _elapsed_ns(path, phase)
    sides = _SIDES.get("MIX" if _MIX.match(kind) else kind, ())
    pairs = ((op, _figures(path, phase, (op, prefix), elapsed_ns)) for op, prefix in sides)
    ops = tuple(figures for _, figures in pairs if figures)
    named = not ops
    if named and kind in _NAMES and (entries := _whole(path, phase, "entries [last]")):
        ops = (OpFigures(op=_NAMES[kind], ios=entries, bytes=0, times=_times(path, phase, "Ent", entries)),)
    if not ops or not elapsed_ns:
        return None
    threads, hosts = (_whole(path, phase, name) for name in ("threads", "hosts"))
    direct = cells.get("direct IO", "").strip().lower()
    return Row(
        name=f"{cells.get('label', '').strip()} {kind}".strip(),
        test="+".join(each.op for each in ops),
        ops=ops,
        elapsed_ns=elapsed_ns,
        users=bounded(path, at, threads * (hosts or 1), "the threads") if threads else None,
        depth=1 if named else _whole(path, phase, "IO depth"),
        direct=None if named or not direct else direct in _ON,
        locality=Unstated() if named else _order(cells, arguments),
        arrival=Closed() if _back_to_back(phase, arguments, ops) else None,
        path=_paths(arguments),
        started_unix_ns=_started_ns(cells.get("ISO date", "")),
        derived=() if named else ("ios",),
    )


def _is_apart(phase: _Phase) -> bool:
    """Whether the writes of a mix stand without its reads, as from 2.0.7 on."""
    if not _MIX.match(phase.cells["operation"]) or phase.form == "JSON":
        return True
    if phase.form == "CSV":
        return f"{READS}IO lat us [avg]" in phase.cells
    return "IOPS write" in phase.cells or f"{READS}IOPS [last]" not in phase.cells


def _back_to_back(phase: _Phase, arguments: list[str], ops: tuple[OpFigures, ...]) -> bool:
    """Whether each thread did one operation after the other, and the means are fine enough to check that."""
    if any(each.times.coarse and (each.times.coarse.mean_ns or LEAST_MEAN_NS) < LEAST_MEAN_NS for each in ops):
        return False
    if any(each.size_bytes is None and each.op in _NAMES.values() for each in ops):
        return True
    opened = "entries [last]" in phase.cells and phase.cells["entries [last]"].strip()  # files, between the I/Os
    return bool(arguments) and not opened and not (_LIMITS | _ELSEWHERE) & {*arguments}


def _whole(path: str, phase: _Phase, name: str) -> int | None:
    text = phase.cells.get(name, "").strip()
    return whole(path, phase.line, text, name) if text else None


def _elapsed_ns(path: str, phase: _Phase) -> int:
    """The length until the last thread ended: a count over its rate, within the millisecond that is stated."""
    stated_ms = _whole(path, phase, "time ms [last]")
    if stated_ms is None:
        raise refuse(path, phase.line, "it states no elapsed time", SAME_FILE)
    least_ns = bounded(path, phase.line, stated_ms * MS, "the elapsed time")
    pairs = ((f"{name} [last]", f"{name}/s [last]") for name in ("bytes", "entries"))
    rates = [(_whole(path, phase, count), _whole(path, phase, rate)) for count, rate in pairs]
    rates.append((_counted(path, phase, "", least_ns / 1e9), _whole(path, phase, "IOPS [last]")))
    exact_ns = next((count * 1e9 / rate for count, rate in rates if count and rate), 0.0)
    return round(min(max(exact_ns, least_ns), least_ns + MS - US))


def _bytes(path: str, phase: _Phase, prefix: str) -> tuple[int, int]:
    """Between which numbers the bytes lie that were moved: a text and a CSV state whole MiB."""
    moved, mib = (_whole(path, phase, f"{prefix}{name} [last]") for name in ("bytes", "MiB"))
    least = bounded(path, phase.line, (mib or 0) * MIB, "the bytes") if moved is None else moved
    return least, least if moved is not None else least + MIB - 1


def _counted(path: str, phase: _Phase, prefix: str, seconds: float) -> int | None:
    """How many I/Os there were, where it is stated or the bytes or the histogram say it, and the rate agrees."""
    rate, entries, ios, mib = (
        _whole(path, phase, f"{prefix}{name} [last]") for name in ("IOPS", "entries", "IOs", "MiB")
    )
    if ios is not None or rate is None:
        return ios if ios is not None else entries if mib is not None else None  # of files of one block: no IOPS
    slack = 2 + seconds + rate / 1000  # a rate is cut to a whole number, a length to whole ms
    size = _whole(path, phase, "block size")
    least, most = _bytes(path, phase, prefix)
    counts = [sum(whole(path, phase.line, count, _COUNT) for _, count in phase.buckets.get(f"{prefix}IO", ()))]
    if size and (least == most or size % MIB == 0):
        counts.insert(0, least // size if least % size == 0 else 0)
    elif size and not least <= rate * seconds * size <= most:
        counts.append(-(-least // size) if rate * seconds * size < least else most // size)
    return next((each for each in counts if each and abs(each - rate * seconds) <= slack), None)


def _figures(path: str, phase: _Phase, side: tuple[Op, str], elapsed_ns: int) -> OpFigures | None:
    """The reads or writes of a phase; None where there were none."""
    op, prefix = side
    rate, ios = _whole(path, phase, f"{prefix}IOPS [last]"), _counted(path, phase, prefix, elapsed_ns / 1e9)
    if ios is None and rate is None:
        return None
    if ios is None:
        ios = round(bounded(path, phase.line, (rate or 0) * elapsed_ns / 1e9, "the I/Os"))
    size = _whole(path, phase, "block size") or None
    least, most = _bytes(path, phase, prefix)
    exact = size is not None and least <= ios * size <= most
    if phase.form == "text" and not exact:
        size = None  # of the command line, and not what was done
    return OpFigures(
        op=op,
        ios=ios,
        bytes=ios * size if exact and size else least,
        size_bytes=size,
        times=_times(path, phase, f"{prefix}IO", ios),
    )


def _times(path: str, phase: _Phase, prefix: str, ios: int) -> Histogram:
    """The latencies under one prefix: as buckets, else as percentiles, else their mean and extremes alone."""
    least, mean, most = (_time_ns(path, phase, f"{prefix} lat us [{name}]") for name in ("min", "avg", "max"))
    buckets = tuple(_buckets(path, phase, prefix))
    counted = math.fsum(each.weight for each in buckets)
    quantiles: Iterable[Quantile] = ()
    if not buckets:
        edges = ((per_cent, _edge_ns(path, phase, edge)) for per_cent, edge in phase.percentiles.get(prefix, ()))
        quantiles = (
            Quantile(number(path, phase.line, per_cent, "a percentile") / 100, min(edge, most or edge))
            for per_cent, edge in edges
        )
    coarse = Coarse(
        total=round(counted) or ios,
        mean_ns=mean or None,
        min_ns=round(least) if least else None,
        max_ns=round(most) if most else None,
        buckets=buckets,
        whole=counted,
        quantiles=tuple(each for each in quantiles if 0 < each.q < 1),
    )
    return stated(coarse) if mean or most or buckets or coarse.quantiles else Histogram()


def _time_ns(path: str, phase: _Phase, name: str) -> int:
    """A latency in ns; 0 where it is below a microsecond, or not stated."""
    text, _, unit = phase.cells.get(name, "").strip().partition(" ")
    value = number(path, phase.line, text, name) * _TIME_NS.get(unit, US) if text else 0
    return round(bounded(path, phase.line, value, name))


def _buckets(path: str, phase: _Phase, prefix: str) -> Iterator[Bucket]:
    before = 0
    for edge, count in phase.buckets.get(prefix, ()):
        low, high = _edges_ns(path, phase, edge)
        if low < before:
            raise refuse(path, phase.line, f"the bucket up to {edge[:20]}us does not lie after the one before it")
        before = high
        yield Bucket(low, high, whole(path, phase.line, count, _COUNT))


def _edge_ns(path: str, phase: _Phase, upper: str) -> int:
    """The upper edge of a bucket as it is printed."""
    _edges_ns(path, phase, upper)
    return round(number(path, phase.line, upper, "a percentile") * US)


def _edges_ns(path: str, phase: _Phase, upper: str) -> tuple[int, int]:
    """Between which times the bucket lies whose upper edge is printed so: times were cut to whole microseconds."""
    value = number(path, phase.line, upper, "the edge of a bucket")
    step = round(STEPS * math.log2(value)) if value > 1 else 0
    edge = 2 ** (step / STEPS)
    low, high = math.ceil(2 ** ((step - 1) / STEPS)) if step > 1 else 0, math.ceil(edge)
    if not 0 < step <= LAST_STEP or abs(edge - value) > (0.051 if edge < 10 else 0.51) or low >= high:
        raise refuse(path, phase.line, f'"{upper[:20]}" is no edge of a bucket of elbencho')
    return low * US, high * US


def _order(cells: Mapping[str, str], arguments: list[str]) -> Locality:
    random = cells.get("random", "").strip().lower()
    if random in _ON:
        return Uniform()
    plain = arguments and not (_ORDERS | _ELSEWHERE) & {*arguments}
    if random and "--backward" in arguments and "--strided" not in arguments:
        return Sequential(backwards=True)
    return Sequential() if random and plain else Unstated()


def _started_ns(stamp: str) -> int:
    try:
        return moment_ns(round(datetime.fromisoformat(stamp.strip()).timestamp() * 1000), MS)
    except (ValueError, OverflowError, OSError):
        return 0
