"""What goes where: data on stdout, messages on stderr, no escape codes in pipes, JSON that machines can read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from makers.command_line import IOCAST, compare, environment, iocast, run_folder, small_job, without_machine
from makers.left_out import long_after

from iocast import __version__
from iocast.jobs import load_job


def test_the_card_of_a_simulated_disk(tmp_path: Path) -> None:
    done = iocast("card", "sim:hdd", "--full", cwd=tmp_path, COLUMNS="100")
    assert done.returncode == 0
    compare("card_sim_hdd_100.txt", without_machine(done.stdout))
    compare("card_sim_hdd_progress.txt", done.stderr)
    again = iocast("card", "sim:hdd", "--full", cwd=tmp_path, COLUMNS="100")
    assert without_machine(again.stdout) == without_machine(done.stdout)
    other = iocast("card", "sim:hdd", "--full", "--seed", "2", cwd=tmp_path, COLUMNS="100")
    assert without_machine(other.stdout) != without_machine(done.stdout)


@pytest.mark.long
def test_a_card_ends_in_a_screen_of_80_by_24(tmp_path: Path) -> None:
    done = iocast("card", "sim:hdd", "--page", cwd=tmp_path, COLUMNS="80")
    compare("card_sim_hdd_screen.txt", without_machine(done.stdout))
    assert len(done.stdout.splitlines()) < 24
    whole = iocast("report", run_folder(tmp_path / "iocast-runs").relative_to(tmp_path), cwd=tmp_path, COLUMNS="80")
    assert whole.stdout.splitlines()[-8:] == done.stdout.splitlines()[-8:]
    assert "Why this trust" in whole.stdout
    assert "Why this trust" not in done.stdout


@pytest.mark.parametrize("form", ["terminal", "classic", "json"])
def test_a_report_is_the_card_that_was_shown(tmp_path: Path, form: str) -> None:
    shown = iocast("card", ".", "--size", "16MiB", "--time", "20ms", "--format", form, "--full", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    folder = run_folder(tmp_path / "iocast-runs")
    told = iocast("report", folder.relative_to(tmp_path), "--format", form, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert told.stdout == shown.stdout
    assert iocast("report", folder / "run.json", "--format", form, cwd=tmp_path).returncode == 0


def test_json_has_its_keys_and_nothing_else_is_on_stdout(tmp_path: Path) -> None:
    done = iocast("card", "sim:nvme", "--time", "100ms", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert {
        "schema_version",
        "kind",
        "host",
        "started",
        "seed",
        "title",
        "verdict",
        "rows",
        "trust",
        "findings",
        "notes",
        "next_steps",
    } <= set(document)
    row = document["rows"][0]
    assert (row["phase"], row["users"], row["depth"], row["size_bytes"]) == ("randread 8k 1x1", 1, 1, 8192)
    assert row["response_p50_ns"] > 10_000
    assert row["rate_per_s"] > 1000
    assert done.stderr.startswith(f"card quick on sim:nvme: measures {len(load_job('card-quick').phases)} rows")


@pytest.mark.long
def test_classic(tmp_path: Path) -> None:
    done = iocast("card", "sim:hdd", "--format", "classic", cwd=tmp_path)
    phases = load_job("card-quick").phases
    mixed = sum(len(phase.workload.mix) > 1 for phase in phases)
    assert len(done.stdout.splitlines()) == 1 + len(phases) + mixed  # a mix has a line for its writes too
    compare("card_sim_hdd_classic.txt", done.stdout)
    assert "run folder: iocast-runs/" in done.stderr


@pytest.mark.long
def test_piped_output_has_no_escape_codes(tmp_path: Path) -> None:
    done = iocast("run", small_job(tmp_path), cwd=tmp_path)
    assert "\x1b" not in done.stdout + done.stderr
    assert "\r" not in done.stderr
    head, note, *lines = done.stderr.splitlines()
    assert head == f"small on {tmp_path}: lays out 4.0 MiB of work files, then measures 2 rows: 1 s"
    assert note.startswith("note: results are written to the storage under test (")
    assert [line.split(":")[0] for line in lines] == [
        "[1/3] lay out iocast-work.0.dat",
        "[2/3] randread 8k 2x1",
        "[3/3] randwrite 8k 1x1",
    ]


@pytest.mark.long
def test_a_reader_who_leaves_early_is_not_complained_to(tmp_path: Path) -> None:
    for command in ("card sim:hdd --format json", "plan hailey sim:hdd", "--help"):
        reader = subprocess.Popen(["head", "-1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [*IOCAST, *command.split()],
            cwd=tmp_path,
            env=environment(),
            stdout=reader.stdin,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        assert reader.stdin is not None
        reader.stdin.close()
        reader.wait()
        assert done.returncode == 0
        assert "roken" not in done.stderr
    gone, end = os.pipe()
    os.close(gone)
    done = subprocess.run(
        [*IOCAST, "plan"], cwd=tmp_path, env=environment(), stdout=end, stderr=subprocess.PIPE, check=False
    )
    os.close(end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_full_output_is_an_error(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*IOCAST, "plan"],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write the output: No space left on device")


def test_help_does_not_import_what_takes_time(tmp_path: Path) -> None:
    heavy = (
        "markdown_it",
        "numpy",
        "duckdb",
        "iocast._core",
        "iocast.model",
        "iocast.report",
        "iocast.observe",
        "iocast.runner",
    )
    done = subprocess.run(
        [IOCAST[0], "-X", "importtime", "-m", "iocast", "--help"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "iocast.commands" in imported
    assert not {name for name in imported if name.startswith(heavy)}


def test_the_version_imports_nothing_else(tmp_path: Path) -> None:
    code = "import sys; sys.argv = ['iocast', '--version']; from iocast.__main__ import main; main()"
    code += "; print(sorted(m for m in sys.modules if m.startswith(('iocast', 'rich', 'click', 'msgspec'))))"
    done = subprocess.run([IOCAST[0], "-c", code], capture_output=True, text=True, check=True)
    # The core has the version; the rooms are docstrings, there before the functions of their names.
    rooms = ["iocast", "iocast.__main__", "iocast._core", "iocast.diagnose", "iocast.forecast"]
    assert done.stdout.splitlines() == [f"iocast {__version__}", str(rooms)]


@pytest.mark.long
def test_two_runs_in_the_same_second_have_two_folders(tmp_path: Path) -> None:
    runs = [
        subprocess.Popen(
            [*IOCAST, "card", "sim:nvme", "--time", "1ms", "--no-page"],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(3)
    ]
    assert [run.wait() for run in runs] == [0, 0, 0]
    folders = list((tmp_path / "iocast-runs").iterdir())
    assert len(folders) == 3
    assert all((folder / "run.json").exists() for folder in folders)


@pytest.mark.long
def test_a_device_that_fails_altogether_is_no_success(tmp_path: Path) -> None:
    done = iocast("card", "sim:nvme,errors=100%,errno=ENOSPC", cwd=tmp_path)
    assert done.returncode == 2
    assert "ENOSPC" in done.stdout
    assert "0 IOPS, 0.00 MB/s, 10,000 errors, stopped by errors" in done.stderr
    (folder,) = (tmp_path / "iocast-runs").iterdir()
    failed = f"error: all I/Os of all rows failed\n\nhint: iocast report iocast-runs/{folder.name} lists the errors\n"
    assert done.stderr.endswith(failed)
    some = iocast("card", "sim:nvme,errors=0.01%", cwd=tmp_path)
    assert some.returncode == 0
    assert "EIO" in some.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("diagnose", "sim:hdd", "--budget"),
        ("diagnose", "sim:hdd", "--bytes"),
        ("experiment", "cache", "sim:hdd", "--block"),
        ("experiment", "working-set", "sim:hdd", "--sizes"),
        ("watch", "blk", "--interval"),
    ],
)
def test_a_value_that_cannot_be_read_names_its_option(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = iocast(*words, "x", cwd=tmp_path)
    assert done.returncode == 2
    assert f'error: {words[-1]}: "x" is not a ' in done.stderr


@pytest.mark.long
def test_the_grade_is_kept_although_nobody_reads_to_the_end(tmp_path: Path) -> None:
    """`iocast card sim:hdd | head -3` must not leave a run without its grade in the list of runs."""
    command = f"{' '.join(map(str, IOCAST))} card sim:hdd --no-page 2>/dev/null | true"
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, env=environment())
    (listed,) = json.loads(iocast("runs", "--json", cwd=tmp_path).stdout)["runs"]
    assert listed["trust"]


CLOSED = {"stdout": ">&-", "stderr": "2>&-", "both": ">&- 2>&-", "all": "<&- >&- 2>&-"}


@pytest.mark.parametrize("closed", long_after(1, CLOSED))
def test_streams_that_are_closed_are_no_error(tmp_path: Path, closed: str) -> None:
    command = f"{' '.join(IOCAST)} card sim:hdd --time 1s --no-page {CLOSED[closed]}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert bool(done.stdout) == (closed == "stderr")
    (listed,) = json.loads(iocast("runs", "--json", cwd=tmp_path).stdout)["runs"]
    assert listed["status"] == "done"


@pytest.mark.long
def test_the_page_is_written_and_the_floor_checked_although_nobody_reads_the_card(tmp_path: Path) -> None:
    for more, code, file in (("", 0, True), ("--no-page --fail-under A", 1, False)):
        out = tmp_path / str(code)
        command = f"{' '.join(IOCAST)} card sim:hdd --out {out} {more} 2>/dev/null | true; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), check=False)
        assert done.returncode == code
        assert (run_folder(out) / "report.html").exists() == file


def test_the_run_goes_on_although_nobody_reads_the_messages(tmp_path: Path) -> None:
    command = f"{' '.join(IOCAST)} card sim:hdd --no-page 2> >(true) >card.txt"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=environment(), check=False)
    assert done.returncode == 0
    assert (tmp_path / "card.txt").read_text().startswith("card quick")
    (listed,) = json.loads(iocast("runs", "--json", cwd=tmp_path).stdout)["runs"]
    assert listed["status"] == "done"
