"""mdtest's text: the summary of its rates, of versions 1.9 to 4.

What it is: the lines "File creation : 14252.770 14252.770 14252.770 0.000" under "SUMMARY rate": the highest, the
lowest and the mean rate of all iterations, and their deviation.
What is read: of files and directories the mean rate of creating, stat, renaming and removing, each a row; a rate of 0
was not measured and is left out. The tasks; each has one call outstanding.
What it cannot see: how many calls there were, for how long, and their latencies.
What is left out: the rows of trees, which count whole trees, and "File read", which opens, reads and closes. What is
refused: a summary without any rate.
"""

from __future__ import annotations

import re

from iocast.model.run import Run, Source
from iocast.model.workload import Closed, Op
from iocast.tools.foreign_numbers import number, whole_of
from iocast.tools.source_files import Head, read_whole_lines, refuse
from iocast.tools.stated_rows import SECOND_NS, OpFigures, Row, run

_LAUNCHED = re.compile(r"^mdtest-(\S{1,40}) was launched with (\d{1,9}) total task")
_PATH = re.compile(r"^Path {0,40}: (.{1,400})$")
_RATES = re.compile(
    r"^(File|Directory) (creation|stat|rename|removal) {0,40}:? {0,40}([\d.]+) {1,40}([\d.]+) {1,40}([\d.]+)\b"
)
_OPS: dict[tuple[str, str], Op] = {
    ("File", "creation"): "create",
    ("File", "removal"): "unlink",
    ("Directory", "creation"): "mkdir",
    ("Directory", "removal"): "rmdir",
    **{(of, "stat"): "stat" for of in ("File", "Directory")},
    **{(of, "rename"): "rename" for of in ("File", "Directory")},
}


def sniff(head: Head) -> bool:
    """The line that says how it was launched."""
    return any(_LAUNCHED.match(line.strip()) for line in head.lines())


def read(paths: tuple[str, ...]) -> Run:
    """The mean rates of these files, as the rows of one run. Raises SourceError."""
    warnings: list[str] = []
    versions: dict[str, None] = {}
    rows: list[Row] = []
    for path in paths:
        rows += _rows(path, read_whole_lines(path, warnings), versions)
    return run(Source(tool="mdtest", version=", ".join(versions), files=paths), rows, warnings=warnings)


def _rows(path: str, text: str, versions: dict[str, None]) -> list[Row]:
    rows: list[Row] = []
    tasks, place = None, ""
    for at, line in enumerate(text.splitlines(), 1):
        plain = line.strip()
        if match := _LAUNCHED.match(plain):
            versions[match[1]] = None
            tasks, place = whole_of(match[2]) or None, ""
        elif match := _PATH.match(plain):
            place = match[1].strip()
        elif match := _RATES.match(plain):
            calls = round(number(path, at, match[5], "the mean rate"))
            if calls:
                rows.append(_row(match[1], match[2], calls, tasks, place))
    if not rows:
        raise refuse(path, 0, "it has no rate of files or directories: mdtest was stopped, or the file is truncated")
    return rows


def _row(of: str, what: str, calls: int, tasks: int | None, place: str) -> Row:
    """The calls of one second, whose number and length nobody states."""
    op = _OPS[of, what]
    return Row(
        name=f"{of} {what}",
        test=op,
        ops=(OpFigures(op=op, ios=calls, bytes=0),),
        elapsed_ns=SECOND_NS,
        users=tasks,
        depth=1,
        arrival=Closed(),
        path=place,
        derived=("ios", "length"),
    )
