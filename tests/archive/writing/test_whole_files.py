"""What a killed iocast left is removed by the next one; what another process is writing, or made, is not."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from iocast.archive.writing.whole_files import growing, put_whole, remove_leftover


def test_a_leftover_is_gone_after_the_next_write(tmp_path: Path) -> None:
    (tmp_path / "run.json.new").write_text("half")
    put_whole(tmp_path / "run.json", b"whole")
    assert os.listdir(tmp_path) == ["run.json"]
    assert (tmp_path / "run.json").read_bytes() == b"whole"


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json.new"
    with path.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write("theirs")
        other.flush()
        remove_leftover(path)
        put_whole(tmp_path / "run.json", b"ours")
        assert path.read_text() == "theirs"
    assert (tmp_path / "run.json").read_bytes() == b"ours"
    assert sorted(os.listdir(tmp_path)) == ["run.json", "run.json.new"]


def test_a_link_in_the_place_of_a_new_file_is_not_written_through(tmp_path: Path) -> None:
    """Whoever hands over a run folder could name a file of ours: the next write emptied it."""
    victim = tmp_path / "victim"
    victim.write_text("keep")
    (tmp_path / "notes.json.new").symlink_to(victim)
    put_whole(tmp_path / "notes.json", b"notes")
    assert (victim.read_text(), (tmp_path / "notes.json").read_text()) == ("keep", "notes")
    assert (tmp_path / "notes.json.new").is_symlink()


def test_a_pipe_or_a_directory_of_that_name_does_not_stop_us(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.new")
    (tmp_path / "b.new").mkdir()
    for name in ("a", "b"):
        put_whole(tmp_path / name, b"whole")
        assert (tmp_path / name).read_bytes() == b"whole"
    assert sorted(os.listdir(tmp_path)) == ["a", "a.new", "b", "b.new"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make a file of another user")
def test_a_file_of_another_user_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json.new"
    path.write_text("theirs")
    os.chown(path, 1234, 1234)
    remove_leftover(path)
    assert path.read_text() == "theirs"


def test_what_was_not_finished_is_removed(tmp_path: Path) -> None:
    with growing(tmp_path / "card.new"):
        assert os.listdir(tmp_path) == ["card.new"]
    assert not os.listdir(tmp_path)
