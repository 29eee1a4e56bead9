"""Outputs in which names were planted that begin with `secret`: what of them can be read, unpacked tables too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

PLANTED = "secret"
# As root: `iocast` on a machine of that name.
ON_SECRET_HOST = ("unshare", "-u", "sh", "-c", 'hostname secret-host && exec "$@"', "sh")


def planted_in(*places: Path) -> list[str]:
    """The files at and below these places in whose bytes, name or unpacked table a planted name stands."""
    files = [file for place in places for file in ((place,) if place.is_file() else place.rglob("*"))]
    assert files, places
    roots = set(places)
    return [
        str(file)
        for file in files
        if (file not in roots and PLANTED in file.name.lower()) or (file.is_file() and any(map(_planted, _texts(file))))
    ]


def _planted(text: str) -> bool:
    return PLANTED in text.lower()


def _texts(file: Path) -> Iterator[str]:
    """Its bytes, and of a table every cell and every fact of its footer."""
    data = file.read_bytes()
    yield data.decode("latin-1")
    if data[:4] == b"PAR1":
        with duckdb.connect() as connection:
            named = connection.execute("SELECT * FROM read_parquet(?)", [str(file)]).fetchall()
            facts = connection.execute("SELECT key, value FROM parquet_kv_metadata(?)", [str(file)]).fetchall()
        yield repr(named)
        yield from (value.decode() for _, value in facts)


def figures_of(document: str | Path) -> list[Any]:
    """All that is no text in a JSON document, in order."""
    return list(_figures(json.loads(document.read_text() if isinstance(document, Path) else document)))


def _figures(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _figures(each)
    elif isinstance(value, list):
        for each in value:
            yield from _figures(each)
    elif not isinstance(value, str):
        yield value
