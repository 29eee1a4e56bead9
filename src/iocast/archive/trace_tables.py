"""A table of events or calls without names: its rows as they are, the names behind their numbers as pseudonyms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from iocast.archive.json_files import unwritable
from iocast.archive.parquet import database, reason
from iocast.errors import ArchiveError
from iocast.model.anonymity.anonymised import anonymised_fields
from iocast.model.anonymity.name_kinds import pseudonym

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from iocast._core import Tables
    from iocast.model.anonymity.pseudonyms import Pseudonyms

# The columns of both tables (docs/guide/traces.md): numbers, and of calls the wait, the number of the session and the
# statement, which alone is a name. What somebody added is left out.
_COLUMNS: Final = frozenset(
    (
        *("ts_ns", "lat_ns", "queue_ns", "op", "offset", "size", "target", "actor", "flags", "layer", "err"),
        *("source", "src_line", "kind", "cursor", "sql", "dep", "start_ns", "elapsed_ns", "cpu_ns", "event", "rows"),
        *("blocks_read", "consistent_gets", "current_gets", "misses", "plan", "session"),
    )
)
_STATEMENT: Final = "sql"
_CALLS: Final = """
SELECT named.* REPLACE (hidden.pseudonym AS sql) FROM named LEFT JOIN hidden ON named.sql = hidden.name
ORDER BY named.source, named.src_line
"""
_PREFIX: Final = "iocast."
_KEPT: Final = ("schema", "units", "ops", "layers", "flags", "kinds", "clock", "epoch_ns", "tick_ns")
_NAMES: Final = {"targets": "target", "actors": "actor"}  # lists of names, by their kinds


def write_without_names(source: Path, place: str, names: Pseudonyms) -> None:
    """Writes the table `source` anew, into the open file that `place` leads to. Raises ArchiveError."""
    import duckdb

    from iocast._core import CoreError, Tables

    try:
        columns = [name for name in Tables([str(source)]).columns() if name in _COLUMNS]
        named = Tables([str(source)], columns)
        with database().cursor() as connection:
            connection.register("named", named)
            if calls := _STATEMENT in columns:
                _put_statements(connection, names)
            query = _CALLS if calls else "SELECT * FROM named"
            connection.execute(f"COPY ({query}) TO {_text(place)} ({_how(named, names, calls=calls)})")
    except (OSError, duckdb.IOException) as error:
        raise unwritable(source.parent, OSError(str(error))) from error
    except (CoreError, duckdb.Error) as error:
        said = f"{source} cannot be read as a table of events: {reason(error)}"
        raise ArchiveError(said, "give a trace, or a table that iocast made of one") from error


def _put_statements(connection: DuckDBPyConnection, names: Pseudonyms) -> None:
    statements = connection.execute("SELECT DISTINCT sql FROM named WHERE sql IS NOT NULL").fetchall()
    connection.execute("CREATE OR REPLACE TEMP TABLE hidden (name VARCHAR, pseudonym VARCHAR)")
    pairs = [[number for (number,) in statements], [pseudonym(names, "statement", number) for (number,) in statements]]
    connection.execute("INSERT INTO hidden SELECT unnest(?::VARCHAR[]), unnest(?::VARCHAR[])", pairs)


def _how(table: Tables, names: Pseudonyms, *, calls: bool) -> str:
    """Numbers take less room in version 2; the core does not read texts as that encodes them."""
    facts = ", ".join(f"{_text(key)}: {_text(value)}" for key, value in _facts(table, names))
    version = "V1" if calls else "V2"
    return f"FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION {version}, USE_TMP_FILE false, KV_METADATA {{{facts}}}"


def _facts(table: Tables, names: Pseudonyms) -> Iterator[tuple[str, str]]:
    """What the footer says; what is not known to say nothing of the user is left out."""
    for key, value in table.facts():
        name = key.removeprefix(_PREFIX)
        if name in _KEPT:
            yield key, value
        elif (fresh := _hidden(name, value, names)) is not None:
            yield key, msgspec.json.encode(fresh).decode()


def _hidden(name: str, value: str, names: Pseudonyms) -> object:
    """Lists of names, what became of each file, texts of statements; None for all else, and for what is damaged."""
    try:
        decoded: Any = msgspec.json.decode(value)
    except msgspec.MsgspecError:
        return None
    if name in _NAMES and isinstance(decoded, list):
        return [pseudonym(names, _NAMES[name], str(each)) for each in decoded]
    if name == "files" and isinstance(decoded, list):
        return [anonymised_fields("TraceFile", each, names) for each in decoded if isinstance(each, dict)]
    if name == "statements" and isinstance(decoded, dict):
        return {hidden: hidden for hidden in (pseudonym(names, "statement", number) for number in decoded)}
    return None


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
