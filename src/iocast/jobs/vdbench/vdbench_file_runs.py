"""vdbench's run definitions with file system workloads (fwd=) as phases in a tree of files: format, loops, rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.formats.vdbench.parameter_file import Definition, Parameter
from iocast.jobs.tree_phases import pass_ios, starts_empty
from iocast.jobs.vdbench.vdbench_rates import Loop, Rate, cells
from iocast.jobs.vdbench.vdbench_run_parts import Expanded, rated_runs, times_of
from iocast.jobs.vdbench.vdbench_trees import OPERATIONS, FileLoad, load_of
from iocast.jobs.vdbench.vdbench_values import (
    Reader,
    named,
    percent_of,
    ratio_of,
    size_of,
    whole_of,
)
from iocast.jobs.vdbench.vdbench_workloads import Place
from iocast.model.plan import Length, Phase
from iocast.model.script import Share
from iocast.model.tree import Tree
from iocast.model.workload import Closed, MixItem, Op, Unique, Workload

FORMAT_THREADS = 8  # vdbench's own
FORMATS = ("yes", "no", "only", "restart", "clean")


def _operation(text: str) -> str:
    if text.lower() not in OPERATIONS:
        raise SpecError(f'"{text}" is not an operation that is run', f"one of {', '.join(OPERATIONS)}")
    return text.lower()


LOOPS: dict[str, Loop] = {
    "foroperations": Loop("operation", _operation),
    "foroperation": Loop("operation", _operation),
    "operations": Loop("operation", _operation),
    "operation": Loop("operation", _operation),
    "forthreads": Loop("threads", whole_of),
    "forxfersize": Loop("xfersize", size_of),
    "forrdpct": Loop("rdpct", percent_of),
    "forcompratio": Loop("compratio", ratio_of),
    "fordedupratio": Loop("dedupratio", ratio_of),
}


class FileRunReader:
    """Reads one run definition on a known tree and workloads."""

    def __init__(
        self,
        run: Definition,
        workloads: Mapping[str, Definition],
        trees: Sequence[Definition],
        tree: Tree,
        place: Place,
    ) -> None:
        self._run, self._workloads, self._trees, self._tree = run, workloads, trees, tree
        self._problems, self._general = place.problems, place.general
        self._reader = Reader(run.parameters, place.problems)
        self._times = times_of(self._reader)
        self._shares: dict[str, Share] = {}

    def expanded(self) -> Expanded:
        """All of its runs, one after the other; before them the format, where it is asked for."""
        wanted = self._format()
        phases = list(self._formatting(wanted))
        if not wanted & {"only", "clean"}:
            for words, cell in cells(self._run, LOOPS, self._problems):
                phases += self._of_cell(words, cell)
        return Expanded(tuple(phases), self._shares, self._times.interval_ns)

    def _format(self) -> set[str]:
        given = self._run.parameters.get("format")
        wanted = {each.lower() for each in given.values} if given else {"no"}
        if given and (unknown := sorted(wanted.difference(FORMATS))):
            way_out = "format=yes, no, only, restart or clean"
            self._problems.add(given.line, f"format={given.text}: {', '.join(unknown)}: not supported", way_out)
        if given and not wanted & {"yes", "only", "clean"}:
            self._problems.note(
                f"line {given.line}: format={given.text}: what is missing of the tree is made first, and not measured"
            )
        return wanted

    def _formatting(self, wanted: set[str]) -> Iterator[Phase]:
        """The rows that remove the tree's files, and make them anew."""
        threads = self._reader.one("threads", whole_of, FORMAT_THREADS)
        ops: list[Op] = []
        if "clean" in wanted:
            ops.append("unlink")
        elif wanted & {"yes", "only"}:
            ops.append("create")
        for op in ops:
            yield Phase(
                name=f"{self._run.name} {'clean' if op == 'unlink' else 'format'}",
                test=self._run.name,
                workload=Workload(mix=(MixItem(op, 0, 100.0),), users=threads, direct=False),
                length=Length(ios=pass_ios(self._tree, [op], threads)),
                role="measure",
                from_nothing=op == "create",
            )

    def _loads(self, cell: Mapping[str, Parameter]) -> list[FileLoad]:
        own = {key: value for key, value in self._run.parameters.items() if key not in LOOPS}
        if "fwd" not in own:
            self._problems.add(self._run.line, f"rd={self._run.name}: fwd is missing", "fwd=fwd1, or fwd=*")
            return []
        names = named(own["fwd"], self._workloads, "fwd", self._problems)
        layers = (self._general, own, cell)
        trees = (self._tree, self._trees)
        return [load_of(self._workloads[name], layers, trees, self._problems) for name in names]

    def _of_cell(self, words: str, cell: Mapping[str, Parameter]) -> Iterator[Phase]:
        loads = self._loads(cell)
        if not loads or not self._alike(loads):
            return
        for name, rate, largest in rated_runs(self._run, "fwdrate", words, self._problems):
            yield from self._phases(name, loads, rate, largest)

    def _alike(self, loads: Sequence[FileLoad]) -> bool:
        """Workloads of one run are one mix by their skew: they may differ in operations and sizes only."""
        first = loads[0]
        for each in loads[1:]:
            if each.shared != first.shared:
                pair = f"fwd={each.name} and fwd={first.name}"
                said = f"rd={self._run.name}: {pair} differ in fileio, fileselect, stopafter or openflags"
                self._problems.add(each.line, said, "give both the same, or each a run of its own")
                return False
        given = [each.skew for each in loads if each.skew is not None]
        total = sum(given)
        whole = abs(total - 100) < 0.01 if len(given) == len(loads) else total < 100
        if given and len(loads) > 1 and not whole:
            said = f"rd={self._run.name}: the skew of its workloads adds up to {total:g}"
            self._problems.add(self._run.line, said, "make skew= add up to 100")
            return False
        return True

    def _phases(self, name: str, loads: Sequence[FileLoad], rate: Rate, largest: str) -> Iterator[Phase]:
        """A run; before it what it needs, and a warm-up where there is one."""
        phase = self._phase(name, loads, rate)
        ops = {item.op for item in phase.workload.mix}
        if "rmdir" in ops and "mkdir" not in ops:
            mkdir = replace(phase.workload, mix=(MixItem("mkdir", 0, 100.0),), arrival=Closed())
            ios = pass_ios(self._tree, ["create"], mkdir.users)
            yield replace(phase, name=f"{name} mkdir", role="warm", workload=mkdir, length=Length(ios=ios))
            phase = replace(phase, as_it_is=True)
        warm = replace(phase, name=f"{name} warm", role="warm", length=self._times.warm)
        for each in (warm, phase) if self._times.warm_seconds else (phase,):
            if rate.percent is not None:
                self._shares[each.name] = self._times.share(rate, largest)
            yield each

    def _phase(self, name: str, loads: Sequence[FileLoad], rate: Rate) -> Phase:
        first, mix = loads[0], _as_one(loads)
        writes = any(item.op in ("write", "create") for item in mix)
        return Phase(
            name=name,
            test=self._run.name,
            workload=Workload(
                mix=mix,
                locality=first.locality,
                arrival=self._times.arrival(rate),
                users=sum(each.threads for each in loads),
                direct=first.direct,
                sync=first.sync if writes else "none",
                select=first.select,
                stop_after=first.stop_after if any(item.op in ("read", "write") for item in mix) else None,
                payload=first.payload if writes else Unique(),
            ),
            length=self._times.length,
            from_nothing=starts_empty(item.op for item in mix),
        )


def _as_one(loads: Sequence[FileLoad]) -> tuple[MixItem, ...]:
    """The operations of all, each with its share: as given, the rest evenly over the others."""
    rest = 100 - sum(each.skew or 0.0 for each in loads)
    without = sum(each.skew is None for each in loads)
    weights: dict[tuple[Op, int], float] = {}
    for each in loads:
        share = 100.0 if len(loads) == 1 else each.skew if each.skew is not None else rest / without
        for item in each.mix:
            key = (item.op, item.size_bytes)
            weights[key] = weights.get(key, 0.0) + item.weight * share / 100
    return tuple(MixItem(op, size, round(part, 6)) for (op, size), part in weights.items() if part)
