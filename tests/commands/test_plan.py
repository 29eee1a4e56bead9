"""`iocast plan` shows every row and touches nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from makers.command_line import compare, iocast


def test_hailey_has_its_22_rows_and_nothing_is_touched(tmp_path: Path) -> None:
    before = os.stat(tmp_path).st_mtime_ns
    done = iocast("plan", "hailey", ".", "--size", "16MiB", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    compare("plan_hailey.txt", done.stdout.replace(str(tmp_path), "@"))
    head, rest = done.stdout.split("\n\n", 2)[:2]
    assert head == f"hailey on {tmp_path} (sync engine)"
    assert len(rest.splitlines()) == 1 + 22
    assert (list(tmp_path.iterdir()), os.stat(tmp_path).st_mtime_ns) == ([], before)


JOB = """name = "words"
[files]
size = "1GiB"
[defaults]
size = "8k"
[[phase]]
pattern = "sequential"
backwards = true
users = [1, 4]
depth = 2
ios = 1
[[phase]]
repeats = false
write = 1
sync = "rwf_dsync"
dedupable = "40%"
bytes = "512MiB"
[[phase]]
pattern = "zipf"
direct = false
rate = "500/s"
time = "1s"
"""


def test_rows_are_in_the_words_of_job_files(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    done = iocast("plan", "job.toml", "sim:nvme", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = [line.split("  ") for line in done.stdout.split("\n\n")[1].splitlines()[1:]]
    assert [tuple(cell.strip() for cell in row if cell.strip()) for row in rows] == [
        ("backread 8k 1x2", "read 8k", "sequential, descending", "direct", "1x2", "1 I/O"),
        ("backread 8k 4x2", "read 8k", "sequential, descending", "direct", "4x2", "1 I/O"),
        ("randwrite 8k 1x1", "write 8k", "random, no repeats", "direct, RWF_DSYNC", "1x1", "512.0 MiB"),
        ("zipfread 8k 1x1 @500/s", "read 8k", "zipf", "buffered", "1x1 at 500/s poisson", "1.00 s"),
    ]


def test_a_plan_that_does_not_fit_shows_its_rows_first(tmp_path: Path) -> None:
    done = iocast("plan", "hailey", ".", "--size", "8000TiB", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 2 + 1 + 22 + 1
    assert "does not fit" in done.stderr


def test_rows_that_end_by_their_bytes_have_no_time_and_a_long_mix_goes_on_below(tmp_path: Path) -> None:
    (tmp_path / "a.fio").write_text(
        "[a]\nrw=randrw\nrwmixread=80\nsize=1g\ndirect=1\nbssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10\n"
    )
    done = iocast("plan", "a.fio", "sim:nvme", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) < 170
    assert "rows    1: 1 row limited by I/Os or bytes" in lines
    assert "write 64k" in done.stdout


def test_every_line_fits_and_steps_are_told_from_rows(tmp_path: Path) -> None:
    """Of a noise experiment: three rounds of four rows, two to prepare, and two rows in one step."""
    for args in (("experiment", "noise", "sim:hdd", "--plan"), ("plan", "card-quick", "sim:nvme"), ("plan",)):
        done = iocast(*args, cwd=tmp_path, COLUMNS="80")
        assert max(map(len, done.stdout.splitlines())) <= 80, args
        if args[0] == "experiment":
            assert "rows    12, 6 others to prepare or check, in 15 steps: 2 min of virtual time" in done.stdout


def test_a_simulated_device(tmp_path: Path) -> None:
    done = iocast("plan", "card-quick", "sim:nvme", cwd=tmp_path)
    compare("plan_card_quick_nvme.txt", done.stdout)
    assert done.stderr == ""


def test_a_card_on_a_foreign_file_shows_the_rows_that_read(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(os.urandom(16 << 20))
    done = iocast("plan", "card-quick", "data", cwd=tmp_path)
    assert "commit" not in done.stdout
    assert "6 rows that write are left out" not in done.stdout
    assert "write rows skipped (commit 8k 1x1" in done.stderr
    assert "used as it is" in done.stdout


@pytest.mark.long
def test_what_is_there_already_is_said(tmp_path: Path) -> None:
    iocast("card", ".", "--size", "16MiB", "--time", "5ms", cwd=tmp_path)
    done = iocast("plan", "card-quick", ".", "--size", "16MiB", cwd=tmp_path)
    assert f"file    {tmp_path}/iocast-work.0.dat, 16.0 MiB, already filled" in done.stdout
    done = iocast("plan", "card-quick", ".", "--size", "32MiB", cwd=tmp_path)
    assert "32.0 MiB, to be filled" in done.stdout


def test_without_a_job_the_presets_are_listed(tmp_path: Path) -> None:
    done = iocast("plan", cwd=tmp_path)
    assert [line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")] == [
        "card-quick",
        "card-standard",
        "card-full",
        "hailey",
        "database",
        "metadata",
        "survey",
        "virtualisation",
    ]


def test_json_and_schema(tmp_path: Path) -> None:
    plan = json.loads(iocast("plan", "hailey", "sim:hdd", "--json", cwd=tmp_path).stdout)
    assert len(plan["phases"]) == 22
    assert "definitions" in json.loads(iocast("plan", "--schema", cwd=tmp_path).stdout)


def test_the_virtualisation_study_has_96_cells_and_288_runs(tmp_path: Path) -> None:
    done = iocast("plan", "virtualisation", "sim:hdd", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = done.stdout.split("\n\n")[1].splitlines()[1:]
    cells = [row for row in rows if "(warm-up)" not in row]
    assert len(cells) == 96
    assert len({row.split("  ")[0] for row in cells}) == 96
    assert "96 cells x 3 repeats: 288 runs" in done.stdout
    assert "(iocast repeat 3 virtualisation sim:hdd)" in done.stdout
    # Where the files do not fit, the count is told all the same, and nothing is touched.
    small = iocast("plan", "virtualisation", ".", "--size", "900TiB", cwd=tmp_path)
    assert "288 runs" in small.stdout
    assert list(tmp_path.iterdir()) == []


TWO = "[global]\nbs=8k\ndirect=1\nruntime=2\ntime_based\n{}[data]\nrw=randread\nsize=8m\n[log]\nrw=write\nsize=4m\n"


def test_a_fio_job_says_where_each_of_its_files_goes(tmp_path: Path) -> None:
    (job := tmp_path / "two.fio").write_text(TWO.format(""))
    out = iocast("plan", str(job), str(tmp_path), cwd=tmp_path).stdout
    assert "/iocast-work.0.dat, 8.0 MiB, to be filled, for data.0.0" in out
    assert "/iocast-work.1.dat, 4.0 MiB, to be filled, for log.0.0" in out
    larger = iocast("plan", str(job), str(tmp_path), "--size", "16MiB", cwd=tmp_path)
    assert "iocast-work.1.dat, 16.0 MiB" in larger.stdout
    assert "size=8m, size=4m: each file has 16.0 MiB instead, as --size says" in larger.stderr


def test_a_fio_job_runs_in_the_directory_that_it_names(tmp_path: Path) -> None:
    (place := tmp_path / "data").mkdir()
    (job := tmp_path / "two.fio").write_text(TWO.format(f"directory={place}\n"))
    planned = iocast("plan", str(job), cwd=tmp_path)
    assert f"file    {place}/iocast-work.0.dat" in planned.stdout
    assert f"note: it runs in {place}, the directory that it names" in planned.stderr
    elsewhere = iocast("plan", str(job), str(tmp_path), cwd=tmp_path)
    assert f"file    {tmp_path}/iocast-work.0.dat" in elsewhere.stdout
    assert f"note: it runs on {tmp_path}, not in {place}, which it names" in elsewhere.stderr
    place.rmdir()
    missing = iocast("plan", str(job), cwd=tmp_path)
    assert missing.returncode == 2
    assert f"directory={place} does not exist" in missing.stderr
    assert "iocast run JOB PATH" in missing.stderr
