"""A host that is not heard has stopped; one that was not listened to meanwhile has not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from iocast.hosts.assembly import Assembly
from iocast.hosts.launching import Launched
from iocast.hosts.messages import Channel, Ended, Hello, Message, Moved
from iocast.hosts.node_sets import HostPlace
from iocast.sessions.events import HostLost
from iocast.sessions.hosts import on_hosts
from iocast.sessions.hosts.on_hosts import Following
from iocast.sessions.listener import Quiet, QuietProgress


class Ranks:
    """Two ranks that beat until they are asked to end; their launcher ends when both have."""

    def __init__(self, room: Path) -> None:
        self.files = tuple(room / f"rank-{number}" for number in range(2))
        self.stops = 0
        for number, file in enumerate(self.files):
            file.touch()
            self.tell(number, Hello(machine="m", version="1"))

    def tell(self, number: int, message: Message) -> None:
        """A line of a rank."""
        with open(self.files[number], "ab") as out:
            Channel(lambda line: cast(None, out.write(line))).tell(message)

    ended = False

    def said(self) -> str:
        """Nothing."""
        return ""

    def stop(self) -> None:
        """Asked to end."""
        self.stops += 1

    def kill(self) -> None:
        """Ended."""
        self.ended = True


def followed(ranks: Ranks, assembly: Assembly, looking: Callable[[], bool] = lambda: False) -> list[str]:
    """Follows them to their end; the hosts that were said to be lost. `looking` is called in every turn."""
    lost: list[str] = []

    class Remembers(Quiet):
        def tell(self, event: object) -> None:
            lost.extend([event.host] if isinstance(event, HostLost) else [])

    Following(cast(Launched, ranks), assembly, Remembers(), looking).until_all_ended()
    return lost


def test_hosts_are_not_lost_while_a_row_is_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_hosts, "SILENT_S", 0.3)
    ranks = Ranks(tmp_path)
    assembly = Assembly(str(tmp_path), [HostPlace("db1", "/a"), HostPlace("db2", "/b")], QuietProgress())
    hear, turns = assembly.hear, iter(range(100))

    def slow(number: int, message: Message) -> None:
        hear(number, message)
        if number == 1 and isinstance(message, Moved):
            time.sleep(0.5)  # longer than a host may be silent
            for rank in range(2):
                ranks.tell(rank, Moved() if next(turns) < 4 else Ended(status="done"))

    monkeypatch.setattr(assembly, "hear", slow)
    for rank in range(2):
        ranks.tell(rank, Moved())
    assert followed(ranks, assembly) == []
    assert ranks.stops == 0


def test_a_host_that_says_nothing_is_lost_and_the_others_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_hosts, "SILENT_S", 0.3)
    ranks = Ranks(tmp_path)
    assembly = Assembly(str(tmp_path), [HostPlace("db1", "/a"), HostPlace("db2", "/b")], QuietProgress())
    stop = ranks.stop

    def stopping() -> None:
        stop()
        ranks.tell(0, Ended(status="interrupted"))

    monkeypatch.setattr(ranks, "stop", stopping)

    def beats() -> bool:
        ranks.tell(0, Moved())
        return False

    assert followed(ranks, assembly, beats) == ["db2"]
    assert ranks.stops == 1
