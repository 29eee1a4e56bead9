"""Collects everything that is wrong with a job file, each with its line, and refuses them all at once."""

from __future__ import annotations

from collections.abc import Mapping

from iocast.jobs.toml.line_numbers import Path, key_lines, line_of
from iocast.tools.line_problems import refusal

LISTED = ("phase", "database")  # tables of which a job file has several


class Problems:
    """The problems found so far in one job file."""

    def __init__(self, source: str, text: str) -> None:
        self._source = source
        self._lines: Mapping[Path, int] = key_lines(text)
        self._found: dict[tuple[int, str], tuple[str, str]] = {}
        self._paths: list[Path] = []

    def add(self, path: Path, message: str, *, way_out: str = "", reference: str = "") -> None:
        """Notes one problem of the field or table at `path`; the same one twice counts once.

        `way_out` is what to do about this one, `reference` a list that serves several of its kind.
        """
        self._found[line_of(self._lines, path), message] = way_out, reference
        self._paths.append(path)

    def inside(self, path: Path) -> bool:
        """True when there is a problem in the table at `path`."""
        return any(inner[: len(path)] == path for inner in self._paths)

    def refuse(self) -> None:
        """Raises SpecError with every problem in the order of lines, if there is any."""
        if self._found:
            raise refusal(self._source, self._found)


def table_text(path: Path) -> str:
    """How people call the table that `path` is in: "phase 2", "database 1", "[defaults]", "" at the top."""
    if len(path) > 1 and path[0] in LISTED and isinstance(path[1], int):
        return f"{path[0]} {path[1] + 1}"
    return f"[{path[0]}]" if path else ""


def field_text(path: Path) -> str:
    """How people call the field at `path`: "phase 2: region.size", "[files] size", "name"."""
    inside = path[2:] if path[0] in LISTED else path[1:]
    if not inside:
        return table_text(path) if len(path) > 1 else str(path[0])
    name = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in inside).removeprefix(".")
    return f"{table_text(path)}{':' if path[0] in LISTED else ''} {name}"
