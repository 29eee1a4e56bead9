"""Pages are made in a process that ends when nobody asks: its memory is given back, and its death costs one page."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from makers import card_runs
from makers.asked import Asker

from iocast.archive import RunFolder
from iocast.errors import ArchiveError, LoadError
from iocast.web.folders import Folders
from iocast.web.page_process import PageProcess

LONG_S = 60.0


@pytest.fixture
def run(tmp_path: Path) -> str:
    """The name of a run in a directory."""
    return RunFolder.create(str(tmp_path), card_runs.quick_card()).path.name


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[PageProcess]:
    """A process that stays."""
    with PageProcess(str(tmp_path), LONG_S) as made:
        yield made


def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it never was")


def test_a_page_is_the_same_wherever_it_is_made(pages: PageProcess, run: str, tmp_path: Path) -> None:
    assert pages.pid is None, "it is started when it is first needed"
    page = pages.make("page", run)
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") == Folders(str(tmp_path)).page(run).count("<svg") > 0


def test_a_refusal_comes_back_with_its_way_out(pages: PageProcess, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="run nothing not found") as refused:
        pages.make("page", "nothing")
    assert refused.value.hint == "it may have been moved or removed"
    with pytest.raises(RuntimeError, match="Traceback"):  # a fault of ours: the server logs it
        pages.make("page", None)
    assert "run nothing not found" in Asker(tmp_path).get("/run/nothing").text


def test_it_ends_when_nobody_asks_and_another_takes_its_place(tmp_path: Path) -> None:
    with PageProcess(str(tmp_path), idle_s=0.05) as pages:
        for _ in range(2):
            with pytest.raises(ArchiveError):
                pages.make("page", "nothing")
            _until(lambda: pages.pid is None)


def test_one_that_dies_costs_its_page_only(pages: PageProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArchiveError):
        pages.make("page", "nothing")
    first = pages.pid
    assert first is not None
    os.kill(first, signal.SIGSTOP)  # so that it does not answer before it dies
    asked: list[str] = []
    sent, send = threading.Event(), Connection.send

    def noted(connection: Connection, what: object) -> None:
        send(connection, what)
        sent.set()

    monkeypatch.setattr(Connection, "send", noted)

    def ask() -> None:
        with pytest.raises(LoadError, match="ended by SIGKILL") as failed:
            pages.make("page", "nothing")
        asked.append(failed.value.hint)

    waiting = threading.Thread(target=ask)
    waiting.start()
    sent.wait()
    os.kill(first, signal.SIGKILL)
    waiting.join()
    assert "iocast report FOLDER" in asked[0]
    with pytest.raises(ArchiveError):
        pages.make("page", "nothing")
    assert pages.pid not in (None, first)


def test_none_is_left_when_the_server_ends(tmp_path: Path) -> None:
    with PageProcess(str(tmp_path), LONG_S) as pages:
        with pytest.raises(ArchiveError):
            pages.make("page", "nothing")
        child = pages.pid
        assert child is not None
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    with pytest.raises(LoadError):
        pages.make("page", "nothing")
