"""Residency of work files: what is read is cached, what is dropped is not, by both system calls."""

from __future__ import annotations

import errno
import mmap
import os
from pathlib import Path

import pytest

from iocast.model.target import Target
from iocast.observe import pagecache, residency
from iocast.observe.observer import BlindError

TARGET = Target(path="/", kind="directory")
SIZE = 8 << 20


@pytest.fixture
def dropped(tmp_path: Path) -> str:
    """A file on the disk that the page cache does not hold."""
    path = tmp_path / "work"
    with path.open("wb") as file:
        file.write(os.urandom(SIZE))
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return str(path)


def values(observer: pagecache.Observer, path: str) -> dict[str, float]:
    return {sample.metric: sample.value for sample in observer.sample() if sample.subject == path}


def without_cachestat(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(fd: int) -> residency.Residency:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(pagecache, "by_cachestat", missing)


@pytest.mark.parametrize("method", ["cachestat", "mincore"])
def test_what_was_read_is_cached(dropped: str, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(pagecache, "SPARING", 0)
    if method == "mincore":
        without_cachestat(monkeypatch)
    with pagecache.Observer(TARGET, (dropped,)) as observer:
        before = values(observer, dropped)
        if observer.method != method:
            pytest.skip("no cachestat here")
        assert before["file_bytes"] == SIZE
        if before["cached_bytes"]:
            pytest.skip("this file system keeps what it is told to drop")
        Path(dropped).read_bytes()
        after = values(observer, dropped)
    assert after["cached_bytes"] == SIZE
    assert after["by_mincore"] == float(method == "mincore")
    assert ("dirty_bytes" in after) == (method == "cachestat")


def test_written_pages_are_dirty_until_they_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagecache, "SPARING", 0)
    path = tmp_path / "written"
    with path.open("wb") as file, pagecache.Observer(TARGET, (str(path),)) as observer:
        file.write(b"x" * (1 << 20))
        file.flush()
        dirty = values(observer, str(path))
        if observer.method != "cachestat":
            pytest.skip("no cachestat here")
        assert dirty["dirty_bytes"] + dirty["writeback_bytes"] == 1 << 20
        os.fsync(file.fileno())
        clean = values(observer, str(path))
    assert clean["dirty_bytes"] + clean["writeback_bytes"] == 0


def test_both_system_calls_agree_on_part_of_a_file(dropped: str) -> None:
    fd = os.open(dropped, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        os.pread(fd, 100_000, 1_000_000)
        exact = residency.by_cachestat(fd)
        assert residency.by_mincore(fd, SIZE).cached_bytes == exact.cached_bytes
    except OSError as error:
        pytest.skip(f"no cachestat here: {error}")
    finally:
        os.close(fd)


def test_mincore_counts_over_windows_and_a_last_part_of_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residency, "_WINDOW_BYTES", 4 * mmap.PAGESIZE)
    path = tmp_path / "odd"
    path.write_bytes(b"x" * (9 * mmap.PAGESIZE + 1))
    fd = os.open(path, os.O_RDONLY)
    try:
        assert residency.by_mincore(fd, path.stat().st_size).cached_bytes == 10 * mmap.PAGESIZE
        assert residency.by_mincore(fd, 0).cached_bytes == 0
    finally:
        os.close(fd)


def test_mincore_is_not_asked_where_it_would_lie(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without_cachestat(monkeypatch)
    monkeypatch.setattr(residency, "may_mincore", lambda fd: False)
    with pagecache.Observer(TARGET, (dropped,)) as observer, pytest.raises(BlindError, match="owner"):
        observer.sample()


def test_a_file_that_comes_later_is_seen_then(tmp_path: Path) -> None:
    path = str(tmp_path / "later")
    with pagecache.Observer(TARGET, (path,)) as observer:
        assert observer.sample() == []
        Path(path).write_bytes(b"x" * 5000)
        assert values(observer, path)["file_bytes"] == 5000


def test_an_answer_that_took_long_is_not_asked_for_again_at_once(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagecache, "_CHEAP_NS", -1)
    monkeypatch.setattr(pagecache, "SPARING", 10**9)
    with pagecache.Observer(TARGET, (dropped,)) as observer:
        assert observer.sample()
        assert observer.sample() == []


def test_no_files_is_blind() -> None:
    with pytest.raises(BlindError, match="no work files"):
        pagecache.Observer(TARGET, ()).__enter__()


def test_files_that_cannot_be_opened_are_named(tmp_path: Path, dropped: str) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(BlindError, match="symbolic links"):
        pagecache.Observer(TARGET, (str(loop),)).__enter__()
    with pagecache.Observer(TARGET, (str(loop), dropped)) as observer:
        assert {sample.subject for sample in observer.sample()} == {dropped}
        assert str(loop) in observer.unseen[0]


def test_each_figure_of_the_kernel_is_stored_under_its_own_name(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = residency.Residency(cached_bytes=7 * 4096, dirty_bytes=3 * 4096, writeback_bytes=2 * 4096)
    monkeypatch.setattr(pagecache, "by_cachestat", lambda _: told)
    with pagecache.Observer(TARGET, (dropped,)) as observer:
        assert values(observer, dropped) == {
            "file_bytes": SIZE,
            "cached_bytes": 7 * 4096,
            "dirty_bytes": 3 * 4096,
            "writeback_bytes": 2 * 4096,
            "by_mincore": 0,
        }


def test_an_answer_that_took_long_is_asked_for_again_later(dropped: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0]

    def slow(_: int) -> residency.Residency:
        now[0] += 1_000_000
        return residency.Residency(cached_bytes=0)

    monkeypatch.setattr(pagecache, "by_cachestat", slow)
    monkeypatch.setattr("time.monotonic_ns", lambda: now[0])
    with pagecache.Observer(TARGET, (dropped,)) as observer:
        assert observer.sample()
        now[0] += pagecache.SPARING * 1_000_000 - 1
        assert observer.sample() == [], "a hundred times as long as the answer took"
        now[0] += 1
        assert observer.sample()


def test_one_file_that_is_lost_takes_no_other_with_it(
    dropped: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"x" * 4096)
    lost: list[int] = []

    def fails_once(_: int) -> residency.Residency:
        if not lost:
            lost.append(1)
            raise OSError(errno.EIO, "Input/output error")
        return residency.Residency(cached_bytes=4096)

    monkeypatch.setattr(pagecache, "by_cachestat", fails_once)
    with pagecache.Observer(TARGET, (dropped, str(other))) as observer:
        assert {sample.subject for sample in observer.sample()} == {str(other)}
        assert observer.unseen == (f"{dropped}: Input/output error",)
        assert {sample.subject for sample in observer.sample()} == {str(other)}
