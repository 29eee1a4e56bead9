"""What ranks tell: whole lines, files of a folder as they change, and nothing that leads out of it."""

from __future__ import annotations

import base64
import os
import threading
from pathlib import Path

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.hosts.assembly import Assembly
from iocast.hosts.messages import (
    Begun,
    Channel,
    Ended,
    FolderFeed,
    Hello,
    Lines,
    Moved,
    PhaseEnded,
    Piece,
    PipeWriter,
    decoded,
)
from iocast.hosts.node_sets import HostPlace
from iocast.sessions.listener import QuietProgress

HELLO = Hello(machine="m", version="1")


def told(folder: Path, feed: FolderFeed, lines: list[bytes]) -> dict[str, tuple[int, bytes]]:
    """What the feed tells of a folder now."""
    lines.clear()
    feed.tell(folder, "rows.jsonl")
    pieces = [piece for line in lines if isinstance(piece := decoded(line.rstrip()), Piece)]
    return {piece.file: (piece.at, base64.b64decode(piece.data)) for piece in pieces}


def test_a_file_is_told_when_it_changes_and_one_that_grows_from_where_it_was(tmp_path: Path) -> None:
    lines: list[bytes] = []
    feed = FolderFeed(Channel(lines.append))
    (tmp_path / "intervals").mkdir()
    (tmp_path / "intervals" / "000.parquet").write_bytes(b"table")
    (tmp_path / "rows.jsonl").write_bytes(b"one\n")
    (tmp_path / ".half.new").write_bytes(b"half")
    assert told(tmp_path, feed, lines) == {"intervals/000.parquet": (0, b"table"), "rows.jsonl": (0, b"one\n")}
    assert told(tmp_path, feed, lines) == {}
    with open(tmp_path / "rows.jsonl", "ab") as file:
        file.write(b"two\n")
    assert told(tmp_path, feed, lines) == {"rows.jsonl": (4, b"two\n")}


def test_lines_that_are_no_messages_are_kept_apart_and_half_a_line_waits(tmp_path: Path) -> None:
    file = tmp_path / "rank-0"
    lines = Lines(file)
    assert list(lines.read()) == []
    whole: list[bytes] = []
    Channel(whole.append).tell(HELLO)
    file.write_bytes(b"Welcome to db1\n" + whole[0][:20])
    assert list(lines.read()) == []
    assert lines.strays == ["Welcome to db1"]
    with open(file, "ab") as out:
        out.write(whole[0][20:] + b'{"message":"Hello"}\n' + b"[" * 100_000 + b"\n")
    assert list(lines.read()) == [HELLO]


def test_a_full_pipe_that_nobody_reads_is_given_up() -> None:
    read, write = os.pipe()
    writer = PipeWriter(write)
    given_up = threading.Event()
    writer.given_up = given_up.is_set
    ended = threading.Thread(target=writer, args=(bytes(1 << 20),))
    ended.start()
    ended.join(0.3)
    assert ended.is_alive()
    given_up.set()
    ended.join(5)
    assert not ended.is_alive()
    os.close(read)
    os.close(write)


def test_what_a_file_grows_by_is_added_to_it(tmp_path: Path) -> None:
    assembly = Assembly(str(tmp_path / "runs"), [HostPlace("db1", "/u01")], QuietProgress())
    assembly.hear(0, Begun(run=replace(card_runs.run(), status="running")))
    for at, text in ((0, b"one\n"), (4, b"two\n"), (8, b"three\n")):
        assembly.hear(0, Piece(file="rows.jsonl", at=at, data=base64.b64encode(text).decode()))
    (file,) = tmp_path.rglob("hosts/db1/rows.jsonl")
    assert file.read_bytes() == b"one\ntwo\nthree\n"
    assembly.hear(0, Piece(file="rows.jsonl", at=0, data=base64.b64encode(b"anew\n").decode()))
    assert file.read_bytes() == b"anew\n"


@pytest.mark.parametrize("name", ["../out", "/etc/out", "a/../../out", "a/b/c/out", ".hidden", "a//out", "out\n"])
def test_a_name_that_leads_out_of_the_folder_is_not_written(tmp_path: Path, name: str) -> None:
    assembly = Assembly(str(tmp_path / "runs"), [HostPlace("db1", "/u01")], QuietProgress())
    run = replace(card_runs.run(), status="running")
    data = base64.b64encode(b"x").decode()
    for message in (HELLO, Begun(run=run), Piece(file=name, at=0, data=data), Piece(file="ok", at=0, data=data)):
        assembly.hear(0, message)
    written = sorted(each.name for each in tmp_path.rglob("*") if each.is_file())
    assert "out" not in written
    assert ".hidden" not in written
    assert "ok" in written


def test_a_phase_is_added_up_when_the_last_host_that_is_left_has_ended_it(tmp_path: Path) -> None:
    places = [HostPlace("db1", "/u01"), HostPlace("db2", "/u01")]
    assembly = Assembly(str(tmp_path / "runs"), places, QuietProgress())
    record = card_runs.reads()
    run = replace(card_runs.run(record, replace(record)), status="running", phases=())
    for number in range(2):
        assembly.hear(number, replace(HELLO, machine=f"m{number}"))
        assembly.hear(number, Begun(run=run))
    ended = PhaseEnded(record=record, number=0, started_ns=0, clock_error_ns=5)
    assembly.hear(0, ended)
    assembly.hear(0, Moved())
    assert assembly.run is not None
    assert assembly.run.phases == ()
    assembly.hear(1, ended)
    assert assembly.run.phases[0].measurement.ios == 2 * record.measurement.ios
    assembly.hear(0, ended)
    assembly.lose(assembly.hosts[1], "its cable was cut")
    assert [each.measurement.ios for each in assembly.run.phases] == [80_000, 40_000]
    assembly.hear(0, Ended(status="done"))
    finished = assembly.finish(assembly.parts())
    assert finished is not None
    assert (finished.status, finished.hosts[1].lost) == ("failed", "its cable was cut")
    assert finished.plan.target.path == "db[1-2]:/u01"
