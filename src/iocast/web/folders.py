"""The runs of one directory as the pages see them: names, lines, reports; nothing outside of it can be named."""

from __future__ import annotations

import io
import os
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from iocast import archive
from iocast.archive.catalogue import DEEPEST, Found, labels, runs_below
from iocast.errors import ArchiveError
from iocast.model.report import Report
from iocast.model.summary import RowSoFar, row_so_far
from iocast.text import UNSHOWN

FRESH_S = 1.0  # how long a listing may be shown again without looking


class Folders:
    """A directory of run folders."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.realpath(directory)
        self._listed: tuple[float, list[Found]] = (0.0, [])

    def runs(self) -> list[Found]:
        """All runs, the newest first; looked for again when the last look is older than a second."""
        at, found = self._listed
        if not found or time.monotonic() - at > FRESH_S:
            found = runs_below(self.directory) if os.path.isdir(self.directory) else []
            self._listed = (time.monotonic(), found)
        return found

    def folder(self, name: str) -> str:
        """The run folder of a name in the listing. Raises ArchiveError for anything else."""
        refusal = ArchiveError(f"run {name} not found", "it may have been moved or removed")
        if "\0" in name:
            raise refusal
        listed = next((run.folder for run in self.runs() if run.name == name), "") if UNSHOWN in name else ""
        path = os.path.realpath(listed or os.path.join(self.directory, name))
        inside = path == self.directory or path.startswith(self.directory + os.sep)
        deep = len(Path(os.path.relpath(path, self.directory)).parts)
        if inside and deep <= DEEPEST + 1 and _is_run(path):
            return path
        if os.path.basename(self.directory) == name and _is_run(self.directory):
            return self.directory
        raise refusal

    def page(self, name: str) -> str:
        """The report of a run as one HTML page. Raises ArchiveError."""
        folder = self.folder(name)
        return _page(folder, _stamps(folder, archive.RUN_FILE, archive.DIAGNOSIS_FILE, archive.SUMMARY_FILE))

    def comparison(self, names: list[str]) -> str:
        """The comparison of some runs as one HTML page. Raises IocastError."""
        from iocast.diagnose.comparable import side
        from iocast.report.comparison.comparison_report import compare

        folders = tuple(self.folder(name) for name in names)
        sides = [side(label, (archive.load(each),)) for label, each in zip(labels(folders), folders, strict=True)]
        return _html(compare(sides, charts=True))

    def progress(self, name: str) -> dict[str, Any]:
        """How far a run is: its line, the rows so far, what is under way. Raises ArchiveError.

        While it runs two small files say all of it; the run itself is read once, when it has ended.
        """
        folder = self.folder(name)
        summary = archive.read_summary(folder)
        under_way = archive.load_under_way(folder)
        rows = under_way.rows if under_way else _rows(folder, _stamps(folder, archive.RUN_FILE))
        now = under_way if under_way and under_way.phase and summary.status == "running" else None
        return {
            "name": name,
            "summary": msgspec.to_builtins(summary),
            "rows": msgspec.to_builtins(rows),
            "under_way": msgspec.to_builtins(now) if now else None,
        }


def _is_run(path: str) -> bool:
    return os.path.isfile(os.path.join(path, archive.RUN_FILE))


# When each file was changed, and its size; (0, 0) where it is not there.
_Stamps = tuple[tuple[int, int], ...]


def _stamps(folder: str, *files: str) -> _Stamps:
    return tuple(_stamp(os.path.join(folder, file)) for file in files)


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=16)
def _page(folder: str, _as_it_was: _Stamps) -> str:
    from iocast.report.card.judged import judge

    return _html(judge(archive.load(folder), folder).report(charts=True))


@lru_cache(maxsize=16)
def _rows(folder: str, _as_it_was: _Stamps) -> tuple[RowSoFar, ...]:
    return tuple(row_so_far(record) for record in archive.load(folder).measured)


def _html(report: Report) -> str:
    from iocast.report.renderers import RENDERERS

    out = io.StringIO()
    RENDERERS["html"].render(report, out, colour=False, width=0)
    return out.getvalue()
