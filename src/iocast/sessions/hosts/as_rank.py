"""The session of one rank: it plans, holds its claim against those of all others, and runs when all may."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from iocast import __version__
from iocast._core import unix_ns
from iocast.archive.ownership import boot_id
from iocast.archive.writing.private_rooms import sweep_rooms, temporary_room
from iocast.errors import IocastError, SpecError, TargetError
from iocast.hosts.claims import Claim, check_claims, claim_of, refusal_of, sliced, storage_names
from iocast.hosts.member import Heartbeat, RankMember
from iocast.hosts.messages import Channel, Checked, Ended, Hello, PipeWriter, Said
from iocast.hosts.node_sets import names_of
from iocast.hosts.ranks import Left, Ranks
from iocast.hosts.sums import ramped
from iocast.model.job import Job
from iocast.model.plan import Plan
from iocast.runner import Progress, Work, run
from iocast.sessions.events import Event, Planned
from iocast.sessions.hosts.host_check import engine_here
from iocast.sessions.job_run import plan
from iocast.sessions.listener import Quiet, QuietProgress
from iocast.sessions.requests.ranks import CheckRequest, RankRequest
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.target_finding import find_target

ROOM = ".iocast-rank-"
LINGER_S = 3.0
_request: msgspec.json.Decoder[RankRequest | CheckRequest] = msgspec.json.Decoder(RankRequest | CheckRequest)
_claim = msgspec.json.Decoder(Claim)


def refuse_unfit(job: Job) -> None:
    """Raises SpecError for a job that only one host can make."""
    why = ""
    if job.database:
        why = "loads a database, whose sessions one host can open"
    elif job.calibration is not None:
        why = "chooses its rows as it goes"
    elif any(phase.verify or phase.role == "verify" for phase in job.phases):
        why = "verifies what it writes"
    elif any(phase.replay is not None for phase in job.phases):
        why = "replays a trace"
    if why:
        raise SpecError(f'job "{job.name}" {why}: that works on one host', "omit --hosts, or give another job")


def run_launched_rank(words: Callable[[Event], Iterable[str]], stopped: Callable[[], bool]) -> None:
    """The run of a rank that `measure_on_hosts` started; the first reads the request. What it says goes to its output.

    Raises LoadError where MPI is not there.
    """
    others_ended: list[int] = []
    signal.signal(signal.SIGUSR1, lambda *_: others_ended.append(1))  # so Hydra tells of the death of another
    writer = PipeWriter(os.dup(1))
    channel = Channel(writer)
    os.dup2(2, 1)  # whatever a library prints is no message
    ranks = Ranks.of_this_launch()
    request = sys.stdin.buffer.read() if ranks.number == 0 else None
    session = RankSession(ranks, channel, lambda event: channel.tell(Said(lines=tuple(words(event)))))
    writer.given_up = session.is_unheard
    ended = session.run(request, lambda: bool(others_ended) or stopped())
    until_s = time.monotonic() + LINGER_S
    while ended.status == "failed" and not stopped() and time.monotonic() < until_s:
        time.sleep(0.05)  # Hydra hands the end on to all others only while none of them is gone


class RankSession:
    """One rank, from what it is told to what it has done."""

    def __init__(
        self, ranks: Ranks, channel: Channel, tell: Callable[[Event], None], progress: Progress | None = None
    ) -> None:
        self._ranks, self._channel = ranks, channel
        self._listener = _RankListener(tell)
        self._member = RankMember(ranks, channel, progress or QuietProgress())
        self._heartbeat = Heartbeat(channel, lambda: self._member.moved)

    def is_unheard(self) -> bool:
        """Whether nobody hears what it tells."""
        return self._heartbeat.unheard

    def run(self, request: bytes | None, stopping: Callable[[], bool]) -> Ended:
        """How it ended. `request` is what the first rank was told, `stopping` whether it is to stop."""

        def stopped() -> bool:
            return self._heartbeat.unheard or stopping()

        self._ranks.stopped = stopped
        self._channel.tell(Hello(machine=boot_id(), version=__version__))
        with self._heartbeat:
            ended = self._ended(request, stopped)
            self._channel.tell(ended)
        return ended

    def _ended(self, request: bytes | None, stopped: Callable[[], bool]) -> Ended:
        try:
            asked_for = _request.decode(self._ranks.shared(request))
            if isinstance(asked_for, CheckRequest):
                return self._checked(asked_for)
            work = self._planned(asked_for)
        except IocastError as error:
            return Ended(status="refused", error=error.message, hint=error.hint)
        sweep_rooms(ROOM)
        with temporary_room(ROOM) as room:
            try:
                performed = run(replace(work, out=str(room.path)), self._member, stopped)
            except Left as error:
                return Ended(status="interrupted", error=error.message)
            except IocastError as error:
                return Ended(status="failed", error=error.message, hint=error.hint)
            self._member.feed()
            why, done = performed.error, performed.run
            return Ended(
                status="interrupted" if isinstance(why, Left) else done.status,
                error=why.message if why else "",
                hint=why.hint if why else "",
                files_whole=done.files_whole,
                warnings=done.warnings,
            )

    def _checked(self, asked_for: CheckRequest) -> Ended:
        """Tells what this host is and has; the ranks meet once, as before a row."""
        place = asked_for.places[self._ranks.number]
        self._ranks.together()
        wall_ns = unix_ns() - time.monotonic_ns() - self._ranks.offset.ahead_ns
        first_ns = int(self._ranks.shared(b"%d" % wall_ns if self._ranks.number == 0 else None))
        checked = Checked(wall_ahead_ns=wall_ns - first_ns, clock_error_ns=self._ranks.offset.error_ns)
        try:
            target = find_target(place.path)
        except IocastError as error:
            self._channel.tell(replace(checked, refused=error.message, hint=error.hint))
        else:
            self._channel.tell(
                replace(
                    checked,
                    engine=engine_here(),
                    filesystem=target.filesystem or target.kind,
                    free_bytes=target.free_bytes,
                    storage=storage_names(target, boot_id()),
                )
            )
        return Ended(status="done")

    def _planned(self, asked_for: RankRequest) -> Work:
        """What this rank will do, once no other claims the same. Raises IocastError."""
        share, place = asked_for.share, asked_for.places[self._ranks.number]
        name = names_of(asked_for.places)[self._ranks.number]
        try:
            work, claim = self._claimed(asked_for, name, place.path)
        except IocastError as error:
            work, claim = None, refusal_of(name, place.path, error)
        claims = [_claim.decode(each) for each in self._ranks.gathered(msgspec.json.encode(claim))]
        check_claims(claims, share)
        assert work is not None  # else its own claim was a refusal
        return work

    def _claimed(self, asked_for: RankRequest, name: str, path: str) -> tuple[Work, Claim]:
        if asked_for.version != __version__:
            raise TargetError(
                f"iocast here is {__version__}, and {asked_for.version} where the run was started",
                "install the same version on all hosts: their figures are added up",
            )
        job = asked_for.job
        refuse_unfit(job)
        target = find_target(path, asked_for.destroy)
        options = RunOptions(seed=asked_for.seed + self._ranks.number, price=asked_for.price, out=os.sep)
        work = plan(job, target, options, self._listener)
        if asked_for.share == "slices":
            work = replace(work, plan=sliced(work.plan, self._ranks.number, self._ranks.size))
        claim = claim_of(name, work.plan, work.layout, _digest(work.plan))
        if asked_for.ramp:
            work = replace(work, plan=ramped(work.plan, asked_for.ramp, self._ranks.number))
        return replace(work, judge=None, member=self._member), claim


def _digest(plan: Plan) -> str:
    """The same for plans whose rows are the same, wherever they are made."""
    phases = tuple(replace(phase, region_start_bytes=0, region_size_bytes=None) for phase in plan.phases)
    return hashlib.sha256(msgspec.json.encode(phases)).hexdigest()


class _RankListener(Quiet):
    """Hands on what is told before the run."""

    def __init__(self, tell: Callable[[Event], None]) -> None:
        self._tell = tell

    def tell(self, event: Event) -> None:
        """Hands it on; where results go is not this rank's to say."""
        self._tell(replace(event, results_on=None) if isinstance(event, Planned) else event)
