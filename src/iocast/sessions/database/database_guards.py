"""Before a load: sessions of others that it would disturb, and who holds the data set."""

from __future__ import annotations

from iocast.errors import TargetError
from iocast.load.database.data_set_plan import WAIT_S
from iocast.load.database.load_server import LoadServer
from iocast.text import counted


def refuse_disturbing(server: LoadServer, *, beside_others: bool, way_out: str) -> list[str]:
    """What is to be said of others who work on the server. Raises TargetError where they are active, or may be, without
    `beside_others`; `way_out` says how that is given."""
    active, unjudged, why = server.foreign_sessions()
    says = []
    if active:
        says.append(f"{counted(active, 'session')} of others {'is' if active == 1 else 'are'} active on this server")
    if unjudged:
        says.append(f"{counted(unjudged, 'session')} of others cannot be judged: whether active or idle is hidden")
    if says and not beside_others:
        waiting = "wait until they are idle" if active else f"let this user see: {why}"
        raise TargetError(
            "; ".join(says), f"{waiting}; or {way_out}: the load then may disturb them, and they the load"
        )
    shared = [f"{each}; the figures may share the server with them" for each in says]
    return [*shared, *held(server)]


def held(server: LoadServer) -> list[str]:
    """A client that was killed a moment ago leaves a server process that has not noticed: it is waited for."""
    holder = server.held_by()
    return [f"the data set is in use by {holder}: waits up to {WAIT_S:.0f} s for it"] if holder else []
