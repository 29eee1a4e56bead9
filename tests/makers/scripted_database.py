"""A database on paper: a session that answers each statement from a list, to be changed while it is watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iocast.databases.query import LostError, RefusedError
from iocast.tools.database_rows import Row


class ScriptedSession:
    """Answers by the first key that a statement contains; an error is raised, a list given."""

    def __init__(self, answers: dict[str, list[Row] | Exception]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.closed = False

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[Row]:
        """All rows of the answer."""
        self.asked.append(sql)
        if self.closed:
            raise LostError("closed")
        for key, answer in self.answers.items():
            if key in sql:
                if isinstance(answer, Exception):
                    raise answer
                return [dict(row) for row in answer]
        raise RefusedError(f"ORA-00942: no answer for {sql[:80]}", lasting=True)

    def close(self) -> None:
        """Ends it."""
        self.closed = True


def dialled(answers: dict[str, list[Row] | Exception], made: list[ScriptedSession]) -> Callable[[], ScriptedSession]:
    """What connects to it; the sessions that were made are added to a list."""

    def dial() -> ScriptedSession:
        made.append(ScriptedSession(answers))
        return made[-1]

    return dial
