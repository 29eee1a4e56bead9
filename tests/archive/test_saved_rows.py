"""A run that is under way adds its rows to its folder, writes each once, and loses none when it is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from makers import card_runs
from makers.saved_runs import empty_run, measured, saved
from msgspec.structs import replace

from iocast import archive
from iocast.archive import RunFolder, open_run
from iocast.archive import saved_rows as rows_file
from iocast.archive.mending import mend
from iocast.errors import ArchiveError
from iocast.model.run import Blind, Run

ROWS = 120
MANY = f"""\
name = "many"
[defaults]
time = "1ms"
size = "8k"
pattern = "random"
{"".join(f'[[phase]]{chr(10)}test = "row-{number}"{chr(10)}' for number in range(ROWS))}
"""


def under_way(tmp_path: Path) -> tuple[Run, RunFolder]:
    """A run with two rows, which goes on."""
    run = empty_run()
    folder = RunFolder.create(str(tmp_path / "runs"), run)
    for at, number in enumerate((0, 10)):
        record, intervals = measured(run, number)
        run = replace(run, phases=(*run.phases, record), warnings=(*run.warnings, f"warning {at}"))
        folder.save_phase(at, record.phase.name, intervals, ())
        folder.save(run)
    return run, folder


def test_what_is_added_comes_back(tmp_path: Path) -> None:
    run, folder = under_way(tmp_path)
    assert archive.load(str(folder.path)) == run
    blind = (Blind("diskstats", "gone"),)
    folder.save(replace(run, blind=blind))
    assert archive.load(str(folder.path)) == replace(run, blind=blind), "what changes without a row is kept, too"
    assert json.loads((folder.path / "run.json").read_text())["phases"] == []


def test_a_backup_by_links_is_named_and_gets_no_more_rows(tmp_path: Path) -> None:
    run, folder = under_way(tmp_path)
    (tmp_path / "backup.jsonl").hardlink_to(folder.path / "rows.jsonl")
    kept = (tmp_path / "backup.jsonl").read_bytes()
    record, intervals = measured(run, 11)
    folder.save_phase(2, record.phase.name, intervals, ())
    with pytest.raises(ArchiveError, match="a hard link, as backups by cp -al make"):
        folder.save(replace(run, phases=(*run.phases, record)))
    assert (tmp_path / "backup.jsonl").read_bytes() == kept


def test_the_document_has_them_all_when_the_run_has_ended(tmp_path: Path) -> None:
    run, folder = under_way(tmp_path)
    folder.save(replace(run, status="done"))
    assert not (folder.path / "rows.jsonl").exists()
    assert archive.load(str(folder.path)) == replace(run, status="done")


def test_rows_that_the_document_took_over_are_not_counted_twice(tmp_path: Path) -> None:
    run, folder = under_way(tmp_path)
    rows = (folder.path / "rows.jsonl").read_bytes()
    folder.save(replace(run, status="done"))
    (folder.path / "rows.jsonl").write_bytes(rows)  # it was killed between the two
    assert len(archive.load(str(folder.path)).phases) == 2
    assert archive.load(str(folder.path)).status == "done"


def test_a_line_that_was_cut_costs_that_row_only(tmp_path: Path) -> None:
    run, folder = under_way(tmp_path)
    rows = folder.path / "rows.jsonl"
    rows.write_bytes(rows.read_bytes()[:-7])
    assert archive.load(str(folder.path)).phases == run.phases[:1]


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    _, folder = under_way(tmp_path)
    rows = folder.path / "rows.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"phase"', b'"phrase"', 1))
    with pytest.raises(ArchiveError, match=r"rows\.jsonl is invalid"):
        archive.load(str(folder.path))


def test_a_dead_run_is_mended_with_its_rows(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys; sys.path[:0] = sys.argv[2:]\n"
        "from archive.test_saved_rows import under_way\n"
        "under_way(pathlib.Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path, *sys.path], check=False)
    (folder,) = (tmp_path / "runs").iterdir()
    kept = (folder / "run.json").read_bytes()
    (folder / "run.json").rename(folder / "aside")
    os.link(folder / "aside", folder / "run.json")  # a backup's second name
    with pytest.raises(ArchiveError, match="second name elsewhere"):
        mend(str(folder))
    assert (folder / "aside").read_bytes() == kept
    (folder / "aside").unlink()
    assert mend(str(folder))
    run = archive.load(str(folder))
    assert (run.status, len(run.phases), run.warnings) == ("interrupted", 2, ("warning 0", "warning 1"))
    assert not (folder / "rows.jsonl").exists()


def test_it_is_deleted_with_its_run(tmp_path: Path) -> None:
    _, folder = saved(tmp_path)
    folder.end()
    os.close(open_run(str(folder.path), folder.run_id).open_to_append("rows.jsonl"))
    assert archive.delete_run(str(folder.path)) == ()
    assert not folder.path.exists()


@pytest.mark.long
def test_each_row_is_written_once(tmp_path: Path) -> None:
    """992 rows once wrote 11.7 GB: the document of all rows after each row."""
    (tmp_path / "many.toml").write_text(MANY)
    program = (
        "import pathlib, sys\nfrom iocast.__main__ import main\n"
        "try:\n    main()\nfinally:\n"
        "    counts = dict(line.split(': ') for line in pathlib.Path('/proc/self/io').read_text().splitlines())\n"
        "    pathlib.Path('wrote').write_text(counts['wchar'])\n"
    )
    words = ("run", "many.toml", "sim:nvme", "--no-page", "--out", "runs")
    done = subprocess.run([sys.executable, "-c", program, *words], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    kept = sum(file.stat().st_size for file in (tmp_path / "runs").rglob("*") if file.is_file())
    assert len(archive.load(str(next((tmp_path / "runs").iterdir()))).phases) == ROWS
    wrote = int((tmp_path / "wrote").read_text())
    assert wrote < 4 * kept, f"{wrote} bytes were written for {kept} bytes that are kept"


@pytest.mark.parametrize(
    ("cut", "ours"), [(b"", True), (b'{"pha', True), (b'{"phase":{"na', True), (b"theirs " * 900, False)]
)
def test_what_stands_behind_the_rows_must_be_the_beginning_of_one(tmp_path: Path, cut: bytes, ours: bool) -> None:
    text = rows_file._lines(card_runs.quick_card(), 0, {})
    assert rows_file.are_rows(text + cut) is ours
