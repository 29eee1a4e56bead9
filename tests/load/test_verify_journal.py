"""The journal of a verified run: what it says of files and blocks, and what of it can no longer be trusted."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import msgspec
import pytest
from makers.work_files import plan

from iocast.archive.writing.held_folder import open_folder
from iocast.errors import ArchiveError, TargetError
from iocast.jobs import parse_job
from iocast.load import lay_out, verify_journal
from iocast.load.verify_journal import (
    Description,
    JournalFile,
    begin,
    block_bytes,
    read_back,
    read_description,
    same_boot,
)
from iocast.model.plan import Plan

SIZE = 1 << 20


def planned(place: Path, verify: bool = True, more: str = "") -> Plan:
    text = f'name = "v"\n[files]\nsize = "1MiB"\ncount = 2\n[[phase]]\nwrite = 100\nsize = "24k"\nios = 9\n{more}'
    job = parse_job(text + ("\nverify = true\n" if verify else "\n"), "v.toml")
    return plan(place, SIZE, 2, *job.phases)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A directory with two files where work files go, and a run folder."""
    data, run = tmp_path / "data", tmp_path / "run"
    data.mkdir()
    run.mkdir()
    return data, run


def begun(data: Path, run: Path) -> Description:
    made = planned(data)
    layout = lay_out(made)
    for file in layout.files:
        Path(file.path).write_bytes(bytes(file.size_bytes))
    journal = begin(made, layout, open_folder(run))
    assert journal is not None
    assert journal.plan.first_blocks == (0, 43)  # 1 MiB is 42 and a part of a block of 24 KiB
    journal.close()
    return journal.description


def test_nothing_is_kept_where_nothing_is_verified(places: tuple[Path, Path]) -> None:
    data, run = places
    made = planned(data, verify=False)
    assert begin(made, lay_out(made), open_folder(run)) is None
    assert list(run.iterdir()) == []
    with pytest.raises(ArchiveError, match="has no journal: no phase wrote with verify"):
        read_description(run)


def test_the_journal_has_an_entry_for_every_block_of_every_file(places: tuple[Path, Path]) -> None:
    data, run = places
    told = begun(data, run)
    assert read_description(run) == told
    assert (told.block_bytes, told.entries, same_boot(told)) == (24 << 10, 86, True)
    journal = (run / "verify/journal.bin").read_bytes()
    assert len(journal) == 4096 + 16 * 86
    assert struct.unpack_from("<8sQQQ", journal) == (b"iocjrnl1", told.run_id, 24 << 10, 86)
    assert not any(journal[4096:])
    assert [file.inode for file in told.files] == [os.stat(file.path).st_ino for file in told.files]


def test_what_is_forgotten_is_empty_again(places: tuple[Path, Path]) -> None:
    data, run = places
    begun(data, run)
    path = run / "verify/journal.bin"
    before = path.read_bytes()
    path.write_bytes(before[:5000] + b"\1" * (len(before) - 5000))
    journal = verify_journal.Journal(run / "verify", read_description(run), os.open(path, os.O_RDWR))
    journal.forget()
    journal.close()
    assert path.read_bytes() == before


def test_nothing_that_was_written_is_nothing_bad(places: tuple[Path, Path]) -> None:
    data, run = places
    found = read_back(run, begun(data, run), durable_only=False, on_tick=lambda *_: True)
    assert (found.intact, found.bad_blocks, found.complete) == (0, 0, True)


def test_reading_back_says_how_far_it_is(places: tuple[Path, Path]) -> None:
    """Blocks that nobody wrote are behind it, too: a bar of what there is reaches its end."""
    data, run = places
    told, seen = begun(data, run), list[int]()

    def on_tick(_elapsed_ns: int, blocks: int) -> bool:
        seen.append(blocks)
        return True

    found = read_back(run, told, durable_only=False, on_tick=on_tick)
    assert found.blocks == 0
    assert seen == sorted(seen)
    assert seen[-1] == 2 * 42  # whole ones


@pytest.mark.parametrize("spoilt", ["gone", "another"])
def test_another_file_is_not_read(places: tuple[Path, Path], spoilt: str) -> None:
    data, run = places
    told = begun(data, run)
    first = Path(told.files[0].path)
    first.rename(first.with_suffix(".old"))
    if spoilt == "another":
        first.write_bytes(bytes(SIZE))
    with pytest.raises(TargetError, match="cannot open" if spoilt == "gone" else "it was replaced"):
        read_back(run, told, durable_only=False, on_tick=lambda *_: True)


def test_a_description_that_was_cut_is_named(places: tuple[Path, Path]) -> None:
    data, run = places
    begun(data, run)
    path = run / "verify/journal.json"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ArchiveError, match=r"journal\.json is invalid"):
        read_description(run)


def test_a_machine_that_was_restarted_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Description(1, 4096, (JournalFile("f", 4096, None, None),), "another")
    assert not same_boot(told)
    monkeypatch.setattr(verify_journal, "BOOT_ID", tmp_path / "missing")
    assert not same_boot(msgspec.structs.replace(told, boot_id=""))


def test_the_block_divides_writes_and_where_they_start(places: tuple[Path, Path]) -> None:
    data, _ = places
    assert block_bytes(planned(data).phases) == 24 << 10
    assert block_bytes(planned(data, more='region = {start = "4k"}').phases) == 4096


def test_a_run_folder_without_room_says_where_else(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(ArchiveError, match=r"its journal needs 5,472 bytes: No space left") as refused:
        begun(*places)
    assert "--out" in refused.value.hint
