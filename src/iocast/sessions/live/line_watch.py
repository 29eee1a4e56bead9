"""watch: intervals of a live watch, or of a tape, for lines, scrapers and screens; recorded on the way when asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.live.moment import Moment
from iocast.sessions.anonymous.anonymous_source import without_names
from iocast.sessions.events import LiveBegun, TapeSaved
from iocast.sessions.listener import Listener
from iocast.sessions.live.playing import Playing
from iocast.sessions.live.recording import Recorded, Recorder
from iocast.sessions.live.sources import tracing_cost
from iocast.sessions.live.watching import LiveRequest, SampleSource, watching


class TapeRequest(Struct, frozen=True, kw_only=True):
    """A tape to be played: 1 is as fast as it was, 0 as fast as it can be read."""

    folder: str
    speed: float = 0.0
    names: Pseudonyms | None = None  # what names become; None: they stay


@contextmanager
def source_of(request: LiveRequest | TapeRequest, listener: Listener) -> Iterator[SampleSource]:
    """The source, ready to be played; a live one is recorded where the request names a place. Raises IocastError."""
    if isinstance(request, TapeRequest):
        if request.speed < 0:
            raise SpecError(f"--speed {request.speed:g} is below 0", "give 1 for its own pace, 0 for no waiting")
        yield without_names(Playing(request.folder, request.speed), request.names)
        return
    with watching(request) as machine:
        cost = tracing_cost(request.sources, machine.blind)
        listener.tell(LiveBegun(machine.sources, machine.interval_ns, machine.blind, cost))
        live = without_names(machine, request.names)
        if not request.record_to:
            yield live
            return
        recorder = Recorder(request.record_to, live, names=request.names)
        try:
            yield Recorded(live, recorder)
        finally:
            recorder.close()
            listener.tell(TapeSaved(str(recorder.path)))


def watched(request: LiveRequest | TapeRequest, listener: Listener) -> Iterator[tuple[SampleSource, Moment]]:
    """Each moment as it comes, with its source, until the source ends or the listener asks to stop."""
    with (
        source_of(request, listener) as source,
        listener.working() as stopping,
        closing(source.moments(stopping)) as moments,
    ):
        for moment in moments:
            yield source, moment
