"""A copy without names is the run again: older schemas, what was diagnosed, runs that died, tables that others made."""

from __future__ import annotations

import socket
from io import StringIO
from pathlib import Path

import duckdb
import msgspec
import pytest
from makers.planted_names import figures_of, planted_in
from makers.saved_runs import empty_run, measured, saved
from msgspec.structs import replace

from iocast import archive
from iocast.archive.trace_tables import write_without_names
from iocast.errors import ArchiveError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.experiment import Diagnosis, DiagnosisStep, Outcome
from iocast.model.run import Blind, Host, Sample
from iocast.model.summary import Notes, Owner, UnderWay
from iocast.report.renderers import RENDERERS
from iocast.sessions.anonymous import anonymous_copies
from iocast.sessions.anonymous.anonymous_copies import copies_of
from iocast.sessions.run_card import open_card

VERSION_1 = Path(__file__).parents[2] / "archive/version_1"
NAMES = Pseudonyms()


def shown(folder: str) -> str:
    out = StringIO()
    RENDERERS["json"].render(open_card(folder).report(charts=True), out, colour=False, width=120)
    return out.getvalue()


@pytest.mark.parametrize("name", ["card", "diagnosed", "imported"])
def test_a_folder_of_the_first_schema_has_the_same_figures(name: str) -> None:
    folder = str(VERSION_1 / name)
    with copies_of((folder,), NAMES) as copied:
        (copy,) = copied.folders
        assert figures_of(shown(copy)) == figures_of(shown(folder))
        assert copied.without_rooms(copy) == Path(copy).name
    assert not Path(copy).exists()


def test_all_that_a_folder_has_is_copied_without_names(tmp_path: Path) -> None:
    samples = (Sample(1, "diskstats", "md_secret", "reads", 1.0), Sample(2, "diskstats", "md_secret", "reads", 3.0))
    run, folder = saved(tmp_path, samples)
    host = Host(name="secret-host", kernel="6.1-secret", cpus=2, cpu_model="c", memory_bytes=1 << 30)
    folder.save(replace(run, host=host, blind=(Blind("block", "/srv/secret is gone"),), warnings=("secret",)))
    place = str(folder.path)
    archive.save_notes(place, Notes(note="a secret", tags=("secret",)))
    step = DiagnosisStep(
        finding="stalls",
        phase="secret 8k",
        hypothesis="a secret",
        question="Is it secret?",
        outcome=Outcome(verdict="confirmed", says="it is secret", ratio=1.5),
        run="2026-secret",
    )
    archive.save_diagnosis(folder.path, Diagnosis(steps=(step,), untested={"throttle": "secret"}))
    assert planted_in(folder.path)
    with copies_of((place,), NAMES) as copied:
        (copy,) = copied.folders
        assert planted_in(Path(copy)) == []
        hidden, named = archive.load(copy), archive.load(place)
        assert [record.measurement for record in hidden.phases] == [record.measurement for record in named.phases]
        assert [record.series for record in hidden.phases] == [record.series for record in named.phases]
        values = [[(each.time_ns, each.metric, each.value) for each in record.samples] for record in named.phases]
        assert [
            [(each.time_ns, each.metric, each.value) for each in record.samples] for record in hidden.phases
        ] == values
        assert archive.load_courses(copy) == archive.load_courses(place)
        diagnosis = archive.load_diagnosis(copy)
        assert diagnosis is not None
        assert diagnosis.steps[0].outcome.ratio == 1.5
        assert figures_of(shown(copy)) == figures_of(shown(place))


def test_a_run_that_died_is_told_as_one_that_ended_early(tmp_path: Path) -> None:
    run = empty_run()
    folder = archive.RunFolder.create(str(tmp_path), run)
    record, intervals = measured(run, 0)
    folder.save_phase(0, record.phase.name, intervals, ())
    folder.save(replace(run, phases=(record,)))
    owner = Owner(host=socket.gethostname(), boot_id="before", pid_namespace="", pid=1, started_ticks=1)
    (folder.path / archive.UNDER_WAY_FILE).write_bytes(msgspec.json.encode(UnderWay(owner=owner)))
    place = str(folder.path)
    assert archive.is_dead(archive.load(place), place)
    with copies_of((place,), NAMES) as copied:
        copy = archive.load(copied.folders[0])
        assert (copy.status, len(copy.phases)) == ("interrupted", 1)


def test_whoever_may_rename_where_copies_are_made_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, folder = saved(tmp_path / "runs")
    temporary, foreign = tmp_path / "temporary", tmp_path / "foreign"
    temporary.mkdir()
    foreign.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    copy = anonymous_copies._copy

    def swapped(folder: str, base: str, names: Pseudonyms) -> str:
        (room,) = temporary.iterdir()
        room.rename(tmp_path / "aside")
        room.symlink_to(foreign)
        return copy(folder, base, names)

    monkeypatch.setattr(anonymous_copies, "_copy", swapped)
    with copies_of((str(folder.path),), NAMES) as copied:
        (made,) = copied.folders
        assert archive.load(made).status == archive.load(str(folder.path)).status
        assert list(foreign.iterdir()) == []
        assert [each.name for each in (tmp_path / "aside").iterdir()] == [copied.without_rooms(made)]
        assert all(copied.without_rooms(f"{room}/x") == "x" for room in copied.rooms)
    assert list((tmp_path / "aside").iterdir()) == list(foreign.iterdir()) == []
    assert all(each.is_symlink() for each in temporary.iterdir())


def test_without_pseudonyms_nothing_is_copied(tmp_path: Path) -> None:
    _, folder = saved(tmp_path)
    with copies_of((str(folder.path),), None) as copied:
        assert (copied.folders, copied.without_rooms(str(folder.path))) == ((str(folder.path),), str(folder.path))


def test_what_somebody_added_to_a_table_is_left_out(tmp_path: Path) -> None:
    table, to = tmp_path / "a.parquet", tmp_path / "hidden/b.parquet"
    to.parent.mkdir()
    facts = "{'iocast.targets': 'no JSON, secret', 'iocast.actors': '[\"1 secret\", 7]', 'secret': 'secret',"
    facts += " 'iocast.files': '{\"secret\": 1}', 'iocast.clock': '\"unix\"'}"
    rows = "SELECT 1::BIGINT AS ts_ns, 2::BIGINT AS secret_column, 'secret' AS event_secret"
    duckdb.sql(f"COPY ({rows}) TO '{table}' (FORMAT parquet, COMPRESSION zstd, KV_METADATA {facts})")
    assert planted_in(table)
    write_without_names(table, str(to), NAMES)
    assert planted_in(to) == []
    assert duckdb.sql(f"SELECT * FROM '{to}'").fetchall() == [(1,)]
    keys = duckdb.sql(f"SELECT key::VARCHAR FROM parquet_kv_metadata('{to}') ORDER BY 1").fetchall()
    assert keys == [("iocast.actors",), ("iocast.clock",)]


def test_a_damaged_table_is_refused_by_its_name(tmp_path: Path) -> None:
    table = tmp_path / "a.parquet"
    table.write_bytes(b"PAR1 and no more")
    with pytest.raises(ArchiveError, match=r"a\.parquet cannot be read as a table of events"):
        write_without_names(table, str(tmp_path / "b.parquet"), NAMES)
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]
