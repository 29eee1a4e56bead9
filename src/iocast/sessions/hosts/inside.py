"""card, run under `mpirun -n 8` or `srun`: every process is a rank, and the first tells what all have measured."""

from __future__ import annotations

import msgspec

from iocast.hosts.assembly import Assembly
from iocast.hosts.messages import Channel, decoded
from iocast.hosts.node_sets import HostPlace
from iocast.hosts.ranks import Ranks
from iocast.observe.host import describe_host
from iocast.sessions.fitted_plan import asked_job
from iocast.sessions.hosts.as_rank import RankSession, refuse_unfit
from iocast.sessions.hosts.on_hosts import refuse_options, tell_run
from iocast.sessions.listener import Listener, Quiet, QuietProgress
from iocast.sessions.measure import MeasuredJob
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.ranks import RankRequest

_place = msgspec.json.Decoder(HostPlace)


def measure_inside(request: MeasureRequest, listener: Listener) -> MeasuredJob | None:
    """The part of this process in a run of all that were launched with it; the first has what came of it, the others
    None. Raises IocastError."""
    job = asked_job(request.job, request.options, request.path)
    refuse_unfit(job)
    ranks = Ranks.of_this_launch()
    refuse_options(request, ranks.size)
    listener = listener if ranks.number == 0 else Quiet()
    own = HostPlace(describe_host().name).at(request.path or job.directory or ".")
    places = tuple(_place.decode(each) for each in ranks.gathered(msgspec.json.encode(own)))
    asked_for = RankRequest(
        job=job,
        places=places,
        share=request.share,
        ramp=request.ramp,
        seed=request.options.seed,
        destroy=request.options.destroy,
        price=request.options.price,
    )
    lines: list[bytes] = []
    with listener.working() as stopping:
        session = RankSession(ranks, Channel(lines.append), listener.tell, listener.progress(stopping))
        session.run(msgspec.json.encode(asked_for), stopping)
        stopped = stopping()
    ranks.leave()
    every = ranks.gathered(b"".join(lines))
    ranks.end()
    if ranks.number:
        return None
    assembly = Assembly(request.options.out, places, QuietProgress())
    for number, text in enumerate(every):
        for line in text.split(b"\n"):
            if (message := decoded(line)) is not None:
                assembly.hear(number, message)
    return tell_run(assembly, request, listener, stopped)
