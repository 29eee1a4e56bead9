"""Tables of outstanding I/Os beside what iostat saw, file system by file system, as posts about direct I/O have them.

What it is: a table with the heads "Device", "fio QD", "fio QD Type", "direct", "iostat QD" and the number of tasks (the
head of `ps -efT | grep fio | wc -l`, or "tasks"), separated by tabs, bars, commas or two spaces, or copied from a page
with one cell on each line. What stands before and after it is left out.
What is read: each row is a device of its own, named by its file system and how I/O was submitted (libaio, threads):
the outstanding I/Os that were requested, the mean queue at the device, the tasks.
What it cannot see: rates, times, the kernel and whether blocks were overwritten or allocated.
What is refused: a row with a cell that is not a number where one belongs; a heading without rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from iocast import metrics
from iocast.model.run import Run
from iocast.tools.device_series import Report, observed
from iocast.tools.foreign_numbers import number
from iocast.tools.source_files import Head, read_text, refuse

OBSERVER = "queue_table"
_DEVICE = re.compile(r"device")
_FIO_QD = re.compile(r"fio qd")
_QD_TYPE = re.compile(r"fio qd type")
_DIRECT = re.compile(r"direct")
_IOSTAT_QD = re.compile(r"iostat qd")
_TASKS = re.compile(r"ps\b.*|tasks")
_HEADS = (_DEVICE, _FIO_QD, _QD_TYPE, _DIRECT, _IOSTAT_QD, _TASKS)
_CUT = re.compile(r"\t|,|  ")
_BARS = re.compile(r"\|")  # the count of tasks has pipes of its own, but no line that begins with one
_KINDS = ("libaio", "threads", "io_uring", "posixaio", "psync", "sync")
WIDTH = len(_HEADS)

Cells = tuple[int, list[str]]  # the line, and what stands there


def sniff(head: Head) -> bool:
    """Its six heads, one after another, beside each other or below."""
    return "iostat qd" in head.text.lower() and _start([cell for _, cell in _cells(head.text)]) > 0


def read(paths: tuple[str, ...]) -> Run:
    """The rows of these tables, each as a device. Raises SourceError."""
    reports = [Report("", dict(_devices(path, row) for path in paths for row in _rows(path, read_text(path))))]
    return observed("table of queue depths", paths, [(None, reports)], [], observer=OBSERVER)


def _cells(text: str) -> list[tuple[int, str]]:
    """Every cell with its line."""
    return [
        (at, cell.strip())
        for at, line in enumerate(text.splitlines(), 1)
        for cell in (_BARS if line.lstrip().startswith("|") else _CUT).split(line[:1000].strip().strip("|"))
        if cell.strip()
    ]


def _start(cells: list[str]) -> int:
    """Where the rows begin, behind the heading; 0 when there is none."""
    places = (at for at, cell in enumerate(cells) if cell.lower() == "device" and _is_heading(cells, at))
    return next((at + WIDTH for at in places), 0)


def _is_heading(cells: list[str], at: int) -> bool:
    heading = cells[at : at + WIDTH]
    return len(heading) == WIDTH and all(
        head.fullmatch(cell.lower()) for head, cell in zip(_HEADS, heading, strict=True)
    )


def _rows(path: str, text: str) -> Iterator[Cells]:
    """The rows below the heading, as long as the third cell says how I/O was submitted."""
    cells = _cells(text)
    words = [cell for _, cell in cells]
    start = _start(words)
    in_table = False
    for at in range(start, len(words) - WIDTH + 1, WIDTH):
        row = words[at : at + WIDTH]
        if row[2].lower() not in _KINDS:
            break
        in_table = True
        yield cells[at][0], row
    if not in_table:
        raise refuse(path, cells[start - 1][0], "a heading without rows")


def _devices(path: str, row: Cells) -> tuple[str, dict[str, float]]:
    at, (device, depth, by, _, at_device, tasks) = row
    return f"{device}, {by.lower()}", {
        metrics.ASKED_DEPTH: number(path, at, depth, "fio QD"),
        metrics.QUEUE_MEAN: number(path, at, at_device, "iostat QD"),
        metrics.TASKS: number(path, at, tasks, "the number of tasks"),
    }
