"""The tables of vdbench's pages: rows of runs by the names of their columns, of storage and of file system runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from iocast.tools import foreign_numbers
from iocast.tools.foreign_numbers import whole_of
from iocast.tools.source_files import csv_cells, refuse

ORDER = ("flatfile", "summary", "totals", "part", "histogram", "part histogram", "other")  # who says most comes first
HEAD = 20_000
_TABLE = re.compile(r"\binterval\s+i/o\s+MB/sec\b|\.Interval\.+\s+\.+ReqstdOps\.", re.IGNORECASE)
_BUCKETS = re.compile(r"^[^\S\n]*min\(ms\)\s*<\s*max\(ms\)\s+count\b", re.MULTILINE)
_TOTALS = re.compile(r"^Run totals\s*$", re.MULTILINE)
_WHOLE_PAGE = "Total response time histogram"
_OTHER = re.compile(  # pages of its folder, and its own files beside them
    r"<title>Vdbench |^\* Contents of parameter file|^Vdbench distribution: |^Link to Run Definitions:"
    r"|^\* 'flatfile\.html' contains",
    re.MULTILINE,
)


def kind_of(text: str) -> str:
    """One of ORDER, or "" for a text that vdbench did not write."""
    head = text[:HEAD]
    links = "Link to Run Definitions" in head
    if _BUCKETS.search(head) or _WHOLE_PAGE in head[:200]:
        return "histogram" if _WHOLE_PAGE in head or not links else "part histogram"
    if any(is_flat_heading(line) for line in head.splitlines()):
        return "flatfile"
    if "Vdbench summary report" in head[:1000]:
        return "summary"
    if _TABLE.search(head):
        if _TOTALS.search(head[:1000]):
            return "totals"
        return "part" if links else "summary"
    return "other" if _OTHER.search(head[:2000]) else ""


def is_flat_heading(line: str) -> bool:
    """Whether this is the heading of a flatfile, with blanks or as a CSV."""
    words = line.replace('"', " ").replace(",", " ").split() if "Interval" in line else []
    return {"Run", "Interval"} <= {*words} and ("reqrate" in words or "Reqrate" in words)


_TAGS = re.compile(r"<[^<>]*>")
_START = re.compile(r"Starting RD=(?P<name>[^;]+)(?P<rest>;.*)?$")
_SD_TABLE = re.compile(r"\binterval\s+i/o\s+MB/sec\b")
_FWD_TABLE = re.compile(r"\.Interval\.+\s+(?=\.+ReqstdOps\.)")
_AVERAGE = re.compile(r"avg_(\d{1,9})-(\d{1,9})$", re.ASCII)
_INTERVAL = re.compile(r"\d{1,9}$|avg_\d{1,9}-\d{1,9}$")
_CLOCK = re.compile(r"\d\d:\d\d:\d\d(?:\.\d+)?$", re.ASCII)
_WHOLE = re.compile(r"\b(threads|elapsed|warmup)=(\d{1,9})\b")
_SAID = {"threads": "threads", "elapsed": "seconds", "warmup": "warmup"}
_XFERSIZE = re.compile(r"\bxfersize=(\d{1,9})([kmg]?)(?=[\s;]|$)", re.ASCII)
_RDPCT = re.compile(r"\brdpct=(\d{1,3}(?:\.\d{1,6})?)(?=[\s;]|$)")
_RATE = re.compile(r"I/O rate: ([^;]{1,400});|\bfwdrate=([\w.,]{1,400})")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?")
_SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SD_COLUMNS = {
    "i/o rate": "rate",
    "MB/sec 1024**2": "MB/sec",
    "bytes i/o": "bytes/io",
    "read pct": "read%",
    "resp time": "resp",
    "read resp": "read_resp",
    "write resp": "write_resp",
    "resp max": "resp_max",
    "read max": "read_max",
    "write max": "write_max",
    "resp stddev": "resp_std",
    "queue depth": "queue_depth",
}
ALONE = ("pct", "size", "total", "mb")  # words of a file system table that stand alone under their group


class Line(Struct, frozen=True):
    """One row of a table: where it stands, which run of that name it is of (from 0), and its cells."""

    at: int
    run: str
    nth: int
    cells: dict[str, str]


def text_of(line: str) -> str:
    """The line without its tags."""
    return _TAGS.sub("", line)


def start_of(line: str) -> tuple[str, dict[str, str]] | None:
    """The run that this line begins, and what it says of it."""
    match = _START.search(line) if "Starting RD=" in line else None
    return (match["name"].strip(), _of_start(match["rest"] or "")) if match else None


def ungrouped(text: str) -> str:
    """A number without the commas between its thousands; one with a decimal comma stays as it is."""
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text


def span_of(interval: str) -> tuple[int, int] | None:
    """First and last interval of an average."""
    match = _AVERAGE.match(interval)
    return (whole_of(match[1]) or 0, whole_of(match[2]) or 0) if match else None


def second_of_day(path: str, at: int, text: str) -> float:
    """A time of day in seconds. Raises SourceError for anything else."""
    second = foreign_numbers.second_of_day(text) if _CLOCK.match(text) else None
    if second is None:
        raise refuse(path, at, f'"{text[:40]}" is not a time of day')
    return second


def flat_lines(path: str, text: str) -> Iterator[Line]:
    """The rows of a flatfile. After the average of a run the same name begins its next one (a "for" loop)."""
    names: list[str] = []
    latest = ""
    runs: dict[str, int] = {}
    ended = False
    lines = text.splitlines()
    for at, line in enumerate(lines, 1):
        plain = line.strip()
        if not plain or plain.startswith(("*", "<")):
            continue
        cells = csv_cells(path, at, plain) if plain.startswith('"') else plain.split()
        if is_flat_heading(plain):
            names = [_flat_name(name) for name in cells]
            _needs(path, at, names, ("tod", "Run", "interval", "rate"))
        elif not names:
            raise refuse(path, at, "a row before its heading")
        elif len(cells) != len(names):
            if at == len(lines):
                return  # cut: the run has no average then, and says so
            raise refuse(path, at, f"{len(cells)} values under {len(names)} headings")
        else:
            row = dict(zip(names, cells, strict=True))
            name = row["Run"]
            if name != latest or (ended and row["interval"] == "1"):
                runs[name] = runs.get(name, -1) + 1
            latest, ended = name, span_of(row["interval"]) is not None
            yield Line(at, name, runs[name], row)


def _flat_name(name: str) -> str:
    """One name for a column of all versions: those of file system runs begin with a capital letter."""
    lower = name.lower()
    plain = {"interval": "interval", "date": "tod", "rate": "rate", "reqrate": "reqrate", "resp": "resp"}
    return plain.get(lower, "threads" if lower == "threads" else name)


def _needs(path: str, at: int, names: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in names]
    if missing:
        raise refuse(path, at, f"a heading without {', '.join(missing)}")


def summary_lines(path: str, text: str) -> Iterator[Line]:
    """The rows of a summary; a heading stands in two lines."""
    names: list[str] = []
    name, extra = "", dict[str, str]()
    runs: dict[str, int] = {}
    above: tuple[str, list[str]] | None = None
    for at, line in enumerate(text.splitlines(), 1):
        plain = text_of(line)
        words = plain.split()
        if start := start_of(plain):
            name, extra = start
            runs[name] = runs.get(name, -1) + 1
        elif _SD_TABLE.search(plain):
            above = ("sd", words[words.index("interval") + 1 :])
        elif group := _FWD_TABLE.search(plain):
            above = ("fwd", plain[group.end() :].split())
        elif above is not None:
            names, above = _joined(path, at, above, words), None
            _needs(path, at, names, ("rate",))
        elif name and names and len(words) > 1 and _CLOCK.match(words[0]) and _INTERVAL.match(words[1]):
            if len(words) != len(names) + 2:
                raise refuse(path, at, f"{len(words) - 2} values under {len(names)} headings")
            row = dict(zip(names, words[2:], strict=True))
            yield Line(at, name, runs[name], {**extra, **row, "tod": words[0], "interval": words[1]})


def _joined(path: str, at: int, above: tuple[str, list[str]], below: list[str]) -> list[str]:
    """The names of the columns from both lines of a heading."""
    kind, heads = above
    if kind == "sd":
        if len(below) != len(heads):
            raise refuse(path, at, "an unknown heading")
        return [_SD_COLUMNS.get(f"{one} {two}", f"{one} {two}") for one, two in zip(heads, below, strict=True)]
    names: list[str] = []
    rest = list(below)
    for head in heads:
        group = head.strip(".")
        taken = rest[:1] if rest[:1] and rest[0] in ALONE and group != "cpu%" else rest[:2]
        rest = rest[len(taken) :]
        names += [_fwd_name(group, word) for word in taken]
    if rest or len(names) != len(below):
        raise refuse(path, at, "an unknown heading")
    return names


def _fwd_name(group: str, word: str) -> str:
    """The name that a flatfile gives to this column."""
    if group.lower() == "reqstdops":
        return word
    if group.lower() == "mb/sec":
        return "MB/sec" if word == "total" else f"MB_{word}"
    return f"{group.capitalize()}_{word}"


def _of_start(rest: str) -> dict[str, str]:
    """What the line that begins a run says of it."""
    values: dict[str, str] = {}
    for key, value in _WHOLE.findall(rest):
        values.setdefault(_SAID[key], value)
    if size := _XFERSIZE.search(rest):
        values["xfersize"] = str((whole_of(size[1]) or 0) * _SIZES.get(size[2], 1))
    if share := _RDPCT.search(rest):
        values["rdpct"] = share[1]
    rate = _RATE.search(rest)
    if rate:
        text = ungrouped((rate[1] or rate[2]).strip(" ."))
        values["reqrate"] = text if _NUMBER.fullmatch(text) else "999999"
    return values
