"""Trees on a small ext4: inodes and space that run out are told as what they are, and everything can be removed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from makers.command_line import iocast
from makers.rootly import Mount, command, need

JOB = 'name = "t"\n[tree]\ndepth = 1\nwidth = 4\nfiles = {files}\nsize = "{size}"\n[[phase]]\n{phase}\n'


def _ext4(tmp_path: Path, mounted: Mount, attach: Callable[..., str], inodes: int, mib: int = 16) -> Path:
    need("mkfs.ext4")
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(mib << 20)
    device = attach(image)
    command("mkfs.ext4", "-q", "-N", inodes, device)
    return mounted("ext4", device)


def _run(tmp_path: Path, place: Path, files: int, size: str, phase: str) -> tuple[int, str]:
    (tmp_path / "job.toml").write_text(JOB.format(files=files, size=size, phase=phase))
    done = iocast("run", "job.toml", place, "--out", "runs", "--json", cwd=tmp_path)
    return done.returncode, done.stderr + done.stdout


def test_more_files_than_inodes_are_refused_before_anything_is_made(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str]
) -> None:
    place = _ext4(tmp_path, mounted, attach, 128)
    code, said = _run(tmp_path, place, 100, "0", 'operations = "stat"\npasses = 1')
    assert code
    assert "the tree needs 405 inodes" in said
    assert "mkfs.ext4 -N" in said
    assert {path.name for path in place.iterdir()} == {"lost+found"}


def test_inodes_that_run_out_while_files_are_made_are_told_and_counted(
    tmp_path: Path, mounted: Mount, attach: Callable[..., str]
) -> None:
    place = _ext4(tmp_path, mounted, attach, 512)
    # The tree is there without its files; others take the inodes meanwhile.
    code, said = _run(tmp_path, place, 100, "0", 'operations = ["create", "unlink"]\npasses = 1')
    assert not code, said
    taken = place / "taken"
    taken.mkdir()
    free = int(command("stat", "-f", "-c", "%d", place))
    for number in range(free - 200):
        (taken / str(number)).touch()
    code, said = _run(tmp_path, place, 100, "0", 'operations = "create"\npasses = 1\nusers = 2')
    assert "ENOSPC" in said, said
    assert "inodes" in said, said
    failed = json.loads(said[said.index("{") :])["errors"]
    assert failed[0]["op"] == "create"
    assert failed[0]["count"] >= 200
    cleaned = iocast("clean", place, cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stderr
    assert {path.name for path in place.iterdir()} == {"lost+found", "taken"}
    assert len(list(taken.iterdir())) == free - 200


def test_space_that_runs_out_leaves_no_half_a_file(tmp_path: Path, mounted: Mount, attach: Callable[..., str]) -> None:
    place = _ext4(tmp_path, mounted, attach, 2048)
    code, said = _run(tmp_path, place, 10, "16k", 'operations = "create"\npasses = 1')
    assert not code, said
    free = int(command("stat", "-f", "-c", "%a", place)) * int(command("stat", "-f", "-c", "%S", place))
    (place / "taken").write_bytes(b"x" * (free - (400 << 10)))
    code, said = _run(tmp_path, place, 10, "16k", 'operations = "create"\npasses = 1')
    code, said = _run(tmp_path, place, 10, "256k", 'operations = "create"\npasses = 1')
    assert (code and "may be used" in said) or "ENOSPC" in said, said
    iocast("clean", place, cwd=tmp_path)
    assert {path.name for path in place.iterdir()} == {"lost+found", "taken"}
