"""Tables of folders whose bytes were changed: the core reads them, nothing of them reaches DuckDB's reader."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from makers.damaged_folders import whole_folder
from makers.hostile_folders import QUERIES, TABLES

import iocast
from iocast import archive
from iocast._core import CoreError, Tables
from iocast.archive.parquet import reason
from iocast.errors import ArchiveError

# One value of each byte of a header at a time; what comes out is a run or an ArchiveError, and the process lives.
ALL_BYTES = """
import contextlib, sys
from pathlib import Path
from iocast import archive
from iocast.errors import ArchiveError
folder, name, *places = sys.argv[1:]
file = Path(folder, name)
good, tried = file.read_bytes(), 0
for place in map(int, places):
    for other in (good[place] ^ 0x21, 0x7F if place % 2 else 0xFF):
        file.write_bytes(good[:place] + bytes([other]) + good[place + 1 :])
        for read in (archive.load, archive.load_courses):
            with contextlib.suppress(ArchiveError):
                read(folder)
        tried += 1
file.write_bytes(good)
print(tried)
"""
LONGEST_HEADER = 26


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return whole_folder(tmp_path)


def _places(file: Path, columns: tuple[str, ...]) -> list[int]:
    """The places of the headers of the pages of some columns; without columns some of the footer."""
    asked = f"SELECT path_in_schema, dictionary_page_offset, data_page_offset FROM parquet_metadata('{file}')"
    found = duckdb.sql(asked).fetchall()
    starts = [start for name, *pages in found if name.split(",")[0] in columns for start in pages if start]
    end = file.stat().st_size - 8
    footer = range(end - int.from_bytes(file.read_bytes()[-8:-4], "little"), end, 23)
    return [start + at for start in starts for at in range(LONGEST_HEADER)] if columns else list(footer)


def _without_pages(table: bytes) -> bytes:
    """A table of which only the footer is as it was."""
    footer = int.from_bytes(table[-8:-4], "little")
    return table[:4] + bytes(len(table) - 12 - footer) + table[-8 - footer :]


@pytest.mark.long
@pytest.mark.parametrize("columns", [("op", "response_count"), pytest.param((), marks=pytest.mark.long)])
def test_no_byte_of_a_header_or_footer_ends_the_process(folder: Path, columns: tuple[str, ...]) -> None:
    places = _places(folder / TABLES[0], columns)
    command = [sys.executable, "-c", ALL_BYTES, str(folder), TABLES[0], *map(str, places)]
    tried = subprocess.run(command, capture_output=True, text=True)
    assert tried.returncode == 0, (tried.returncode, tried.stderr[-2000:])
    assert int(tried.stdout) == 2 * len(places)
    archive.load(str(folder))


def test_a_column_of_lists_that_claims_fewer_values_is_read_as_it_is(folder: Path) -> None:
    """44 in place of 236: DuckDB 2.0.0 died of it with SIGSEGV in some processes, in others it refused the table."""
    file, as_it_was = folder / TABLES[0], archive.load_courses(str(folder))
    table = file.read_bytes()
    claims = b"response_index\x04list\x07element\x15\x0c\x16\xd8\x03"
    assert claims in table
    file.write_bytes(table.replace(claims, claims[:-1] + b"\0"))
    assert archive.load_courses(str(folder)) == as_it_was


def test_no_module_lets_duckdb_read_a_parquet_file() -> None:
    reading = re.compile(r"read_parquet|parquet_scan|parquet_(kv_)?metadata|FROM '")
    source = Path(iocast.__file__).parent
    found = [str(file) for file in source.rglob("*.py") if reading.search(file.read_text())]
    assert not found


def test_the_rows_are_those_that_duckdb_reads(folder: Path) -> None:
    for name in TABLES:
        file = folder / name
        ours = duckdb.connect().from_arrow(Tables([str(file)])).fetchall()
        assert ours == duckdb.sql(f"SELECT * FROM '{file}'").fetchall()
        assert len(Tables([str(file)])) == len(ours) > 0
        assert [each[0] for each in duckdb.sql(f"DESCRIBE SELECT * FROM '{file}'").fetchall()] == Tables(
            [str(file)]
        ).columns()


@pytest.mark.long
def test_too_many_samples_are_refused_before_any_is_read(folder: Path) -> None:
    """The pages are zeroed: their footer alone says how many there are."""
    file = folder / TABLES[1]
    shutil.copyfile(file, good := folder / "good.parquet")
    query = QUERIES[TABLES[1]]["samples"].format(file=good).replace("50000000", "5000001")
    duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
    file.write_bytes(_without_pages(file.read_bytes()))
    with pytest.raises(ArchiveError, match="it has more than 5,000,000 rows") as refused:
        archive.load(str(folder))
    assert refused.value.hint == "remove the file to show the card without its samples"


@pytest.mark.parametrize(
    ("query", "packed", "why"),
    [
        ("SELECT 1 AS interval", "zstd", "it has no column `op`"),
        ("SELECT 1::DECIMAL(9, 2) AS op", "zstd", "the column `op` has another type"),
        ("SELECT 'read' AS op", "snappy", "it is compressed with SNAPPY"),
    ],
)
def test_a_table_of_another_kind_says_why(tmp_path: Path, query: str, packed: str, why: str) -> None:
    file = tmp_path / "0.parquet"
    duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet, COMPRESSION {packed})")
    with pytest.raises((CoreError, duckdb.Error), match=re.escape(why)):
        duckdb.connect().from_arrow(Tables([str(file)], ["op"])).fetchall()


def test_a_damaged_reel_and_a_damaged_profile_name_their_file(folder: Path, tmp_path: Path) -> None:
    file = folder / TABLES[1]
    file.write_bytes(_without_pages(file.read_bytes()))
    with pytest.raises(ArchiveError, match=r"000\.parquet cannot be read: the header of a page is damaged"):
        list(archive.reel_samples(folder))
    (profile := tmp_path / "profile").mkdir()
    shutil.copyfile(file, profile / "events.parquet")
    with pytest.raises(iocast.errors.IocastError, match=r"events\.parquet cannot be profiled"):
        iocast.profile(str(profile / "events.parquet"), out=str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "IO Error: Async write failed for range [offset=0, size=3]: "
            r'{"exception_type":"IO","exception_message":"Could not write \"x\": No space","errno":"28"}',
            "No space left on device",
        ),
        ('{"exception_type":"IO","exception_message":"Could not seek"}', "Could not seek"),
        ("IO Error: Cannot open file\n\nLINE 1: COPY", "Cannot open file"),
        ("Out of Memory Error: could not allocate 256 KiB\n\nPossible solutions:", "could not allocate 256 KiB"),
        ("External: No space left on device (os error 28)", "No space left on device"),
        ("Invalid Input Error: Arrow: External: a.parquet ends early", "a.parquet ends early"),
    ],
)
def test_an_error_is_said_in_the_words_of_the_system_or_of_the_core(text: str, words: str) -> None:
    """Never in the JSON of DuckDB."""
    assert reason(RuntimeError(text)) == words
