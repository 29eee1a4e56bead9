"""What a watch is asked to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from iocast.databases.database import AskPassword as AskPassword


class WatchedSources(Struct, frozen=True, kw_only=True):
    """Which disks (all, when none is named), processes and databases; `observers`: only these, by their names."""

    devices: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    databases: tuple[str, ...] = ()  # URLs without passwords
    observers: tuple[str, ...] = ()
    ask: AskPassword | None = None
    every_io: bool = False  # layers are traced all of the time, however much there is to trace
    packs: bool = False  # views of a database that cost a licence of their own may be read
