"""Assembly: what ranks tell becomes one run folder, with that of each host in `hosts/NAME`, phase by phase."""

from __future__ import annotations

import base64
import binascii
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from iocast import __version__
from iocast.archive import RunFolder, new_run_id
from iocast.archive.file_names import INTERVALS
from iocast.archive.interval_tables import Part
from iocast.archive.warm_up import within
from iocast.archive.writing.held_folder import HeldFolder
from iocast.archive.writing.whole_files import write_all
from iocast.hosts.messages import Begun, Ended, Hello, Message, Moved, PhaseBegun, PhaseEnded, Piece, Said
from iocast.hosts.node_sets import HostPlace, folded, names_of
from iocast.hosts.sums import HostPhase, Window, host_row, of_all, summed, windows
from iocast.model.hosts import HostPart, HostRow
from iocast.model.plan import Phase
from iocast.model.run import Blind, Run
from iocast.model.target import Layer
from iocast.runner import Progress

HOSTS = "hosts"
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*){0,2}")
_MOST_PIECE = 1 << 30  # bytes of a file of a host's run folder
PER_HOST = "looked at on each host, in its own run folder"
_ROLES = ("measure", "warm", "probe")  # of phases that all hosts make together


class Heard:
    """What one rank has told so far."""

    def __init__(self, name: str, place: HostPlace) -> None:
        self.name, self.place = name, place
        self.hello: Hello | None = None
        self.run: Run | None = None
        self.phase: PhaseBegun | None = None
        self.moved = Moved()
        self.phases: list[PhaseEnded] = []  # of those that all make together
        self.clock_error_ns = 0
        self.ended: Ended | None = None
        self.lost = ""
        self.heard_s = time.monotonic()

    @property
    def machine(self) -> str:
        """Of its machine; "" before it has said so."""
        return self.hello.machine if self.hello else ""

    @property
    def on(self) -> bool:
        """Whether more is to come from it."""
        return self.ended is None and not self.lost


class Assembly:
    """One run of many hosts as it grows."""

    def __init__(self, out: str, places: Sequence[HostPlace], progress: Progress) -> None:
        self.hosts = [Heard(name, place) for name, place in zip(names_of(places), places, strict=True)]
        self.said: list[tuple[str, str]] = []  # host and line, not yet shown
        self.run: Run | None = None
        self.folder: RunFolder | None = None
        self._out, self._progress = out, progress
        self._early: list[tuple[int, Piece]] = []  # of a host, before there was a folder
        self._parts: dict[int, HeldFolder] = {}
        self._rows: dict[str, list[HostRow]] = {host.name: [] for host in self.hosts}
        self._summed = 0

    def hear(self, number: int, message: Message) -> None:
        """Takes a message of a rank. Raises ArchiveError."""
        host = self.hosts[number]
        host.heard_s = time.monotonic()
        match message:
            case Hello():
                host.hello = message
            case Said():
                self.said += [(host.name, line) for line in message.lines]
            case Begun():
                host.run = message.run
                self._begin()
            case PhaseBegun():
                host.phase = message
                self._begin_next(host)
            case Moved():
                host.moved = message
                self._tick()
            case PhaseEnded():
                if message.record.phase.role in _ROLES:
                    host.phases.append(message)
                    host.clock_error_ns = max(host.clock_error_ns, message.clock_error_ns)
                    self._sum()
            case Piece():
                self._early.append((number, message))
                self._put_pieces()
            case Ended():
                host.ended = message
                self._sum()

    def _begin_next(self, host: Heard) -> None:
        """Shows the phase that the first host begins, once that before it was added up."""
        if host is self.hosts[0] and host.phase is not None and len(host.phases) == self._summed:
            begun, host.phase = host.phase, None
            self._progress.begin(begun.phase, begun.number, begun.total, begun.seconds_left)

    def lose(self, host: Heard, why: str) -> None:
        """A host from which nothing more comes. Raises ArchiveError."""
        host.lost = host.lost or why
        self._sum()

    def _begin(self) -> None:
        """All have begun: the run of them all has a folder."""
        runs = [host.run for host in self.hosts]
        if self.run is not None or not all(runs):
            return
        known = [run for run in runs if run is not None]
        name = folded(tuple(host.place.host for host in self.hosts))
        path = self._place()
        begun = of_all(known[0], name, [run.host for run in known], [host.machine for host in self.hosts], path)
        begun = replace(begun, run_id=new_run_id(begun.started_unix_ns), iocast_version=__version__)
        begun = replace(begun, blind=(Blind("pagecache", PER_HOST), Blind("pressure", PER_HOST)))
        self.run = replace(begun, hosts=self.parts())
        self.folder = RunFolder.create(self._out, self.run)
        self._put_pieces()

    def _place(self) -> str:
        """Where it worked, as --hosts would say it."""
        paths = {host.place.path for host in self.hosts}
        names = tuple(host.place.host for host in self.hosts)
        if len(paths) == 1:
            return f"{folded(names)}:{paths.pop()}"
        return ",".join(f"{host.place.host}:{host.place.path}" for host in self.hosts)

    def _put_pieces(self) -> None:
        if self.folder is None:
            return
        early, self._early = self._early, []
        for number, piece in early:
            self._put(number, piece)

    def _put(self, number: int, piece: Piece) -> None:
        """A file of a host's own run folder. A name that leads out of it is refused."""
        if not _FILE_NAME.fullmatch(piece.file) or len(piece.data) > _MOST_PIECE:
            return
        folder = self._part(number)
        *rooms, name = piece.file.split("/")
        for room in rooms:
            folder = folder.folder(room)
        try:
            data = base64.b64decode(piece.data, validate=True)
        except binascii.Error:
            return
        if piece.at:
            self._append(folder, name, data)
        else:
            folder.put(name, data)

    @staticmethod
    def _append(folder: HeldFolder, name: str, data: bytes) -> None:
        descriptor = folder.open_to_append(name)
        try:
            write_all(descriptor, data)
        finally:
            os.close(descriptor)

    def _part(self, number: int) -> HeldFolder:
        assert self.folder is not None
        if number not in self._parts:
            self._parts[number] = self.folder.held.folder(HOSTS).folder(self.hosts[number].name)
        return self._parts[number]

    def _tick(self) -> None:
        moved = [host.moved for host in self.hosts if host.on]
        if moved and any(each.elapsed_ns for each in moved):
            progress = (
                max(each.elapsed_ns for each in moved),
                sum(each.ios for each in moved),
                sum(each.bytes for each in moved),
                sum(each.errors for each in moved),
            )
            self._progress.tick(*progress)

    def _sum(self) -> None:
        """Adds up what all hosts that are left have done, in the order of the plan."""
        while self.folder is not None and self.run is not None and self._summed < len(self._planned):
            who = self._who(self._summed)
            ended = {host.name: host.phases[at] for host, at in who if len(host.phases) > at}
            if any(host.on for host, _ in who if host.name not in ended) or (not ended and self._may_come):
                return
            self._summed += 1
            if ended:
                self._add([(host, ended[host.name]) for host, _ in who if host.name in ended])
            self._begin_next(self.hosts[0])

    @property
    def _may_come(self) -> bool:
        return any(host.on for host in self.hosts)

    @property
    def _planned(self) -> tuple[Phase, ...]:
        """The phases that hosts make together."""
        run = self.hosts[0].run
        return tuple(phase for phase in run.plan.phases if phase.role in _ROLES) if run else ()

    def _who(self, number: int) -> list[tuple[Heard, int]]:
        """The hosts that make a phase, and which of its own phases it is for each."""
        planned, every = self._planned, len(self.hosts)
        makers = self.hosts[: planned[number].hosts or every]
        return [
            (host, sum((phase.hosts or every) > rank for phase in planned[:number])) for rank, host in enumerate(makers)
        ]

    def _add(self, every: list[tuple[Heard, PhaseEnded]]) -> None:
        """One phase of all the hosts that made it. Raises ArchiveError."""
        assert self.run is not None
        assert self.folder is not None
        whole = [
            HostPhase(host.name, host.machine, _layers(host), ended.record, ended.started_ns) for host, ended in every
        ]
        cut = windows(whole)
        tables = [
            Part(self._table(host, ended.number), window.from_ns, window.to_ns)
            for (host, ended), window in zip(every, cut, strict=True)
        ]
        known = all(table.file.exists() for table in tables)
        inside = [_within(each, window, table) for each, window, table in zip(whole, cut, tables, strict=True)]
        record = summed(inside)
        began_ns = min(each.started_ns for each in whole)
        for (host, _), each, before in zip(every, inside, whole, strict=True):
            self._rows[host.name].append(host_row(each, before.record.measurement, began_ns))
        at = len(self.run.phases)
        self.folder.save_phase(at, record.phase.name, None, record.samples)
        if known:
            self.folder.save_added(at, record.phase.name, record.plan.interval_ns, tables)
        self.run = replace(self.run, phases=(*self.run.phases, record), hosts=self.parts())
        self.folder.save(self.run)
        self._progress.end(record)

    def _table(self, host: Heard, number: int) -> Path:
        return self._part(self.hosts.index(host)).place / INTERVALS / f"{number:03}.parquet"

    def parts(self) -> tuple[HostPart, ...]:
        """The hosts so far."""
        return tuple(
            HostPart(
                name=host.name,
                path=host.place.path,
                run_id=host.run.run_id if host.run else "",
                machine=host.machine,
                clock_error_ns=host.clock_error_ns,
                rows=tuple(self._rows[host.name]),
                lost=host.lost or _why(host.ended),
            )
            for host in self.hosts
        )

    def finish(self, parts: Sequence[HostPart]) -> Run | None:
        """The run as it ended, with what is known of its hosts; None without a row. Raises ArchiveError."""
        if self.run is None or self.folder is None:
            return None
        if not self.run.phases:
            self.folder.discard()
            return None
        runs = [host.run for host in self.hosts if host.run is not None]
        done = all(host.ended is not None and host.ended.status == "done" for host in self.hosts)
        failed = any(host.lost or (host.ended is not None and host.ended.status == "failed") for host in self.hosts)
        warnings = tuple(dict.fromkeys(f"{host.name}: {note}" for host in self.hosts for note in _warnings(host)))
        self.run = replace(
            self.run,
            status="done" if done else "failed" if failed else "interrupted",
            warnings=warnings,
            files_whole=bool(runs) and all(host.ended is not None and host.ended.files_whole for host in self.hosts),
            hosts=tuple(parts),
        )
        self.folder.save(self.run)
        self.folder.end()
        return self.run

    def close_progress(self) -> None:
        """No more phases."""
        self._progress.close()

    def part_folder(self, number: int) -> Path | None:
        """The run folder of a host; None where nothing of it came."""
        return self._parts[number].place if number in self._parts else None


def _layers(host: Heard) -> tuple[Layer, ...]:
    return host.run.plan.target.layers if host.run else ()


def _within(part: HostPhase, window: Window, table: Part) -> HostPhase:
    if not window.from_ns and window.to_ns is None:
        return part
    if not table.file.exists():
        return part
    from iocast._core import Tables

    did = within(part.record.measurement, Tables([str(table.file)]), window.from_ns, window.to_ns)
    return replace(part, record=replace(part.record, measurement=did))


def _why(ended: Ended | None) -> str:
    return ended.error if ended is not None and ended.status == "failed" else ""


def _warnings(host: Heard) -> tuple[str, ...]:
    return host.ended.warnings if host.ended is not None else ()
