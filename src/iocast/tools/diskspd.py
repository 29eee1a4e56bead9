"""diskspd's results: its text (-Rtext) and its XML (-Rxml).

What it is: what Microsoft's diskspd 2.x prints at its end, for each timespan of its profile.
What is read: each timespan is a row: reads and writes apart, their bytes, number, mean and standard deviation, and
with -L their minimum, percentiles and maximum. Block size, threads, outstanding I/Os, caching and write-through are
those of its first target. Times are milliseconds from submission. In the XML the targets of all threads are added up.
What it cannot see: when I/Os were due, where a rate was asked for (-g) or a think time.
What is refused: a timespan without its totals; a value that is not a number; XML that declares entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from iocast.model.histogram import Histogram
from iocast.model.run import Host, Run, Source
from iocast.model.stated import Coarse, Quantile
from iocast.model.workload import Closed, Locality, Op, Sequential, Uniform, Unstated
from iocast.tools import consistency
from iocast.tools.foreign_numbers import number, number_of, whole_of
from iocast.tools.source_files import Head, read_text, read_whole_lines, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MS_NS = 1_000_000
_RESULTS = re.compile(r"^Results for timespan (\d{1,4}):", re.MULTILINE)
_TIMESPAN = re.compile(r"^[^\S\n]*timespan:[^\S\n]+(\d{1,4})[^\S\n]*$", re.MULTILINE)
_SECONDS = re.compile(r"^actual test time:\s*([\d.]+)s", re.MULTILINE)
_THREADS = re.compile(r"^thread count:\s*(\d{1,6})", re.MULTILINE)
_TABLE = re.compile(r"^(Total|Read|Write) IO\s*$")
_TOTAL = re.compile(r"^total:\s+\d")
_PERCENTILE = re.compile(r"^\s*(min|max|\d{1,2}(?:st|nd|rd|th)|\d-nines)\s*\|(.*)$")
_LAST = re.compile(r"\s{0,20}max\s{0,20}(?:\|\s{0,40}(?:\d{1,20}\.\d{3}|N/A)\s{0,20}){3}")
_SIZE = re.compile(r"block size:\s*(\d{1,12})(KiB|MiB|GiB|B)?")
_OUTSTANDING = re.compile(r"number of outstanding I/O operations(?: per thread)?:\s*(\d{1,6})")
_PATH = re.compile(r"^[^\S\n]*path: '([^'\n]{1,500})'", re.MULTILINE)
_THINKS = re.compile(r"think time:\s*(\d{1,9})")
_COMPUTER = re.compile(r"computer name:\s*(\S+)")
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_OPS: tuple[tuple[str, Op], ...] = (("Read", "read"), ("Write", "write"))


class _TimespanLoad(Struct, frozen=True, kw_only=True):
    """The load of a timespan, as its input parameters say it. None: not said, or not the same for all targets."""

    path: str = ""
    size_bytes: int | None = None
    depth: int | None = None
    direct: bool | None = None
    durable: bool | None = None
    locality: Locality = Unstated()
    paced: bool = False


class _Did(Struct, frozen=True, kw_only=True):
    """What one operation did in a timespan; times in ms."""

    ios: int
    bytes: int
    mean: float | None = None
    stdev: float | None = None
    marks: Mapping[float, float] = {}  # percentiles; 0 is the minimum, 100 the maximum


def sniff(head: Head) -> bool:
    """The line before the results, or the elements of the XML."""
    if head.text.lstrip().startswith("<"):
        return "<Results>" in head.text[:4000] and ("<TimeSpan>" in head.text or "<Profile>" in head.text)
    return _RESULTS.search(head.text) is not None


def read(paths: tuple[str, ...]) -> Run:
    """The timespans of these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    hosts: set[str] = set()
    warnings: list[str] = []
    for path in paths:
        text = read_text(path)
        name, own = (
            _xml(path, text) if text.lstrip().startswith("<") else _text(path, read_whole_lines(path, warnings, _LAST))
        )
        hosts.add(name)
        rows += own
    warnings += [line for row in rows for line in consistency.inconsistencies(row)]
    host = Host(name=hosts.pop() if len(hosts) == 1 else "", kernel="", cpus=0, cpu_model="", memory_bytes=0)
    return run(Source(tool="diskspd", files=paths), rows, warnings=warnings, host=host)


def _row(path: str, load: _TimespanLoad, seconds: float, threads: int | None, did: Mapping[Op, _Did]) -> Row:
    used = {op: each for op, each in did.items() if each.ios}
    if not used or not seconds:
        raise refuse(path, 0, "a timespan without I/Os: the run was interrupted or failed")
    total = sum(each.ios for each in used.values())
    where = {Uniform: "random ", Sequential: "sequential "}.get(type(load.locality), "")
    what = " ".join(f"{round(100 * each.ios / total)}% {op}s" for op, each in used.items()) if len(used) > 1 else ""
    name = f"{where}{what or next(iter(used)) + 's'}"
    return Row(
        name=name,
        test=name,
        ops=tuple(
            OpFigures(op=op, ios=each.ios, bytes=each.bytes, size_bytes=load.size_bytes, times=_times(each))
            for op, each in used.items()
        ),
        elapsed_ns=round(seconds * 1e9),
        users=threads,
        depth=load.depth,
        direct=load.direct,
        sync=None if load.durable is None else "dsync" if load.durable else "none",
        locality=load.locality,
        arrival=None if load.paced else Closed(),
        path=load.path,
        engine="iocp",
    )


def _times(did: _Did) -> Histogram:
    if did.mean is None and not did.marks:
        return Histogram()
    return stated(
        Coarse(
            total=did.ios,
            mean_ns=None if did.mean is None else did.mean * MS_NS,
            stdev_ns=None if did.stdev is None else did.stdev * MS_NS,
            min_ns=round(did.marks[0.0] * MS_NS) if 0.0 in did.marks else None,
            max_ns=round(did.marks[100.0] * MS_NS) if 100.0 in did.marks else None,
            quantiles=tuple(
                Quantile(round(mark / 100, 12), round(value * MS_NS))
                for mark, value in sorted(did.marks.items())
                if 0 < mark < 100
            ),
        )
    )


def _text(path: str, text: str) -> tuple[str, list[Row]]:
    starts = [match.start() for match in _RESULTS.finditer(text)]
    loads = [_timespan_load(part) for part in _TIMESPAN.split(text[: starts[0]])[2::2]]
    computer = _COMPUTER.search(text[: starts[0]])
    rows = []
    for place, (start, end) in enumerate(zip(starts, [*starts[1:], None], strict=True)):
        part = text[start:end]
        first = text.count("\n", 0, start) + 1
        seconds, threads = _SECONDS.search(part), _THREADS.search(part)
        if not seconds:
            raise refuse(path, first, "results without their test time: the file is truncated")
        tables = dict(_tables(path, first, part))
        if not {"Read", "Write"} <= {*tables}:
            raise refuse(path, first, "results without totals of reads and writes: the file is truncated")
        marks = _marks(path, first, part)
        if ("%-ile" in part or "measuring latency" in text[: starts[0]]) and not any(
            100.0 in own for own in marks.values()
        ):
            raise refuse(path, first, "percentiles without their maximum: the file is truncated")
        did = {op: _did(path, *tables[name], marks.get(op, {})) for name, op in _OPS}
        load = loads[place] if place < len(loads) else _TimespanLoad()
        length = number(path, first, seconds[1], "the test time")
        rows.append(_row(path, load, length, whole_of(threads[1]) if threads else None, did))
    return computer[1] if computer else "", rows


def _timespan_load(part: str) -> _TimespanLoad:
    """The load of a timespan from its words: of several targets only what they have in common."""
    paths = _PATH.findall(part)
    sizes = {(whole_of(value) or 0) * _UNITS[unit] for value, unit in _SIZE.findall(part)}
    depths = {whole_of(value) for value in _OUTSTANDING.findall(part)}
    random, sequential = "using random I/O" in part, "using sequential I/O" in part
    cached = "using software cache" in part
    through, back = "writethrough on" in part, "writethrough off" in part
    thinks = any(value != "0" for value in _THINKS.findall(part))
    return _TimespanLoad(
        path=paths[0] if len(paths) == 1 else f"{len(paths)} files" if paths else "",
        size_bytes=sizes.pop() if len(sizes) == 1 else None,
        depth=depths.pop() if len(depths) == 1 and (len(paths) == 1 or "threads per file" in part) else None,
        direct=None if cached == ("software cache disabled" in part) else not cached,
        durable=None if through == back else through,
        locality=Unstated() if random == sequential else Uniform() if random else Sequential(),
        paced=thinks or ("throughput" in part and "rate" in part),
    )


def _tables(path: str, first: int, part: str) -> Iterator[tuple[str, tuple[int, dict[str, str]]]]:
    """Each table's total: its line and its cells by the names of the columns."""
    name, columns = "", list[str]()
    for at, line in enumerate(part.splitlines(), first):
        if match := _TABLE.match(line):
            name, columns = match[1], []
        elif name and line.startswith("thread |"):
            columns = [cell.strip() for cell in line.split("|")][1:]
        elif columns and _TOTAL.match(line):
            cells = [cell.strip() for cell in line.partition(":")[2].split("|")]
            if len(cells) > len(columns) or not {"bytes", "I/Os"} <= {*columns[: len(cells)]}:
                raise refuse(path, at, f"{len(cells)} values under {len(columns)} headings")
            yield name, (at, dict(zip(columns, cells, strict=False)))
            name, columns = "", []


def _did(path: str, at: int, cells: Mapping[str, str], marks: Mapping[float, float]) -> _Did:
    def value(name: str) -> float | None:
        text = cells.get(name, "N/A")
        return None if text in ("N/A", "") else number(path, at, text, name)

    ios, moved = value("I/Os"), value("bytes")
    if ios is None or moved is None:
        raise refuse(path, at, "a total without bytes or I/Os")
    mean = value("AvgLat")
    stdev = None if mean is None else value("LatStdDev")
    return _Did(ios=round(ios), bytes=round(moved), mean=mean, stdev=stdev, marks=marks)


def _marks(path: str, first: int, part: str) -> dict[Op, dict[float, float]]:
    """The percentiles of -L: those of all targets together, which stand under "total:"."""
    marks: dict[Op, dict[float, float]] = {}
    inside = False
    for at, line in enumerate(part.splitlines(), first):
        if "%-ile" in line:
            inside, marks = "Read (ms)" in line and "Write (ms)" in line, {}
        elif inside and (mark := _PERCENTILE.match(line)):
            cells = [cell.strip() for cell in mark[2].split("|")]
            for (_, op), cell in zip(_OPS, cells, strict=False):
                if cell not in ("N/A", ""):
                    marks.setdefault(op, {})[_percent(mark[1])] = number(path, at, cell, mark[1])
    return marks


def _percent(word: str) -> float:
    """ "25th", "3-nines", "min" or "max" as per cent."""
    if word.endswith("-nines"):
        return 100 - 100 * (number_of(f"1e-{word[0]}") or 0.0)
    return {"min": 0.0, "max": 100.0}.get(word, number_of(word[:-2]) or 0.0)


def _xml(path: str, text: str) -> tuple[str, list[Row]]:
    from xml.etree import ElementTree

    if "<!" in text:
        raise refuse(path, 0, "the XML declares entities or comments, which diskspd never does")
    try:
        root = ElementTree.fromstring(text[: text.rfind(">") + 1].strip())
    except ElementTree.ParseError as error:
        raise refuse(path, error.position[0], "the XML is truncated or damaged") from None
    except RecursionError:
        raise refuse(path, 0, "the XML is damaged: it is nested too deeply") from None
    loads = [_of_profile(each) for each in root.findall("./Profile/TimeSpans/TimeSpan")]
    rows = []
    for place, each in enumerate(root.findall("./TimeSpan")):
        seconds, threads = _cell(path, each, "TestTimeSeconds"), _cell(path, each, "ThreadCount")
        if seconds is None:
            raise refuse(path, 0, "a timespan without TestTimeSeconds")
        did = {op: _of_span(path, each, name) for name, op in _OPS}
        load = loads[place] if place < len(loads) else _TimespanLoad()
        rows.append(_row(path, load, seconds, round(threads) if threads else None, did))
    if not rows:
        raise refuse(path, 0, "it has no timespan with results")
    return root.findtext("./System/ComputerName", "").strip(), rows


def _cell(path: str, each: Element, name: str) -> float | None:
    text = each.findtext(name)
    return None if text is None or not text.strip() else number(path, 0, text, name)


def _of_span(path: str, span: Element, name: str) -> _Did:
    targets = span.findall("./Thread/Target")
    ios, moved = (sum(_cell(path, each, f"{name}{what}") or 0.0 for each in targets) for what in ("Count", "Bytes"))
    latency = span.find("Latency")
    if latency is None:
        return _Did(ios=round(ios), bytes=round(moved))
    marks = {}
    for bucket in latency.findall("Bucket"):
        percent, value = _cell(path, bucket, "Percentile"), _cell(path, bucket, f"{name}Milliseconds")
        if percent is not None and value is not None and percent <= 100:
            marks[percent] = value
    return _Did(
        ios=round(ios),
        bytes=round(moved),
        mean=_cell(path, latency, f"Average{name}Milliseconds"),
        stdev=_cell(path, latency, f"{name}LatencyStdev"),
        marks=marks,
    )


def _of_profile(span: Element) -> _TimespanLoad:
    targets = span.findall("./Targets/Target")

    def common(*names: str) -> str | None:
        texts = {next((text for name in names if (text := each.findtext(name))), "") for each in targets}
        return texts.pop().strip() or None if len(texts) == 1 else None

    def whole(*names: str) -> int | None:
        text = common(*names)
        return whole_of(text)

    cached = {"true": False, "false": True}.get((common("DisableOSCache", "DisableAllCache") or "").lower())
    random = common("Random") is not None
    paths = [each.findtext("Path") or "" for each in targets]
    return _TimespanLoad(
        path=paths[0] if len(paths) == 1 else f"{len(paths)} files" if paths else "",
        size_bytes=whole("BlockSize"),
        depth=whole("RequestCount") if len(paths) == 1 or common("ThreadsPerFile") else None,
        direct=None if cached is None else not cached,
        durable={"true": True, "false": False}.get((common("WriteThrough") or "").lower()),
        locality=Uniform() if random else Sequential() if common("StrideSize", "InterlockedSequential") else Unstated(),
        paced=any(
            (each.findtext("ThinkTime") or "0") != "0" or each.find("Throughput") is not None for each in targets
        ),
    )
