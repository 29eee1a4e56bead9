"""A run folder that was damaged or forged is refused by name, with a way out; nothing else ever comes out of it."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from makers.saved_runs import saved

from iocast import archive
from iocast.archive.catalogue import runs_below
from iocast.archive.under_way_file import save_under_way
from iocast.errors import ArchiveError
from iocast.model.experiment import Diagnosis, Outcome, Step
from iocast.model.run import Sample
from iocast.model.summary import UnderWay, row_so_far
from iocast.report.card.judged import judge
from iocast.report.listing import listing
from iocast.report.renderers import RENDERERS
from iocast.web.folders import Folders

NUMBERS = {"intervals": "response_sum_ns", "samples": "time_ns"}  # a column of numbers of each table
FILES = ("run.json", "summary.json", "diagnosis.json", "under_way.json")
ODD: tuple[Any, ...] = (
    *(None, True, "", "x", "\0", [], [[]], {}, {"a": 1}, [None], 0, -1, 1, 7, 0.5, -0.5, 1e308, -1e308, 5e-324),
    *(
        2**31,
        2**53,
        2**63 - 1,
        2**63,
        2**64,
        -(2**63),
        -(2**64),
        10**30,
        10**400,
        float("nan"),
        float("inf"),
        "é" * 9999,
    ),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all four files."""
    run, folder = saved(tmp_path_factory.mktemp("whole"), (Sample(1, "diskstats", "vda", "reads", 2.0),))
    outcome = Outcome(verdict="confirmed", says="It is.", ratio=2.0, low=1.5, high=2.5, evidence={"ratio": 2.0})
    phase = run.phases[0].phase.name
    step = Step(finding="cache_in_the_storage", phase=phase, hypothesis="h", question="q", outcome=outcome, run="r")
    archive.save_diagnosis(folder.path, Diagnosis(steps=(step,), untested={"page_cache": "why"}))
    folder.save(run)
    rows = tuple(row_so_far(record) for record in run.measured)
    save_under_way(folder.path, UnderWay("p", 1, 2, rows=rows))
    return folder.path


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with every key in it."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _damaged(text: bytes, chance: random.Random) -> bytes:
    """The text with one fault: a bit, a cut, a value that is gone or another."""
    way = chance.randrange(5)
    if way == 0:
        at = chance.randrange(len(text))
        return text[:at] + bytes([text[at] ^ (1 << chance.randrange(8))]) + text[at + 1 :]
    if way == 1:
        return text[: chance.randrange(len(text))]
    document = json.loads(text)
    by_kind: dict[Any, list[tuple[Any, Any]]] = {}
    for container, key in _places(document):
        by_kind.setdefault(key if isinstance(key, str) else "", []).append((container, key))
    container, key = chance.choice(by_kind[chance.choice(sorted(by_kind))])
    if way == 2:
        del container[key]
    elif way == 3 and isinstance(container[key], int | float):
        container[key] = chance.choice((-container[key], container[key] * 10**6, container[key] + 1, 0))
    else:
        container[key] = chance.choice(ODD)
    return json.dumps(document).encode()


def _read_all(folder: Path) -> None:
    """All that reads a folder; only ArchiveError may come of it."""
    for read in (archive.load, archive.load_courses, archive.load_diagnosis, archive.read_summary):
        with contextlib.suppress(ArchiveError):
            read(str(folder))
    archive.load_under_way(str(folder))
    archive.owner_alive(str(folder))
    with contextlib.suppress(ArchiveError):
        json.dumps(Folders(str(folder.parent)).progress(folder.name))
    found = runs_below(str(folder.parent))
    RENDERERS["terminal"].render(listing(tuple(found), 1, "runs"), io.StringIO(), colour=False, width=100)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(FILES), seed=st.integers(0, 2**64))
def test_nothing_but_an_archive_error_comes_of_damage(whole: Path, tmp_path: Path, name: str, seed: int) -> None:
    folder = tmp_path / "run"
    if not folder.exists():
        shutil.copytree(whole, folder)
    for file in FILES:
        shutil.copyfile(whole / file, folder / file)
    (folder / name).write_bytes(_damaged((whole / name).read_bytes(), random.Random(seed)))
    _read_all(folder)
    with contextlib.suppress(ArchiveError):
        report = judge(archive.load(str(folder)), str(folder)).report()
        RENDERERS["terminal"].render(report, io.StringIO(), colour=False, width=100)


def test_damaged_tables_are_named(whole: Path, tmp_path: Path) -> None:
    """Cut short, of no rows, without a column, of another type."""
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    for table, reads in (("intervals", (archive.load, archive.load_courses)), ("samples", (archive.load,))):
        file = folder / table / "000.parquet"
        good = file.read_bytes()
        for fault in (good[:-7], good[: len(good) // 2], b"", b"PAR1" * 9):
            file.write_bytes(fault)
            for read in reads:
                with pytest.raises(ArchiveError, match=r"000\.parquet cannot be read") as refused:
                    read(str(folder))
                assert refused.value.hint.startswith("remove the file")
            file.write_bytes(good)
        column = NUMBERS[table]
        others = (
            f"SELECT * REPLACE ({value} AS {column}) FROM read_parquet('{file}.good')" for value in ("'x'", "NULL")
        )
        for query in ("SELECT 1 AS interval", *others):
            Path(f"{file}.good").write_bytes(good)
            duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
            for read in reads:
                with pytest.raises(ArchiveError, match=r"000\.parquet cannot be read"):
                    read(str(folder))
        file.write_bytes(good)
    archive.load(str(folder))


def test_missing_tables_leave_a_run(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    shutil.rmtree(folder / "intervals")
    (folder / "samples/000.parquet").unlink()
    assert archive.load_courses(str(folder)) == {}
    assert len(archive.load(str(folder)).phases) == 2
    (folder / "intervals").write_text("no folder")
    assert len(archive.load(str(folder)).phases) == 2


@pytest.mark.parametrize(
    ("name", "text", "hint"),
    [
        ("run.json", b"[" * 100_000, "the file was changed or cut short"),
        ("run.json", b'{"schema_version": 2, "run_id": "\xff"}', "the file was changed or cut short"),
        ("diagnosis.json", b'{"schema_version": 1, "steps": 3}', "remove it, and diagnose again"),
        ("diagnosis.json", b'{"schema_version": 99}', "read it with the iocast that wrote it, or a newer one"),
    ],
)
def test_the_file_and_the_way_out_are_said(whole: Path, tmp_path: Path, name: str, text: bytes, hint: str) -> None:
    shutil.copytree(whole, tmp_path / "run")
    (tmp_path / "run" / name).write_bytes(text)
    with pytest.raises(ArchiveError, match=name) as refused:
        (archive.load if name == "run.json" else archive.load_diagnosis)(str(tmp_path / "run"))
    assert refused.value.hint == hint
