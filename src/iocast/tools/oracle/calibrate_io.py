"""Oracle's I/O calibration: what scripts around DBMS_RESOURCE_MANAGER.CALIBRATE_IO print, and its view.

What it is: lines "max_iops = 24002", "latency = 10.868" and "max_mbps = 175" (as the documentation's script prints
them), and the columns of DBA_RSRC_IO_CALIBRATE.
What is read: two rows for each calibration: the most IOPS of small random reads, and the most MB/s of random reads of
1 MiB. Of values printed twice the first, which is not rounded, is kept; other maxima are of the next calibration. The
latency is a remark and no mean: Oracle does not say of which I/Os it is. One of 0 is below a millisecond: unknown.
What it cannot see: the block size of the database, how many I/Os were outstanding, how long it measured, any
percentile.
What is refused: a calibration without max_iops or max_mbps; values that are not numbers.
"""

from __future__ import annotations

import re

from iocast.model.run import Run, Source
from iocast.model.workload import Uniform
from iocast.tools.foreign_numbers import number
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import OpFigures, Row, run

MIB = 1 << 20
_LINE = re.compile(r"^\W*(max[_ ]?iops|max[_ ]?mbps|(?:actual[_ ]?)?latency)\s*[=:]\s*(\S+)", re.IGNORECASE)
_VIEW = ("MAX_IOPS", "MAX_MBPS")


def sniff(head: Head) -> bool:
    """Both maxima as lines, or both columns of the view."""
    lines = list(head.lines())
    if any(_is_view(line) for line in lines):
        return True
    keys = {_key(match[1]) for line in lines if (match := _LINE.match(line))}
    return {"iops", "mbps"} <= keys


def read(paths: tuple[str, ...]) -> Run:
    """The calibration of each file, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    calibrations = [each for path in paths for each in _calibrations(path, read_whole_lines(path, warnings))]
    notes = tuple(
        f"A latency of {latency:g} ms is stated beside {round(each['iops']):,} IOPS. It is unexplained: the source does"
        " not say of which I/Os it is, and at which load."
        for each in calibrations
        if (latency := each.get("latency"))
    )
    rows = [row for maxima in calibrations for row in _maxima(maxima)]
    return run(Source(tool="CALIBRATE_IO", files=paths, notes=notes), rows, warnings=warnings)


def _is_view(line: str) -> bool:
    words = line.upper().split()
    return all(name in words for name in _VIEW)


def _key(name: str) -> str:
    lower = name.lower()
    return "iops" if lower.endswith("iops") else "mbps" if lower.endswith("mbps") else "latency"


def _calibrations(path: str, text: str) -> list[dict[str, float]]:
    calibrations: list[dict[str, float]] = [{}]
    columns: list[str] = []
    for at, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if match := _LINE.match(line):
            key, value = _key(match[1]), number(path, at, match[2].rstrip(",;"), match[1])
            if key == "iops" and round(calibrations[-1].get(key, value)) != round(value):
                calibrations.append({})
            calibrations[-1].setdefault(key, value)
        elif _is_view(line):
            columns = [word.upper() for word in words]
        elif columns and words and not line.strip().startswith("-"):
            # Columns before the maxima may be moments of several words: counted from the end.
            if len(words) < len(columns):
                raise refuse(path, at, f"{len(words)} values under {len(columns)} headings")
            cells = dict(zip(reversed(columns), reversed(words), strict=False))
            for name in ("MAX_IOPS", "MAX_MBPS", "LATENCY"):
                if name in cells:
                    calibrations[-1].setdefault(_key(name), number(path, at, cells[name], name))
            columns = []
    if not all({"iops", "mbps"} <= {*maxima} for maxima in calibrations):
        raise refuse(path, 0, "a calibration without its maxima: it failed, or the file is truncated")
    return calibrations


def _maxima(maxima: dict[str, float]) -> list[Row]:
    ios, megabytes = round(maxima["iops"]), round(maxima["mbps"])
    small = OpFigures(op="read", ios=ios, bytes=0)
    large = OpFigures(op="read", ios=megabytes, bytes=megabytes * MIB, size_bytes=MIB)
    return [
        Row(
            name=name,
            test=name,
            ops=(figures,),
            elapsed_ns=1_000_000_000,  # rates, of a time that is not said
            locality=Uniform(),
            derived=("ios", "length"),
        )
        for name, figures in (("most IOPS", small), ("most MB/s", large))
    ]
