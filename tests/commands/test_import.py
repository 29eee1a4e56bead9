"""iocast import: a result file of another tool becomes a run folder that reports like our own."""

from __future__ import annotations

import json
from pathlib import Path

from makers.command_line import iocast, run_folder

FIXTURES = Path(__file__).parents[1] / "tools" / "fixtures"


def test_an_imported_run_reports_again_the_same(tmp_path: Path) -> None:
    done = iocast("import", FIXTURES / "fio_client.json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Imported from fio 3.33" in done.stdout
    again = iocast("report", run_folder(tmp_path / "out"), cwd=tmp_path)
    assert again.stdout.partition("To see all figures")[0] == done.stdout.partition("To see all figures")[0]


def test_files_of_one_format_are_the_rows_of_one_run(tmp_path: Path) -> None:
    files = [FIXTURES / "fio_client.json", FIXTURES / "fio_logged.json"]
    done = iocast("import", *files, "--json", "--out", "out", cwd=tmp_path)
    assert [row["phase"] for row in json.loads(done.stdout)["rows"]] == ["remote on 127.0.0.1", "logged"]


def test_what_no_importer_knows_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("call the vendor\n")
    done = iocast("import", "notes.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: notes.txt has no format that iocast knows\n\nhint: ")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = iocast("import", "nothing.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot read nothing.json: No such file or directory")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("")
    assert "empty.json is empty" in iocast("import", "empty.json", cwd=tmp_path).stderr


def test_what_iostat_saw_is_kept_in_the_folder(tmp_path: Path) -> None:
    done = iocast("import", FIXTURES / "iostat_xdt.txt", "-o", "out", cwd=tmp_path)
    assert "The busiest device was vda" in done.stdout
    again = iocast("report", run_folder(tmp_path / "out"), cwd=tmp_path)
    assert again.stdout.partition("To see all figures")[0] == done.stdout.partition("To see all figures")[0]


def test_files_of_two_tools_are_two_runs(tmp_path: Path) -> None:
    done = iocast("import", FIXTURES / "iostat_xdt.txt", FIXTURES / "fio_client.json", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_fioparses_table_of_an_imported_result(tmp_path: Path) -> None:
    golden = Path(__file__).parents[1] / "golden" / "card" / "classic.txt"
    done = iocast("import", golden, "--format", "classic", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == golden.read_text().splitlines()[0]
    assert done.stdout.splitlines()[2].startswith("   write  4 128K w   12.500   40.000")
