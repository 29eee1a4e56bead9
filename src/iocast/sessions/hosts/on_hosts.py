"""card, run with --hosts: ranks are started, followed, and what they measured is judged as one run."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from iocast.archive.writing.private_rooms import sweep_rooms, temporary_room
from iocast.errors import ArchiveError, IocastError, LoadError, SpecError
from iocast.hosts.assembly import Assembly, Heard
from iocast.hosts.launching import Launched, command, find_launcher
from iocast.hosts.messages import Lines
from iocast.hosts.node_sets import HostPlace, parse_hosts
from iocast.model.finding import Trust
from iocast.model.hosts import HostPart
from iocast.model.job import Job
from iocast.sessions.events import HostLost, HostsSaid, Stopped
from iocast.sessions.fitted_plan import asked_job
from iocast.sessions.hosts.as_rank import refuse_unfit
from iocast.sessions.listener import Listener
from iocast.sessions.measure import MeasuredJob, tag, tell_card
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.ranks import RankRequest
from iocast.sessions.run_card import keep_summary, open_card, shown_folder

ROOM = ".iocast-hosts-"
SILENT_S = 5.0  # a rank that is not heard for so long has stopped: it beats twice a second
OTHERS_END_S = 4.0  # by themselves, after the death of one
ANSWER_S = 60.0  # until a host must have started
_EVERY_S = 0.1  # between two looks at what was told
_CHECK = "`iocast hosts check NODES` tries each link of the chain, and names the one that fails"


def measure_on_hosts(request: MeasureRequest, listener: Listener) -> MeasuredJob:
    """A job on many hosts at once. Raises IocastError."""
    job = asked_job(request.job, request.options, request.path)
    refuse_unfit(job)
    places = _places(request, job)
    refuse_options(request, len(places))
    program = find_launcher()
    asked_for = RankRequest(
        job=job,
        places=places,
        share=request.share,
        ramp=request.ramp,
        seed=request.options.seed,
        destroy=request.options.destroy,
        price=request.options.price,
    )
    sweep_rooms(ROOM)
    with temporary_room(ROOM) as room:
        own = (sys.executable, "-m", "iocast", "hosts", "rank")
        line = command(program, places, str(room.path), own)
        launched = Launched(line, msgspec.json.encode(asked_for), room, len(places))
        try:
            with listener.working() as stopping:
                assembly = Assembly(request.options.out, places, listener.progress(stopping))
                try:
                    Following(launched, assembly, listener, stopping).until_all_ended()
                finally:
                    assembly.close_progress()
                stopped = stopping()
        finally:
            launched.close()
    return tell_run(assembly, request, listener, stopped)


def refuse_options(request: MeasureRequest, hosts: int) -> None:
    """Raises SpecError for what works on one host only, and for more hosts than there are."""
    if request.ramp and request.ramp[-1] > hosts:
        raise SpecError(f"--ramp goes to {request.ramp[-1]} hosts, and there are {hosts}", "give at most as many")
    one = {
        "--diagnose": request.diagnosing,
        "--with": bool(request.server),
        "--wait-quiet": request.options.wait_quiet_ns is not None,
        "--beside": request.options.beside is not None,
    }
    for name, given in one.items():
        if given:
            raise SpecError(f"{name} works on one host, not with --hosts", f"omit {name}")


def _places(request: MeasureRequest, job: Job) -> tuple[HostPlace, ...]:
    """The hosts, each with its path. Raises SpecError."""
    places = tuple(place.at(request.path or job.directory) for place in parse_hosts(request.hosts))
    without = [place.host for place in places if not place.path]
    if without:
        raise SpecError(
            f"no path for {without[0]}: a run on other hosts does not begin in the current directory",
            "give PATH, or HOST:PATH in --hosts",
        )
    relative = [place for place in places if not (os.path.isabs(place.path) or place.path.startswith("sim:"))]
    if relative:
        raise SpecError(
            f"{relative[0].host}:{relative[0].path} is a relative path, which means nothing on another host",
            "give a path that begins with /",
        )
    return places


class Following:
    """What ranks tell is taken until all have ended, or nothing more comes."""

    def __init__(
        self, launched: Launched, assembly: Assembly, listener: Listener, stopping: Callable[[], bool]
    ) -> None:
        self._launched, self._assembly = launched, assembly
        self._listener, self._stopping = listener, stopping
        self._lines = [Lines(file) for file in launched.files]
        self._began_s = time.monotonic()
        self._asked_to_stop_s: float | None = None
        self._interrupted_s: float | None = None
        self._shown = False

    def until_all_ended(self) -> None:
        """Raises IocastError where the hosts could not begin."""
        while True:
            ended = self._launched.ended  # before what it wrote is read: then that is all
            read_s = time.monotonic()  # to add up a row of many hosts takes time in which they are not heard
            self._hear()
            hosts = self._assembly.hosts
            self._refuse_unstarted(ended)
            if ended or not any(host.on for host in hosts):
                break
            self._look_after(hosts, read_s)
            time.sleep(_EVERY_S)
        for host in self._assembly.hosts:
            if host.on:
                self._lose(host, "it was killed, or its connection was cut")
        self._show()

    def _hear(self) -> None:
        for number, lines in enumerate(self._lines):
            for message in lines.read():
                self._assembly.hear(number, message)
        if self._assembly.run is not None or self._shown:
            self._show()

    def _show(self) -> None:
        """What the hosts said, the same of many in one line."""
        said, self._assembly.said = self._assembly.said, []
        self._shown = True
        by_line: dict[str, list[str]] = {}
        for host, line in said:
            by_line.setdefault(line, []).append(host)
        for line, hosts in by_line.items():
            self._listener.tell(HostsSaid(tuple(hosts), len(self._assembly.hosts), line))

    def _refuse_unstarted(self, ended: bool) -> None:
        """Raises IocastError: nothing was measured, and nothing will be."""
        hosts = self._assembly.hosts
        if refusal := _refusal(hosts):
            self._launched.stop()
            raise refusal
        silent = [host for host in hosts if host.hello is None]
        if not silent:
            return
        names = ", ".join(dict.fromkeys(host.name for host in silent))
        if ended:
            said = self._launched.said() or f"the launcher ended with {self._launched.exit_code}"
            raise LoadError(f"iocast did not start on {names}: {said}", _CHECK)
        if time.monotonic() - self._began_s > ANSWER_S:
            raise LoadError(f"{names} did not answer within {ANSWER_S:.0f} s: {self._launched.said()}", _CHECK)

    def _look_after(self, hosts: Sequence[Heard], now_s: float) -> None:
        """Ends the run on all hosts when a person, or the end of one host, asks for it."""
        for host in hosts:
            if host.on and host.hello is not None and now_s - host.heard_s > SILENT_S:
                self._lose(host, f"it was not heard for {SILENT_S:.0f} s")
        if self._is_to_stop(hosts, now_s) and self._asked_to_stop_s is None:
            self._asked_to_stop_s = now_s
            self._launched.stop()
        if self._asked_to_stop_s is not None and now_s - self._asked_to_stop_s > SILENT_S:
            self._launched.kill()

    def _is_to_stop(self, hosts: Sequence[Heard], now_s: float) -> bool:
        """Whether a person asks for it, one host went no further, or one that was killed ended others, but not all.

        Hydra tells those that are left of the death of one, and does not survive it when we send a signal as well.
        """
        if self._stopping() or any(host.lost for host in hosts):
            return True
        statuses = [host.ended.status for host in hosts if host.ended is not None]
        if "interrupted" in statuses and self._interrupted_s is None:
            self._interrupted_s = now_s
        late = self._interrupted_s is not None and now_s - self._interrupted_s > OTHERS_END_S
        return "failed" in statuses or late

    def _lose(self, host: Heard, why: str) -> None:
        self._assembly.lose(host, why)
        self._listener.tell(HostLost(host.name, why))


def _refusal(hosts: Sequence[Heard]) -> LoadError | None:
    """Why the hosts may not begin; None where they may. It is the same on all that were asked."""
    refused = [host.ended for host in hosts if host.ended is not None and host.ended.status == "refused"]
    return LoadError(refused[0].error, refused[0].hint) if refused else None


def tell_run(assembly: Assembly, request: MeasureRequest, listener: Listener, stopped: bool) -> MeasuredJob:
    """The run of all hosts is judged and its card told. Raises IocastError."""
    run = assembly.finish(_judged(assembly))
    if run is None or assembly.folder is None:
        raise (
            _refusal(assembly.hosts) or _error_of(assembly, "") or LoadError("nothing was measured on any host", _CHECK)
        )
    folder = shown_folder(assembly.folder.path)
    if stopped:
        planned = sum(phase.role == "measure" for phase in run.plan.phases)
        cut = sum(record.measurement.stopped == "interrupted" for record in run.measured)
        listener.tell(Stopped(len(run.measured), planned, kept=True, cut_short=cut))
    untagged = tag(folder, request.options.label)
    card = open_card(folder, request.grade_request)
    report = card.report()
    keep_summary(card, report)
    passed = tell_card(card, report, request, listener, kept=True)
    if error := _error_of(assembly, folder) or untagged:
        raise error
    return MeasuredJob(run, card, passed)


def _judged(assembly: Assembly) -> list[HostPart]:
    """The hosts with the trust that each of their rows has alone."""
    parts = []
    machines = Counter(host.machine for host in assembly.hosts)
    for number, part in enumerate(assembly.parts()):
        folder = assembly.part_folder(number)
        trust: dict[str, Trust] = {}
        if folder is not None:
            with suppress(ArchiveError):
                trust = open_card(str(folder)).examination.trust
        if machines[part.machine] > 1:  # its counters show what other ranks did there
            trust = {phase: each.without("isolation", "anomalies") for phase, each in trust.items()}
        rows = tuple(
            replace(row, trust=trust[row.phase].grade, reason=trust[row.phase].reason) if row.phase in trust else row
            for row in part.rows
        )
        parts.append(replace(part, rows=rows))
    return parts


def _error_of(assembly: Assembly, folder: str) -> IocastError | None:
    """What ended the run before its end, of the host where it happened first; `folder` is "" where nothing is kept."""
    hosts = assembly.hosts
    lost = [host for host in hosts if host.lost]
    failed = [host for host in hosts if host.ended is not None and host.ended.status == "failed"]
    kept = f"; what was measured until then is kept: iocast report {shlex.quote(folder)}" if folder else ""
    if failed and failed[0].ended is not None:
        return LoadError(f"{failed[0].name}: {failed[0].ended.error}{kept}", failed[0].ended.hint)
    if not lost:
        return None
    names = f"{', '.join(host.name for host in lost)} {'was' if len(lost) == 1 else 'were'} lost"
    left = f"{len(hosts) - len(lost)} of {len(hosts)} hosts were left"
    return LoadError(f"{names}: {lost[0].lost} ({left}){kept}", _CHECK)
