"""What is wrong with a job file, each with its line, as one refusal; what a mistyped name was meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from iocast.errors import SpecError


class LineProblems:
    """The problems, and the notes, of a job file of another tool."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._found: dict[tuple[int, str], tuple[str, str]] = {}
        self._notes: dict[str, None] = {}

    def add(self, line: int, message: str, way_out: str = "", reference: str = "") -> None:
        """Notes one problem; the same one twice counts once."""
        self._found[line, message] = way_out, reference

    def note(self, text: str) -> None:
        """Notes what the user should know; the same sentence once."""
        self._notes[text] = None

    @property
    def count(self) -> int:
        """How many problems there are."""
        return len(self._found)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes, in the order they came."""
        return tuple(self._notes)

    def refuse(self) -> None:
        """Raises SpecError with every problem, if there is any."""
        if self._found:
            raise refusal(self._source, self._found)


def refusal(source: str, problems: Mapping[tuple[int, str], tuple[str, str]]) -> SpecError:
    """One error for all of `problems`: line and message of each, to its way out and reference (see Problems.add)."""
    distinct = sorted(problems.items())
    if len(distinct) == 1:
        ((line, message), (way_out, reference)) = distinct[0]
        return SpecError(f"{source}:{line}: {message}", way_out or reference)
    lines = [f"{source} has {len(distinct)} problems"]
    for (line, message), (way_out, _) in distinct:
        lines.append(f"  {source}:{line}: {message}{f' ({way_out})' if way_out else ''}")
    references = dict.fromkeys(reference for _, (_, reference) in distinct if reference)
    return SpecError("\n".join(lines), "\n".join(references))


def meant(name: str, allowed: Iterable[str], synonyms: Mapping[str, str] | None = None) -> str:
    """The text '; did you mean "size"?' when something allowed is close to `name`, else ""."""
    known = {each.lower(): each for each in allowed}
    close = [(synonyms or {}).get(name.lower(), "")]
    if close[0] not in known:
        close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return f'; did you mean "{known[close[0]]}"?' if close else ""
