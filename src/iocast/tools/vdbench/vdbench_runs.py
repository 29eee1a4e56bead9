"""vdbench's run definitions as phases: loops, rates, a curve, several workloads side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.plan import Length, Phase
from iocast.model.script import Share
from iocast.model.workload import Arrival, Closed, Constant, Poisson, Unique, Workload
from iocast.tools.line_problems import LineProblems, meant
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_values import (
    Loop,
    Rate,
    Reader,
    cells,
    milliseconds_of,
    named,
    percent_of,
    rates,
    ratio_of,
    seconds_of,
    size_of,
    whole_of,
)
from iocast.tools.vdbench.vdbench_workloads import Io, Place, as_one, io_of, skews

USUAL_SECONDS = 30.0
_EVEN, _EXPONENTIAL = ("deterministic", "d"), ("exponential", "e")


class Expanded(NamedTuple):
    """The phases of a run definition, and those whose rate is a share of a maximum."""

    phases: tuple[Phase, ...]
    shares: dict[str, Share]
    interval_ns: int


class RunTimes(Struct, frozen=True, kw_only=True):
    """How long runs are, when a curve stops, and whether their I/Os are due evenly or at random."""

    length: Length
    warm_seconds: float  # 0: without
    stop_above_ns: int | None
    even: bool
    interval_ns: int

    @property
    def warm(self) -> Length:
        """Of a warm-up."""
        return Length(seconds=self.warm_seconds)

    def arrival(self, rate: Rate, part: float = 1.0) -> Arrival:
        """When I/Os of a workload are due that has this part of a rate."""
        if rate.per_s is None:
            return Closed()
        return Constant(rate.per_s * part) if self.even else Poisson(rate.per_s * part)

    def share(self, rate: Rate, largest: str) -> Share:
        """A rate that is a percentage of what `largest` reached."""
        assert rate.percent is not None
        return Share(of=largest, percent=rate.percent, even=self.even, stop_above_ns=self.stop_above_ns)


def times_of(reader: Reader) -> RunTimes:
    """Those of a run definition; what cannot be read is a problem."""
    return RunTimes(
        length=Length(
            seconds=reader.one("elapsed", seconds_of, USUAL_SECONDS), bytes=reader.one("maxdata", size_of, None)
        ),
        warm_seconds=reader.one("warmup", seconds_of, 0.0),
        stop_above_ns=reader.one("stopcurve", milliseconds_of, None),
        even=_is_even(reader),
        interval_ns=max(1, round(reader.one("interval", seconds_of, 1.0) * 1e9)),
    )


def _is_even(reader: Reader) -> bool:
    said = reader.one("distribution", str, "exponential").lower()
    if said not in (*_EVEN, *_EXPONENTIAL):
        reader.refuse(
            "distribution",
            f"{said} is not supported{meant(said, (_EVEN[0], _EXPONENTIAL[0]))}",
            "exponential or deterministic",
        )
    return said in _EVEN


class RatedRun(NamedTuple):
    """One run: its name, its rate, and the run whose maximum that is a share of."""

    name: str
    rate: Rate
    largest: str


def rated_runs(run: Definition, key: str, words: str, problems: LineProblems) -> Iterator[RatedRun]:
    """The runs of one cell of the loops, for each rate of `key`; a share alone finds the maximum first."""
    largest = ""

    def name(rate: Rate) -> str:
        return " ".join(filter(None, (run.name, words, rate.words)))

    for rate in rates(run, key, problems):
        if rate.percent is not None and not largest:
            largest = name(Rate())
            yield RatedRun(largest, Rate(), "")
        yield RatedRun(name(rate), rate, largest)
        if rate == Rate():
            largest = name(rate)


LOOPS: dict[str, Loop] = {
    "forxfersize": Loop("xfersize", size_of),
    "forrdpct": Loop("rdpct", percent_of),
    "forthreads": Loop("threads", whole_of),
    "forseekpct": Loop("seekpct", str),
    "forcompratio": Loop("compratio", ratio_of),
    "fordedupratio": Loop("dedupratio", ratio_of),
}


class RunReader:
    """Reads one run definition on known storage and workloads."""

    def __init__(self, run: Definition, workloads: Mapping[str, Definition], place: Place) -> None:
        self._run, self._workloads, self._place = run, workloads, place
        self._reader = Reader(run.parameters, place.problems)
        self._times = times_of(self._reader)
        self._shares: dict[str, Share] = {}

    def expanded(self) -> Expanded:
        """All of its runs, one after the other."""
        phases = [phase for cell in cells(self._run, LOOPS, self._place.problems) for phase in self._of_cell(*cell)]
        return Expanded(tuple(phases), self._shares, self._times.interval_ns)

    def _ios(self, cell: Mapping[str, Parameter]) -> list[Io]:
        """The workloads of the run, with what it and its loops set itself."""
        place, parameters = self._place, self._run.parameters
        workloads: list[tuple[str, int, Mapping[str, Parameter]]]
        if "wd" in parameters:
            names = named(parameters["wd"], self._workloads, "wd", place.problems)
            workloads = [(name, self._workloads[name].line, self._workloads[name].parameters) for name in names]
        else:
            workloads = [(self._run.name, self._run.line, {})]
        ios = []
        for name, line, own in workloads:
            wanted = parameters.get("sd") or own.get("sd") or Parameter("sd", ("*",), line)
            used = [place.storage[each] for each in named(wanted, place.storage, "sd", place.problems)]
            if used:
                ios.append(io_of(name, line, (place.general, own, parameters, cell), used, place))
        return ios

    def _of_cell(self, words: str, cell: Mapping[str, Parameter]) -> Iterator[Phase]:
        ios = self._ios(cell)
        if not ios:
            return
        one = as_one(ios)
        self._check_skew(ios)
        for rated in rated_runs(self._run, "iorate", words, self._place.problems):
            if one is None and rated.rate.per_s is None:
                line, names = self._run.parameters["iorate"].line, ", ".join(each.name for each in ios)
                self._place.problems.add(
                    line,
                    f"iorate={self._run.parameters['iorate'].text}: {names} differ in more than their share",
                    "give a rate as a number, or one wd= a run",
                )
                return
            yield from self._phases(rated, [one] if one is not None else ios)

    def _check_skew(self, ios: Sequence[Io]) -> None:
        total = sum(skews(ios))
        if len(ios) == 1:
            return
        if abs(total - 100) > 0.01 or any(share <= 0 for share in skews(ios)):
            said = f"rd={self._run.name}: the skew of its workloads adds up to {total:g}, or one has none"
            self._place.problems.add(self._run.line, said, "make skew= add up to 100")

    def _phases(self, rated: RatedRun, ios: Sequence[Io]) -> Iterator[Phase]:
        """A group: the workloads side by side; before it a warm-up, where there is one."""
        name, rate, largest = rated
        shares = skews(ios) if len(ios) > 1 else (100.0,)
        for role, length in (("warm", self._times.warm), ("measure", self._times.length)):
            if role == "warm" and not self._times.warm_seconds:
                continue
            for each, part in zip(ios, shares, strict=True):
                own = f"{name} {each.name}" if len(ios) > 1 else name
                phase = self._phase(f"{own} warm" if role == "warm" else own, each, rate, part / 100)
                phase = replace(phase, length=length, role=role, together=_together(name, role, ios))
                if rate.percent is not None:
                    self._shares[phase.name] = self._times.share(rate, largest)
                yield phase

    def _phase(self, name: str, io: Io, rate: Rate, share: float) -> Phase:
        start, size_bytes = io.region
        numbers = tuple(number for number, each in enumerate(self._place.storage) if each in io.storage)
        return Phase(
            name=name,
            test=self._run.name,
            workload=Workload(
                mix=io.mix,
                locality=io.locality,
                arrival=self._times.arrival(rate, share),
                users=io.threads * len(io.storage),
                depth=io.depth,
                direct=io.direct,
                sync=io.sync,
                payload=io.payload if any(item.op == "write" for item in io.mix) else Unique(),
            ),
            length=self._times.length,
            region_start_bytes=start,
            region_size_bytes=size_bytes,
            on_files=numbers if len(numbers) < len(self._place.storage) else (),
        )


def _together(name: str, role: str, ios: Sequence[Io]) -> str:
    return f"{name} {role}" if len(ios) > 1 else ""
