"""Folders of schema 1, made by the iocast of that time, open as they did, and are not touched."""

from __future__ import annotations

import io
import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from iocast import archive
from iocast.archive import RunFolder
from iocast.archive.summary_file import read_summary
from iocast.model.codes import code_of_old_name
from iocast.report.card.judged import judge
from iocast.report.renderers import RENDERERS

OLD = Path(__file__).parent / "version_1"
SINCE = {"select": "sequential"}  # defaults of fields that came later
FOLDERS = ("card", "diagnosed", "imported")


def _as_json(run: object) -> Any:
    """What run.json of schema 1 held: all but samples and series."""
    facts = msgspec.json.decode(msgspec.json.encode(run))
    for record in facts["phases"]:
        del record["samples"], record["series"]
    return {name: value for name, value in facts.items() if name not in ("run_id", "schema_version")}


def _known(now: Any, then: Any) -> Any:
    """What there was then; fields that came since are left out where they say nothing (None, False, a default)."""
    if isinstance(now, dict) and isinstance(then, dict):
        return {
            name: _known(value, then.get(name))
            for name, value in now.items()
            if name in then or (value and value != SINCE.get(name))
        }
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        return [_known(one, other) for one, other in zip(now, then, strict=True)]
    return now


def _figures(card: str) -> list[tuple[list[str], str]]:
    """The figures of each row of results, whatever the words around them: times, rates and the strip of latencies."""
    rows = [line for line in card.splitlines() if re.search("[·▁▂▃▄▅▆▇█]{10}", line)]
    return [
        (sorted(re.findall(r"\d[\d.]*(?:ns|µs|ms|s)\b|\d+\.\d+", row)), re.sub("[^·▁▂▃▄▅▆▇█]", "", row)) for row in rows
    ]


def _card(folder: Path) -> str:
    out = io.StringIO()
    report = judge(archive.load(str(folder)), str(folder)).report()
    RENDERERS["terminal"].render(report, out, colour=False, width=100)
    return out.getvalue()


@pytest.mark.parametrize("name", FOLDERS)
def test_nothing_of_an_old_run_is_lost_or_changed(name: str) -> None:
    kept = msgspec.json.decode((OLD / name / "run.json").read_bytes())
    assert kept["schema_version"] == 1
    run = archive.load(str(OLD / name))
    assert _as_json(run) == _as_json(msgspec.convert(kept | {"run_id": ""}, type(run)))
    assert _known(_as_json(run)["plan"], kept["plan"]) == kept["plan"]
    assert run.run_id == archive.load(str(OLD / name)).run_id
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{12}", run.run_id)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_card_of_an_old_folder_has_the_figures_that_it_had(name: str) -> None:
    """The expected card was printed by the iocast that made the folder."""
    before = _figures((OLD / f"{name}.txt").read_text())
    assert len(before) >= 1
    assert _figures(_card(OLD / name)) == before


def test_the_tables_of_schema_1_are_read() -> None:
    run = archive.load(str(OLD / "card"))
    courses = archive.load_courses(str(OLD / "card"))
    assert set(courses) == set(range(12))
    for number, record in enumerate(run.phases):
        assert sum(each.response.total for each in courses[number]) == record.measurement.ios
        assert sum(each.bytes for each in courses[number]) == record.measurement.bytes


def test_old_names_of_findings_become_codes() -> None:
    found = archive.load_diagnosis(str(OLD / "diagnosed"))
    assert found is not None
    assert [step.finding for step in found.steps] == ["cache_in_the_storage"]
    assert code_of_old_name("serialised direct I/O") == "serialised_direct_io"
    assert code_of_old_name("write-cliff") == "write_cliff"


def test_an_experiment_of_an_old_folder_still_decides_its_finding() -> None:
    folder = str(OLD / "diagnosed")
    findings = judge(archive.load(folder), folder).examination.findings
    assert "confirmed" in [finding.state for finding in findings]


def _contents(folder: Path) -> dict[Path, tuple[int, bytes]]:
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", FOLDERS)
def test_opening_rewrites_nothing(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(OLD / name, folder)
    before = _contents(folder)
    judge(archive.load(str(folder)), str(folder)).report(charts=True)
    read_summary(str(folder))
    assert _contents(folder) == before


def test_an_old_run_that_is_saved_again_keeps_its_id_and_can_be_diagnosed(tmp_path: Path) -> None:
    """Reading back what an old run wrote adds to it; so does a diagnosis made now."""
    folder = tmp_path / "diagnosed"
    shutil.copytree(OLD / "diagnosed", folder)
    run, diagnosis = archive.load(str(folder)), archive.load_diagnosis(str(folder))
    assert diagnosis is not None
    archive.save_diagnosis(folder, diagnosis)
    assert archive.load_diagnosis(str(folder)) == diagnosis
    RunFolder.open(folder).save(run)
    assert msgspec.json.decode((folder / "run.json").read_bytes())["schema_version"] == 2
    assert archive.load(str(folder)) == run
    tables = f"{folder}/intervals/*.parquet"
    asked = f"SELECT DISTINCT run_id, target, phase, typeof(ios) FROM '{tables}'"
    assert duckdb.sql(asked).fetchall() == [(run.run_id, "sim:cached-array", "one 8k x1", "BIGINT")]
