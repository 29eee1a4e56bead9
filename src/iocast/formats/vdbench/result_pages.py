"""The pages of vdbench as tables: which page it is, the averages of each run definition, its histograms."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from iocast.formats.source_files import number, refuse
from iocast.model.stated import Bucket

ORDER = ("flatfile", "summary", "histogram")  # who says most comes first
_FLAT = re.compile(r"^.*\bRun\b\W+Interval\b\W+reqrate\b.*$", re.MULTILINE)
_TABLE = re.compile(r"^.*\binterval\s+i/o\s+MB/sec\b.*$", re.MULTILINE)
_FILES = re.compile(r"ReqstdOps|\.\.\.\.\.mb/sec|cpu%.*read.*write.*mb/sec", re.IGNORECASE)
_BUCKETS = re.compile(r"^\s*min\(ms\)\s*<\s*max\(ms\)\s+count\b", re.MULTILINE)
_START = re.compile(r"Starting RD=(?P<name>[^;]+);(?P<rest>.*)")
_AVERAGE = re.compile(r"avg_(\d{1,9})-(\d{1,9})$")
_INTERVAL = re.compile(r"\d{1,9}$|avg_\d{1,9}-\d{1,9}$")
_CLOCK = re.compile(r"^(\d\d):(\d\d):(\d\d(?:\.\d+)?)$")
_EDGES = re.compile(r"^\s*([\d.,]+)\s*<\s*([\d.,]+|max)\s+([\d,]+)\s+")
_TAGS = re.compile(r"<[^>]*>")
DAY_S = 86_400


class Interval(Struct, frozen=True):
    """One reporting interval: its time of day in seconds, its rate, its mean."""

    second: float
    rate_per_s: float
    resp_ms: float | None


class RunFigures(Struct, frozen=True, kw_only=True):
    """The average of one run definition. None: n/a, or no such column."""

    rate_per_s: float
    mb_per_s: float
    read_percent: float
    resp_ms: float | None
    read_resp_ms: float | None
    write_resp_ms: float | None
    max_ms: float | None
    stdev_ms: float | None
    size_bytes: int | None
    threads: int | None
    seek_percent: float | None
    asked_per_s: float | None
    queue_depth: float | None
    seconds: float
    intervals: list[Interval]


class Histograms(Struct):
    """The counts of one run definition."""

    both: tuple[Bucket, ...] = ()
    reads: tuple[Bucket, ...] = ()
    writes: tuple[Bucket, ...] = ()
    seconds: float | None = None
    threads: int | None = None
    asked_per_s: float | None = None


def kind_of(text: str) -> str:
    """ "flatfile", "summary" (also for totals), "histogram", or "" for none of these pages."""
    if _BUCKETS.search(text[:20_000]):
        return "histogram"
    if _FLAT.search(text[:20_000]):
        return "flatfile"
    return "summary" if _TABLE.search(text[:20_000]) or "Vdbench summary report" in text[:500] else ""


def averages(path: str, text: str, kind: str, warnings: list[str]) -> dict[str, RunFigures]:
    """The average of each run definition, by its name. Raises SourceError."""
    lines = _flat_lines(path, text) if kind == "flatfile" else _summary_lines(path, text)
    rows: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for at, name, row in lines:
        rows.setdefault(name, []).append((at, row))
    found = {}
    for name, own in rows.items():
        last_at, last = own[-1]
        if any(_AVERAGE.match(row["interval"]) for _, row in own[:-1]):
            raise refuse(
                path, last_at, f"figures after the average of {name}: the first line of the next run is damaged"
            )
        if _AVERAGE.match(last["interval"]):
            found[name] = _figures(path, last_at, last, own[:-1])
        else:
            warnings.append(f"{path}:{last_at}: run {name} has no average, so it is truncated: left out")
    for at, line in enumerate(text.splitlines(), 1) if kind == "summary" else ():
        start = _START.search(_TAGS.sub("", line))
        if start and start["name"].strip() not in rows:
            warnings.append(f"{path}:{at}: run {start['name'].strip()} has no average, so it is truncated: left out")
    return found


def _figures(path: str, at: int, row: dict[str, str], own: Sequence[tuple[int, dict[str, str]]]) -> RunFigures:
    def value(name: str) -> float | None:
        text = row.get(name, "n/a")
        return None if text in ("n/a", "") else number(path, at, text.replace(",", ""), name)

    rate, mb, read = value("rate"), value("MB/sec"), value("read%")
    if rate is None or mb is None or read is None:
        raise refuse(path, at, "an average without its rate, MB/sec or read%")
    if read > 100:
        raise refuse(path, at, f"{read:g} % of the I/Os are reads")
    size, threads = value("xfersize"), value("threads")
    average = value("bytes/io")
    size = size if size else average if average and average % 512 == 0 else None
    intervals = [_interval(path, line, each) for line, each in own]
    return RunFigures(
        rate_per_s=rate,
        mb_per_s=mb,
        read_percent=read,
        resp_ms=value("resp"),
        read_resp_ms=value("read_resp"),
        write_resp_ms=value("write_resp"),
        max_ms=value("resp_max"),
        stdev_ms=value("resp_std"),
        size_bytes=round(size) if size else None,
        threads=round(threads) if threads else None,
        seek_percent=value("seekpct"),
        asked_per_s=value("reqrate"),
        queue_depth=value("queue_depth"),
        seconds=_seconds(path, at, row, intervals),
        intervals=intervals,
    )


def _interval(path: str, at: int, row: dict[str, str]) -> Interval:
    resp = row.get("resp", "n/a")
    return Interval(
        _second(path, at, row["tod"]),
        number(path, at, row["rate"].replace(",", ""), "rate"),
        None if resp == "n/a" else number(path, at, resp.replace(",", ""), "resp"),
    )


def _second(path: str, at: int, text: str) -> float:
    found = _CLOCK.match(text)
    if not found:
        raise refuse(path, at, f'"{text}" is not a time of day')
    return int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3])


def _seconds(path: str, at: int, row: dict[str, str], intervals: Sequence[Interval]) -> float:
    """The length of the average: how many intervals it spans, times the usual distance of two of them."""
    found = _AVERAGE.match(row["interval"])
    assert found is not None
    spans = int(found[2]) - int(found[1]) + 1
    if spans < 1 or not int(found[1]):
        raise refuse(path, at, f"{row['interval']} is not a range of intervals")
    if row.get("seconds"):  # the line that begins the run: all its intervals take elapsed and warm-up together
        return spans * (float(row["seconds"]) + float(row.get("warmup", 0))) / int(found[2])
    if len(intervals) < 2:
        raise refuse(path, at, "the length of an interval is not stated, and there is only one")
    whole = (intervals[-1].second - intervals[0].second) % DAY_S
    return spans * max(1.0, round(whole / (len(intervals) - 1)))


def _flat_lines(path: str, text: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Line, run and cells of each row of a flatfile."""
    names: list[str] = []
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        plain = line.strip()
        if not plain or plain.startswith(("*", "<")):
            continue
        cells = next(csv.reader([plain])) if plain.startswith('"') else plain.split()
        if "Interval" in cells and "Run" in cells:
            names = ["interval" if name == "Interval" else "tod" if name == "date" else name for name in cells]
            _needs(path, at, names, ("tod", "Run", "interval", "rate"))
        elif not names:
            raise refuse(path, at, "a row before its heading")
        elif len(cells) != len(names):
            if at == len(lines):
                return  # cut: the run has no average then, and says so
            raise refuse(path, at, f"{len(cells)} values under {len(names)} headings")
        else:
            row = dict(zip(names, cells, strict=True))
            yield at, row["Run"], row


def _needs(path: str, at: int, names: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise refuse(path, at, f"a heading without {', '.join(missing)}")


_SUMMARY = {
    "i/o rate": "rate",
    "MB/sec 1024**2": "MB/sec",
    "bytes i/o": "bytes/io",
    "read pct": "read%",
    "resp time": "resp",
    "read resp": "read_resp",
    "write resp": "write_resp",
    "resp max": "resp_max",
    "resp stddev": "resp_std",
    "queue depth": "queue_depth",
}


def _summary_lines(path: str, text: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Line, run and cells of each row of a summary; a heading stands in two lines."""
    names: list[str] = []
    name, extra = "", {}
    above: list[str] | None = None
    for at, line in enumerate(text.splitlines(), 1):
        plain = _TAGS.sub("", line)
        words = plain.split()
        if start := _START.search(plain):
            name, extra = start["name"].strip(), _of_start(start["rest"])
        elif _TABLE.match(plain):
            above = words[words.index("interval") + 1 :]
        elif above is not None:
            if len(words) != len(above):
                raise refuse(path, at, "an unknown heading")
            pairs = (f"{one} {two}" for one, two in zip(above, words, strict=True))
            names, above = [_SUMMARY.get(pair, pair) for pair in pairs], None
            _needs(path, at, names, ("rate",))
        elif words and _FILES.search(plain) and not names:
            raise refuse(path, at, "results of file system runs (fwd) are not supported", "import a run of SDs")
        elif name and names and len(words) > 1 and _CLOCK.match(words[0]) and _INTERVAL.match(words[1]):
            if len(words) != len(names) + 2:
                raise refuse(path, at, f"{len(words) - 2} values under {len(names)} headings")
            row = dict(zip(names, words[2:], strict=True))
            yield at, name, {**extra, **row, "tod": words[0], "interval": words[1]}


def _of_start(rest: str) -> dict[str, str]:
    """What the line that begins a run says of it."""
    found = {}
    for key, column in (("threads", "threads"), ("elapsed", "seconds"), ("warmup", "warmup"), ("xfersize", "xfersize")):
        if match := re.search(rf"\b{key}=(\d{{1,9}})\b", rest):
            found[column] = match[1]
    rate = re.search(r"I/O rate: (?P<rate>[^;]+);", rest)
    if rate:
        text = rate["rate"].strip().replace(",", "")
        found["reqrate"] = text if re.fullmatch(r"[\d.]+", text) else "999999"
    return found


def histograms(path: str, text: str) -> dict[str, Histograms]:
    """The counts of each run definition, by its name. Raises SourceError."""
    found: dict[str, Histograms] = {}
    own: Histograms | None = None
    part = ""
    buckets: list[Bucket] = []

    def close() -> None:
        if own is not None and part and buckets:
            setattr(own, part, tuple(buckets))

    for at, line in enumerate(text.splitlines(), 1):
        plain = _TAGS.sub("", line)
        if start := _START.search(plain):
            close()
            said, buckets = _of_start(start["rest"]), []
            seconds = float(said["seconds"]) + float(said.get("warmup", 0)) if "seconds" in said else None
            own = found[start["name"].strip()] = Histograms(seconds=seconds)
            own.threads = int(said["threads"]) if "threads" in said else None
            own.asked_per_s = float(said["reqrate"]) if "reqrate" in said else None
        elif plain.strip() in ("Reads and writes:", "Reads:", "Writes:"):
            close()
            part = {"Reads:": "reads", "Writes:": "writes"}.get(plain.strip(), "both")
            buckets = []
        elif edges := _EDGES.match(plain):
            buckets.append(_bucket(path, at, edges))
            if len(buckets) > 1 and buckets[-1].low_ns <= buckets[-2].low_ns:
                raise refuse(path, at, "buckets start again: the heading line is missing or damaged")
    close()
    whole = {name: each for name, each in found.items() if each.both or each.reads or each.writes}
    for name, each in whole.items():
        for counts in (each.both, each.reads, each.writes):
            if counts and counts[-1].high_ns is not None:
                raise refuse(path, 0, f"the histogram of {name} is truncated before its last bucket")
        every, *apart = (sum(bucket.weight for bucket in part) for part in (each.both, each.reads, each.writes))
        if every and sum(apart) and every != sum(apart):
            raise refuse(
                path, 0, f"reads and writes in the histogram of {name} do not add up to its I/Os: it is truncated"
            )
    return whole


def _bucket(path: str, at: int, edges: re.Match[str]) -> Bucket:
    low, high = (
        None if text == "max" else round(number(path, at, text.replace(",", ""), "an edge") * 1e6)
        for text in (edges[1], edges[2])
    )
    return Bucket(low or 0, high, number(path, at, edges[3].replace(",", ""), "a count"))
