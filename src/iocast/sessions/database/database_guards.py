"""Before a load: sessions of others that it would disturb, and who holds the data set."""

from __future__ import annotations

from iocast.errors import TargetError
from iocast.load.database.data_set_plan import WAIT_S
from iocast.load.database.load_server import LoadServer


def refuse_disturbing(server: LoadServer, *, force: bool, way_out: str) -> list[str]:
    """What is to be said of others who work on the server. Raises TargetError where they are active, without `force`;
    `way_out` says how that is given."""
    active, unseen = server.foreign_sessions()
    if active and not force:
        raise TargetError(
            f"{active} sessions of others are active on this server",
            f"wait until they are idle, or {way_out}: the load then disturbs them, and they the load",
        )
    shared = f"{active} sessions of others are active: the figures share the server with them" if active else ""
    return [said for said in (shared, unseen, *held(server)) if said]


def held(server: LoadServer) -> list[str]:
    """A client that was killed a moment ago leaves a server process that has not noticed: it is waited for."""
    holder = server.held_by()
    return [f"the data set is in use by {holder}: waits up to {WAIT_S:.0f} s for it"] if holder else []
