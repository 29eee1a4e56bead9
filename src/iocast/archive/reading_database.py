"""The database that queries the tables of run folders, in bounded memory. The core reads their files for it."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING

from iocast.archive.regular_file import refuse_unfit

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "640MiB"  # a table may unpack to a thousand times its size
_THREADS = 4  # each unpacks a part of its own
_TABLE = re.compile(r"[0-9]{1,9}\.parquet")


@functools.cache
def reading_database() -> DuckDBPyConnection:
    """The database of this process for tables that others made. It opens no file."""
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {
        "enable_external_access": False,
        "memory_limit": MEMORY,
        "max_temp_directory_size": "0KiB",
        "threads": _THREADS,
    }
    return duckdb.connect(config=config)


def tables_in(folder: Path) -> list[Path]:
    """The tables of phases in a folder, by number. Raises OSError, UnfitFile where one is not a regular file."""
    files = [file for file in folder.glob("[0-9]*.parquet") if _TABLE.fullmatch(file.name)]
    for file in files:
        refuse_unfit(file)
    return sorted(files, key=lambda file: int(file.stem))
