"""The runs of one directory as the pages see them: names, lines, reports; nothing outside of it can be named."""

from __future__ import annotations

import io
import os
import threading
import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from iocast import archive
from iocast.archive.catalogue import DEEPEST, Catalogue, CatalogueEntry, group_kind, labels
from iocast.archive.followed_runs import Followed, FollowedRun, finished_runs, jobs_beside, runs_like
from iocast.errors import ArchiveError
from iocast.model.report import Report
from iocast.model.summary import Notes, RowSoFar, row_so_far
from iocast.text import UNSHOWN

if TYPE_CHECKING:
    from iocast.analyse.target_history import RowPoint

MOST_BESIDE = 12  # links to trends of other jobs
MOST_POINTS = 600  # runs of trends whose rows are kept
FRESH_S = 1.0  # how long a listing may be shown again without looking


class Folders:
    """A directory of run folders."""

    def __init__(self, directory: str) -> None:
        self.directory = os.path.realpath(directory)
        self._catalogue = Catalogue(self.directory)
        self._listed: tuple[float, list[CatalogueEntry]] = (0.0, [])
        self._listing, self._changing = threading.Lock(), threading.Lock()

    def runs(self) -> list[CatalogueEntry]:
        """All runs, the newest first; looked for again when the last look is older than a second."""
        with self._listing:
            at, entries = self._listed
            if not entries or time.monotonic() - at > FRESH_S:
                entries = self._catalogue.runs() if os.path.isdir(self.directory) else []
                self._listed = (time.monotonic(), entries)
            return entries

    def folder(self, name: str) -> str:
        """The run folder of a name in the listing. Raises ArchiveError for anything else."""
        path = self._inside(name)
        if path and _is_run(path):
            return path
        if os.path.basename(self.directory) == name and _is_run(self.directory):
            return self.directory
        raise ArchiveError(f"run {name} not found", "it may have been moved or removed")

    def _inside(self, name: str) -> str:
        """The path of a name, "" where it is not below the directory."""
        if "\0" in name:
            return ""
        listed = next((run.folder for run in self.runs() if run.name == name), "") if UNSHOWN in name else ""
        path = os.path.realpath(listed or os.path.join(self.directory, name))
        inside = path == self.directory or path.startswith(self.directory + os.sep)
        deep = len(Path(os.path.relpath(path, self.directory)).parts)
        return path if inside and deep <= DEEPEST + 1 else ""

    def _group(self, name: str) -> str:
        """The folder that `repeat` or `ab` made, "" where the name is none of one."""
        path = self._inside(name)
        return path if path and group_kind(path) and os.path.isdir(path) and not _is_run(path) else ""

    def page(self, name: str) -> str:
        """The report of a run as one HTML page. Raises ArchiveError."""
        folder = self.folder(name)
        return _page(
            folder, _stamps(folder, archive.RUN_FILE, archive.ROWS_FILE, archive.DIAGNOSIS_FILE, archive.NOTES_FILE)
        )

    def comparison(self, names: list[str]) -> str:
        """The comparison of some runs, or groups of repeats, as one HTML page. Raises IocastError."""
        from iocast.report.comparison_report import compare
        from iocast.sessions.comparing import side_of

        folders = tuple(self._group(name) or self.folder(name) for name in names)
        sides = [side_of(label, each) for label, each in zip(labels(folders), folders, strict=True)]
        return _html(compare(sides, charts=True))

    def group_page(self, name: str) -> str:
        """The report of the runs of one `repeat` or `ab` as one HTML page. Raises IocastError."""
        from iocast.model.grading import GradeRequest
        from iocast.sessions.show_again import group_of

        folder = self._group(name)
        if not folder:
            raise ArchiveError(f"group {name} not found", "it may have been moved or removed")
        return _html(group_of(folder, GradeRequest()).report(charts=True))

    def of_trend(self, target: str, host: str = "", job: str = "") -> list[FollowedRun]:
        """The newest runs of a job on a target; what is left open is that of the newest run. Raises ArchiveError."""
        runs = runs_like(finished_runs(self.runs()), Followed(target=target, host=host, job=job))
        if not runs:
            raise ArchiveError(
                f"no finished run on {target or 'a target without a name'}", "choose a target in the list"
            )
        return runs

    def trend(self, runs: list[FollowedRun]) -> str:
        """Such runs over time as one HTML page. Raises IocastError."""
        from iocast.report.trend_report import trend_report
        from iocast.sessions.target_trend import history_of

        history = history_of(runs, lambda folder: _points(folder, _stamps(folder, archive.RUN_FILE)))
        return _html(trend_report(history, charts=True))

    def trends_beside(self, runs: list[FollowedRun]) -> list[tuple[str, dict[str, str]]]:
        """The other jobs and hosts on the target of such runs, newest first: what to call them, what to ask for."""
        line = runs[0][1]
        shown = Followed(target=line.target, host=line.host, job=line.name)
        others = jobs_beside(finished_runs(self.runs()), shown)
        several = len({shown.host, *(each.host for each in others)}) > 1
        return [
            (f"{each.job} on {each.host}" if several else each.job, msgspec.structs.asdict(each))
            for each in others[:MOST_BESIDE]
        ]

    def trend_of(self, name: str) -> dict[str, str]:
        """What to ask `trend` for the runs like one. Raises ArchiveError."""
        line = archive.read_summary(self.folder(name))
        return {"target": line.target, "host": line.host, "job": line.name}

    def notes_of(self, name: str) -> dict[str, Any]:
        """What is said of a run: its notes, and the facts by which one knows it. Raises ArchiveError."""
        folder = self.folder(name)
        entry = next((run for run in self.runs() if run.folder == folder), None)
        summary = msgspec.to_builtins(entry.summary) if entry and entry.summary else None
        notes = archive.load_notes(folder)
        return {"name": name, "note": notes.note, "tags": notes.tags, "summary": summary}

    def note(self, name: str, notes: Notes) -> dict[str, Any]:
        """Keeps the notes of a run. Raises IocastError."""
        with self._changing:
            kept = archive.save_notes(self.folder(name), notes)
            self._listed = (0.0, [])
        return {"note": kept.note, "tags": kept.tags}

    def rename(self, name: str, to: str) -> str:
        """Renames a run folder, which stays where it is; returns its new name in the list. Raises IocastError."""
        with self._changing:
            path = archive.rename_run(self._changeable(name), to)
            self._listed = (0.0, [])
        return os.path.relpath(path, self.directory)

    def delete(self, name: str, *, unproven: bool = False) -> tuple[str, ...]:
        """Deletes a run; returns what was in its folder and is not of a run, which stays. Raises IocastError."""
        with self._changing:
            left = archive.delete_run(self._changeable(name), unproven=unproven)
            self._listed = (0.0, [])
        return left

    def _changeable(self, name: str) -> str:
        folder = self.folder(name)
        if folder == self.directory:
            raise ArchiveError(
                f"{name} is the served directory itself", "serve the directory above it, or change it in a shell"
            )
        return folder

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
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=16)
def _page(folder: str, _as_it_was: _Stamps) -> str:
    from iocast.report.card.judged import judge

    return _html(judge(archive.load(folder), folder).report(charts=True))


@lru_cache(maxsize=16)
def _rows(folder: str, _as_it_was: _Stamps) -> tuple[RowSoFar, ...]:
    return tuple(row_so_far(record) for record in archive.load(folder).measured)


@lru_cache(maxsize=MOST_POINTS)
def _points(folder: str, _as_it_was: _Stamps) -> tuple[RowPoint, ...]:
    from iocast.sessions.target_trend import points_in

    return points_in(folder)


def _html(report: Report) -> str:
    from iocast.report.renderers import RENDERERS

    out = io.StringIO()
    RENDERERS["html"].render(report, out, colour=False, width=0)
    return out.getvalue()
