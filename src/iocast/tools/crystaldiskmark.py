"""CrystalDiskMark's text: what its menu copies or saves, versions 3 to 8.

What it is: lines "SEQ 1MiB (Q= 8, T= 1): 7427.749 MB/s [7083.7 IOPS] <987.81 us>" under [Read], [Write] and [Mix], or
"Random Read 4KiB (Q= 32,T= 16) : ..." of older versions.
What is read: each line is a row: MB/s of 1000 x 1000, IOPS, and the mean time where it is printed. T are threads, Q
the I/Os outstanding in each; QD= of version 3 is Q. Sizes are of 1024 (also where version 3 writes KB). The length is
that of a measurement, where the text says it.
What it cannot see: percentiles; which of its runs a figure is of (it shows the best of five); for a mix, the time of
its reads and of its writes. Older versions do not state the size of sequential I/O.
What is refused: a line whose figures cannot be read; a text without results.
"""

from __future__ import annotations

import re

from iocast.model.histogram import Histogram
from iocast.model.run import Run, Source
from iocast.model.stated import Coarse
from iocast.model.workload import Closed, Op, Sequential, Uniform
from iocast.tools.foreign_numbers import number, number_of, whole
from iocast.tools.source_files import Head, read_text, refuse
from iocast.tools.stated_rows import OpFigures, Row, run, stated

BEST = "CrystalDiskMark shows the best of its runs, not their mean."
_TITLE = re.compile(r"^(?:>|[^\S\n])*CrystalDiskMark (\d+(?:\.\d+)*)", re.MULTILINE)
_SECTION = re.compile(r"^\[(Read|Write|Mix)\](?: Read (\d{1,3})%)?")
_LINE = re.compile(
    r"^(?P<kind>SEQ|RND|Sequential|Random)\s+(?:(?P<op>Read|Write)\s+)?(?:(?P<size>\d{1,6})\s?(?P<unit>[KM])i?B\s*)?"
    r"(?:\((?:(?:Q=\s*(?P<depth>\d{1,4}),\s*)?T=\s*(?P<threads>\d{1,4})|QD=\s*(?P<qd>\d{1,4}))\)\s*)?:\s*(?P<rest>.*)$"
)
_RESULT = re.compile(r"^([\d.]+) MB/s(?:\s*\[\s*([\d.]+) IOPS\])?(?:\s*<\s*([\d.]+) us>)?\s*$")
_DATE = re.compile(r"^[> ]{0,20}Date ?:", re.MULTILINE)
_MEASURED = re.compile(r"Time: Measure (\d{1,5}) sec")
_UNITS = {"K": 1 << 10, "M": 1 << 20}


def sniff(head: Head) -> bool:
    """Its name, or its explanation of MB/s, and a line of results."""
    known = _TITLE.search(head.text) or "* MB/s = 1,000,000 byte" in head.text
    return bool(known) and any(_LINE.match(_plain(line)) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The results of these files, as the rows of one run. Raises SourceError."""
    rows: list[Row] = []
    versions: dict[str, None] = {}
    warnings: list[str] = []
    for path in paths:
        text = read_text(path)
        if not _DATE.search(text):
            warnings.append(f"{path}: the lines about the test (Time:, Date:) are missing: it may be cut")
        versions |= {match[1]: None for match in _TITLE.finditer(text)}
        rows += _rows(path, text)
    return run(
        Source(tool="CrystalDiskMark", version=", ".join(versions), files=paths, notes=(BEST,)), rows, warnings=warnings
    )


def _plain(line: str) -> str:
    return line.lstrip("> \t").rstrip()


def _rows(path: str, text: str) -> list[Row]:
    measured = _MEASURED.search(text)
    seconds = (number_of(measured[1]) or None) if measured else None
    share: dict[str, float] = {}
    rows = []
    for at, line in enumerate(text.splitlines(), 1):
        plain = _plain(line)
        if section := _SECTION.match(plain):
            share = {"Read": {"read": 1.0}, "Write": {"write": 1.0}}.get(section[1], _mix(path, at, section[2]))
        elif match := _LINE.match(plain):
            own = {match["op"].lower(): 1.0} if match["op"] else share
            result = _RESULT.match(match["rest"])
            if not result:
                raise refuse(path, at, f'"{match["rest"][:40]}" is no result in MB/s')
            if not own:
                raise refuse(path, at, "a result that is neither of reads nor of writes")
            rows.append(_row(path, at, match, result, own, seconds))
    if not rows:
        raise refuse(path, 0, "it has no result")
    return rows


def _mix(path: str, at: int, percent: str | None) -> dict[str, float]:
    if percent is None:
        return {}
    read = number(path, at, percent, "the share of reads") / 100
    if not 0 < read < 1:
        raise refuse(path, at, f"a mix of {percent} % reads")
    return {"read": read, "write": 1 - read}


def _row(
    path: str, at: int, match: re.Match[str], result: re.Match[str], share: dict[str, float], seconds: float | None
) -> Row:
    moved_per_s = number(path, at, result[1], "MB/s") * 1e6
    figures = {name: whole(path, at, match[name], name) for name in ("size", "qd", "depth", "threads") if match[name]}
    size = figures["size"] * _UNITS[match["unit"]] if "size" in figures else None
    rate = number(path, at, result[2], "IOPS") if result[2] else moved_per_s / size if size else None
    mean_ns = number(path, at, result[3], "the mean time") * 1e3 if result[3] else None
    length = seconds or 1.0
    ops = []
    names: dict[str, Op] = {"read": "read", "write": "write"}
    for name, part in share.items():
        ios = round((rate or 0.0) * part * length)
        times = Coarse(total=ios, mean_ns=mean_ns)
        ops.append(
            OpFigures(
                op=names[name],
                ios=ios,
                bytes=round(moved_per_s * part * length),
                size_bytes=size,
                times=stated(times) if mean_ns and len(share) == 1 else Histogram(),
            )
        )
    sequential = match["kind"] in ("SEQ", "Sequential")
    name = f"{'' if sequential else 'rand'}{'rw' if len(share) > 1 else next(iter(share))}"  # as iocast names rows
    depth, users = figures.get("depth", figures.get("qd")), figures.get("threads")
    return Row(
        name=f"{name} {match['size']}{match['unit'].lower()}" if size else name,
        test=name,
        ops=tuple(ops),
        elapsed_ns=round(length * 1e9),
        users=1 if users is None and match["qd"] else users,
        depth=1 if depth is None and users is not None else depth,
        locality=Sequential() if sequential else Uniform(),
        arrival=Closed(),
        derived=("ios", *(() if seconds else ("length",))),
    )
