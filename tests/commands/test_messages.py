"""Every refusal of the command line as people read it, and help: golden texts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from makers.command_line import IOCAST, compare, environment, in_own_process, iocast, small_job

# Name of the golden file: the arguments. `@` stands for the directory of the test.
REFUSED = {
    "verb_misspelt": ["caard", "."],
    "verb_unknown": ["xyzzy"],
    "option_misspelt": ["card", ".", "--sizze", "3"],
    "option_unknown": ["--zzz"],
    "option_without_value": ["card", ".", "--size"],
    "argument_missing": ["repeat"],
    "argument_too_many": ["clean", "a", "b"],
    "number_comes_first": ["repeat", "small.toml", "--time", "1s", "sim:hdd", "3"],
    "number_is_none": ["repeat", "three", "small.toml"],
    "number_too_large": ["gate", "last", "--rounds", "5000"],
    "price_of_nothing": ["card", "sim:hdd", "--price", "0"],
    "path_before_job": ["repeat", "3", "taken", "small.toml"],
    "device_before_preset": ["run", "sim:hdd", "card-quick"],
    "preset_unknown": ["run", "hayley", "."],
    "card_preset_unknown": ["card", ".", "--preset", "quik"],
    "format_unknown": ["card", ".", "--format", "html"],
    "seed_no_number": ["card", ".", "--seed", "x"],
    "seed_negative": ["card", ".", "--seed", "-1"],
    "size_no_size": ["card", ".", "--size", "abc"],
    "size_in_bits": ["card", ".", "--size", "2Gb"],
    "size_too_small": ["card", ".", "--size", "12"],
    "time_no_time": ["card", ".", "--time", "10"],
    "time_zero": ["card", ".", "--time", "0s"],
    "sim_unknown": ["card", "sim:hd"],
    "sim_option_unknown": ["card", "sim:hdd,stal=1s/5s"],
    "path_missing": ["card", "absent/deeper"],
    "directory_missing": ["card", "absent/"],
    "file_empty": ["card", "empty"],
    "file_small": ["card", "tiny"],
    "file_not_ours_written": ["run", "small.toml", "data"],
    "file_with_holes": ["card", "holes"],
    "name_taken": ["card", "taken", "--size", "16MiB"],
    "link_to_nothing": ["card", "dangling"],
    "fifo": ["card", "fifo"],
    "character_device": ["card", "/dev/null"],
    "device_missing": ["card", "/dev/nothing-here"],
    "devices_home": ["card", "/dev"],
    "no_storage": ["card", "/proc"],
    "name_not_text": ["card", "sch\udcf6n"],
    "job_is_directory": ["run", "taken"],
    "job_misspelt_field": ["run", "wrong.toml"],
    "report_no_folder": ["report", "absent"],
    "report_no_run": ["report", "taken"],
    "clean_not_ours": ["clean", "data"],
    "clean_missing": ["clean", "absent"],
    "out_is_file": ["card", "sim:hdd", "--out", "data"],
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with something of each kind."""
    (tmp_path / "empty").touch()
    (tmp_path / "tiny").write_bytes(b"x" * 100_000)
    (tmp_path / "data").write_bytes(b"x" * 16_000_000)
    (tmp_path / "holes").write_bytes(b"x" * 4096)
    with open(tmp_path / "holes", "r+") as holes:
        holes.truncate(1 << 30)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "iocast-work.0.dat").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    small_job(tmp_path)
    (tmp_path / "wrong.toml").write_text('name = "w"\n\n[[phase]]\ntest = "randread"\nszie = "8k"\ntime = "1s"\n')
    return tmp_path


@pytest.mark.parametrize("name", REFUSED)
def test_refused(place: Path, name: str) -> None:
    before = sorted(place.rglob("*"))
    done = iocast(*REFUSED[name], cwd=place)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert sorted(place.rglob("*")) == before, "something was left behind"
    compare(f"refused_{name}.txt", done.stderr.replace(str(place), "@"))


@pytest.mark.parametrize("verb", ["", "card", "run", "plan", "report", "clean"])
def test_help(tmp_path: Path, verb: str) -> None:
    # Where the reference was made in this process before, the library of help lays the columns out otherwise.
    done = in_own_process(*filter(None, [verb]), "--help", cwd=tmp_path, COLUMNS="100")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    compare(f"help_{verb or 'all'}.txt", "".join(line.rstrip() + "\n" for line in done.stdout.splitlines()))


def test_nothing_asked_is_help(tmp_path: Path) -> None:
    assert iocast(cwd=tmp_path).stdout == iocast("--help", cwd=tmp_path).stdout != ""


@pytest.mark.parametrize("verb", ["run", "plan", "spec", "import"])
@pytest.mark.parametrize("path", ["fifo", "/dev/zero"])
def test_what_never_ends_is_refused(place: Path, verb: str, path: str) -> None:
    done = iocast(verb, path, cwd=place)
    kind = "a FIFO" if path == "fifo" else "a character device"
    assert done.returncode == 2
    why = f"{path} is not a regular file" if verb == "import" else f"{path} cannot be read: it is {kind}, not a regular"
    assert done.stderr.startswith(f"error: {why}")


def test_a_job_from_another_command_is_read(place: Path) -> None:
    line = f"{' '.join(IOCAST)} plan <(cat small.toml) ."
    done = subprocess.run(["bash", "-c", line], cwd=place, env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
