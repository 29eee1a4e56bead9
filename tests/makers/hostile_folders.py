"""Faults that only somebody who means it makes in a run folder: what hangs, swells, nests, or speaks to a terminal."""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
from makers.damaged_folders import FILES, ODD, damaged

# Titles, colours, 8-bit controls, overrides of direction, ends of lines, formulas, tags: for every reader something.
HOSTILE = (
    "=1+1\x1b]0;owned\x07\x1b[31m\x9b2J\u202egnp\u2066\u2028# h\x7f\x00\r\n![x](http://evil.example/x)<script>|`*_"
)
SEEN = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u2028", "\x7f", "\x00", "\r")
TABLES = ("intervals/000.parquet", "samples/000.parquet")
_EVERY = (*FILES, "notes.json", *TABLES)
_DEEP = 100_000


def _replaced(file: Path) -> Path:
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    else:
        file.unlink(missing_ok=True)
    return file


def _socket(file: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        before = os.getcwd()
        os.chdir(file.parent)  # the path of a socket is short
        try:
            made.bind(file.name)
        finally:
            os.chdir(before)


def _sparse(file: Path, size: int) -> None:
    with file.open("wb") as out:
        out.write(b'{"schema_version": 2')
        out.truncate(size)


def _footer(file: Path) -> None:
    """A table of 4 GiB of nothing, whose footer says that it is nearly as long."""
    with file.open("wb") as out:
        out.write(b"PAR1")
        out.truncate(4 << 30)
        out.seek(0, os.SEEK_END)
        out.write((3 << 30).to_bytes(4, "little") + b"PAR1")


IN_PLACE: dict[str, Callable[[Path], object]] = {
    "fifo": os.mkfifo,
    "directory": Path.mkdir,
    "socket": _socket,
    "endless": lambda file: file.symlink_to("/dev/zero"),
    "terminal": lambda file: file.symlink_to("/dev/tty"),
    "kernel": lambda file: file.symlink_to("/proc/kmsg"),
    "loop": lambda file: file.symlink_to(file.name),
    "dangling": lambda file: file.symlink_to("nowhere"),
    "terabyte": lambda file: _sparse(file, 1 << 40),
    "footer": _footer,
    "arrays": lambda file: file.write_bytes(b"[" * _DEEP),
    "objects": lambda file: file.write_bytes(b'{"a":' * _DEEP),
    "closed": lambda file: file.write_bytes(b"[" * _DEEP + b"]" * _DEEP),
    "field": lambda file: file.write_bytes(b'{"schema_version":2,"x":' + b"[" * _DEEP + b"]" * _DEEP + b"}"),
    "latin": lambda file: file.write_bytes(b'{"schema_version": 2, "run_id": "\xff\xfe"}'),
    "empty": lambda file: file.write_bytes(b""),
    "null": lambda file: file.write_bytes(b"null"),
    "number": lambda file: file.write_bytes(b"1e400"),
    "digits": lambda file: file.write_bytes(b'{"schema_version": ' + b"9" * 5000 + b"}"),
    "older": lambda file: file.write_bytes(b'{"schema_version": 1, "x": [' + b"[]," * 3_000_000 + b"[]]}"),
    "swollen": lambda file: file.write_bytes(b'{"schema_version": 2, "phases": [' + b"{}," * 9_000_000 + b"{}]}"),
    "locked": lambda file: (file.write_bytes(b"{}"), file.chmod(0)),
}

_MANY = "FROM range({})"
# What to make of a table with COPY: `{file}` is the table as it was.
QUERIES: dict[str, dict[str, str]] = {
    TABLES[0]: {
        "buckets": "SELECT * REPLACE ([0, 2000000000, 5]::INTEGER[] AS response_index, [1, 1, 1]::BIGINT[] AS "
        "response_count) FROM '{file}'",
        "lists": "SELECT * REPLACE (range(3000000)::INTEGER[] AS response_index) FROM '{file}' LIMIT 40",
        "late": "SELECT * REPLACE (9223372036854775807 AS start_ns) FROM '{file}'",
        "far": "SELECT * REPLACE (2147483647 AS interval) FROM '{file}'",
        "negative": "SELECT * REPLACE (-5 AS response_sum_ns, -1 AS interval) FROM '{file}'",
        "infinite": "SELECT * REPLACE ('inf'::DOUBLE AS response_sum_squares) FROM '{file}'",
        "nan": "SELECT * REPLACE ('nan'::DOUBLE AS response_sum_squares) FROM '{file}'",
        "huge": "SELECT * REPLACE (9223372036854775807 AS ios, 9223372036854775807 AS bytes) FROM '{file}'",
        "times": "SELECT a.* REPLACE (range::INTEGER AS interval, range * 5000000 AS start_ns) FROM "
        "(SELECT * FROM '{file}' LIMIT 1) a, range(3000000)",
        "operations": "SELECT * REPLACE (repeat('x', 5000000) AS op) FROM '{file}' LIMIT 20",
    },
    TABLES[1]: {
        "samples": "SELECT a.* FROM (SELECT * FROM '{file}' LIMIT 1) a, range(50000000)",
        "names": "SELECT a.* REPLACE (range::VARCHAR AS subject) FROM (SELECT * FROM '{file}' LIMIT 1) a,"
        " range(300000)",
        "infinite": "SELECT * REPLACE ('-inf'::DOUBLE AS value) FROM '{file}'",
        "nan": "SELECT * REPLACE ('nan'::DOUBLE AS value) FROM '{file}'",
        "times": "SELECT * REPLACE (-9223372036854775807 AS time_ns) FROM '{file}'",
        "long": "SELECT a.* REPLACE (repeat('x', 2000000) AS subject) FROM '{file}' a, range(400)",
    },
}


def _strings(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with the keys of its strings."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        if isinstance(value[key], str):
            yield value, key
        else:
            yield from _strings(value[key])


def with_words(file: Path, chance: random.Random, share: float) -> None:
    """A document with some of its strings replaced by HOSTILE."""
    document = json.loads(file.read_bytes())
    for container, key in _strings(document):
        if chance.random() < share:
            container[key] = HOSTILE
    file.write_text(json.dumps(document))


# The words of a run that are nobody's codes: all of them at once leave a folder that is read.
WORDS = {
    "run.json": ("name", "path", "kernel", "cpu_model", "why", "says", "file", "iocast_version"),
    "summary.json": ("name", "target", "host", "verdict"),
    "diagnosis.json": ("says", "hypothesis", "question"),
}


def with_free_words(folder: Path) -> None:
    """A folder in which all that is free text is HOSTILE, and which is whole."""
    for name, keys in WORDS.items():
        document = json.loads((folder / name).read_bytes())
        for container, key in _strings(document):
            if key in keys or isinstance(key, int):
                container[key] = HOSTILE
        (folder / name).write_text(json.dumps(document))
    (folder / "notes.json").write_text(json.dumps({"note": HOSTILE, "tags": ["a\u202eb", "=1+1"]}))


def _tiny_intervals(folder: Path, chance: random.Random) -> None:
    """Intervals of next to no time, or phases of next to all of it."""
    document = json.loads((folder / "run.json").read_bytes())
    for record in document["phases"]:
        record["plan"]["interval_ns"] = chance.choice((1, 7, 100, 2**40, 2**63, -1, 0))
        if chance.random() < 0.5:
            record["measurement"]["issuing_ns"] = chance.choice((1, 10**9, 4 * 10**6, 4 * 10**15, 2**63 - 1))
    (folder / "run.json").write_text(json.dumps(document))


def _many_phases(folder: Path, chance: random.Random) -> None:
    document = json.loads((folder / "run.json").read_bytes())
    document["phases"] = document["phases"] * chance.choice((20, 15_000))
    (folder / "run.json").write_text(json.dumps(document))


@functools.cache  # the largest take some seconds
def _table(name: str, kind: str, good: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as scratch, duckdb.connect(config={"memory_limit": "1GB"}) as base:
        file, fresh = Path(scratch, "good.parquet"), Path(scratch, "fresh.parquet")
        file.write_bytes(good)
        query = QUERIES[name][kind].format(file=file)
        base.execute(f"COPY ({query}) TO '{fresh}' (FORMAT parquet, COMPRESSION zstd)").fetchall()
        return fresh.read_bytes()


def _other_table(folder: Path, chance: random.Random) -> str:
    name = chance.choice(TABLES)
    kind = chance.choice(sorted(QUERIES[name]))
    (folder / name).write_bytes(_table(name, kind, (folder / name).read_bytes()))
    return f"{name} {kind}"


def _noise(folder: Path, chance: random.Random) -> None:
    _noise_in(folder / chance.choice(TABLES), chance)


def _noise_in(file: Path, chance: random.Random) -> None:
    """Bits of a table, most in its footer, which says what is where and how large."""
    text = bytearray(file.read_bytes())
    for _ in range(chance.choice((1, 2, 8))):
        first = len(text) // 2 if chance.random() < 0.7 else 0
        text[chance.randrange(first, len(text))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
    file.write_bytes(text if chance.random() < 0.9 else text[: chance.randrange(len(text))])


def _one_fault(folder: Path, chance: random.Random) -> None:
    name = chance.choice(FILES)
    file = folder / name
    if file.is_file():
        file.write_bytes(damaged(file.read_bytes(), chance))


def _in_place(folder: Path, chance: random.Random) -> str:
    file, kind = _replaced(folder / chance.choice(_EVERY)), chance.choice(sorted(IN_PLACE))
    IN_PLACE[kind](file)
    return f"{file.name} {kind}"


def _in_folder_place(folder: Path, chance: random.Random) -> None:
    way = chance.choice(("fifo", "directory", "loop", "endless", "empty"))
    IN_PLACE[way](_replaced(folder / chance.choice(("intervals", "samples"))))


def _words(folder: Path, chance: random.Random) -> None:
    if chance.random() < 0.3:
        with_free_words(folder)
    else:
        with_words(folder / chance.choice(FILES), chance, chance.choice((0.02, 0.2, 1.0)))


def _values(folder: Path, chance: random.Random) -> None:
    """Several odd values in one document."""
    file = folder / chance.choice(FILES)
    for _ in range(chance.randrange(2, 5)):
        file.write_bytes(damaged(file.read_bytes(), random.Random(chance.randrange(2**32) * 5 + 4)))
        try:
            json.loads(file.read_bytes())
        except ValueError:
            return


_WAYS: tuple[tuple[Callable[[Path, random.Random], object], int], ...] = (
    (_one_fault, 10),
    (_values, 5),
    (_noise, 5),
    (_in_place, 8),
    (_in_folder_place, 1),
    (_words, 3),
    (_tiny_intervals, 2),
    (_other_table, 1),
    (_many_phases, 1),
)
assert ODD


def make_hostile(folder: Path, chance: random.Random) -> str:
    """Makes one or two faults in a whole folder; says which."""
    ways, weights = zip(*_WAYS, strict=True)
    (way,) = chance.choices(ways, weights)
    return f"{way.__name__} {way(folder, chance) or ''}"


def make_any_hostile(folder: Path, chance: random.Random) -> str:
    """Makes a fault in a folder of any kind, a tape or a profile: noise in a table, odd values, what is no file."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".parquet"))
    tables = [path for path in files if path.suffix == ".parquet"]
    file = chance.choice(tables if chance.random() < 0.6 else files)
    if chance.random() < 0.12:
        kind = chance.choice(sorted(IN_PLACE))
        IN_PLACE[kind](_replaced(file))
        return f"{file.name} {kind}"
    if file.suffix == ".parquet":
        _noise_in(file, chance)
    elif chance.random() < 0.2:
        with_words(file, chance, chance.choice((0.02, 0.2, 1.0)))
    else:
        file.write_bytes(damaged(file.read_bytes(), chance))
    return f"damage in {file.name}"
