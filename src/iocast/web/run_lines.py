"""The list of runs as JSON: the line of a run is made once, and a page that has the list is not sent it again."""

from __future__ import annotations

import secrets
import threading
from typing import Any, NamedTuple

import msgspec

from iocast.archive.catalogue import Found, group_kind
from iocast.report.renderers.safe_words import safe
from iocast.web.folders import Folders


class Lines(NamedTuple):
    """All lines, and a word for them: another list has another word."""

    version: str
    lines: tuple[msgspec.Raw, ...]


class RunLines:
    """The lines of the runs of a directory."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._of: list[Found] | None = None
        self._made: dict[str, tuple[Found, msgspec.Raw]] = {}
        self._all = Lines("", ())
        self._making = threading.Lock()

    def told(self) -> Lines:
        """Those of now. Raises ArchiveError."""
        with self._making:
            found = self._folders.runs()
            if found is not self._of:
                before, self._made = self._made, {}
                for run in found:
                    known = before.get(run.folder)
                    self._made[run.folder] = known if known and known[0] is run else (run, _encoded(run))
                self._all = Lines(secrets.token_hex(8), tuple(line for _, line in self._made.values()))
                self._of = found
            return self._all


def _encoded(run: Found) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(_line(safe(run))))


def _line(run: Found) -> dict[str, Any]:
    facts = msgspec.to_builtins(run.summary) if run.summary else {}
    said = {"note": run.notes.note, "tags": run.notes.tags}
    grouped = {"group": run.group, "group_kind": group_kind(run.group)} if run.group else {}
    return {**facts, **said, **grouped, "job": facts.get("name", ""), "name": run.name, "why": run.why}
