"""A job on this host, on those that are named, or as one of the ranks that a launcher of MPI started."""

from __future__ import annotations

from iocast.errors import SpecError
from iocast.hosts.launched_ranks import is_one_of_several
from iocast.sessions.listener import Listener
from iocast.sessions.measure import MeasuredJob, measure
from iocast.sessions.requests.measure import MeasureRequest


def measure_where_asked(request: MeasureRequest, listener: Listener) -> MeasuredJob | None:
    """What came of it; None for a rank that is not the first. Raises IocastError."""
    if request.hosts:
        from iocast.sessions.hosts.on_hosts import measure_on_hosts

        return measure_on_hosts(request, listener)
    if is_one_of_several():
        from iocast.sessions.hosts.inside import measure_inside

        return measure_inside(request, listener)
    if request.ramp or request.share != "own":
        raise SpecError("--share and --ramp say how many hosts work together", "give --hosts as well")
    return measure(request, listener)
