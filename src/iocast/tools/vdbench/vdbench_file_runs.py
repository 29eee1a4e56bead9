"""vdbench's run definitions with file system workloads (fwd=) as phases in trees of files: format, loops, rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from iocast.model.plan import Length, Phase
from iocast.model.script import Share
from iocast.model.tree import Tree
from iocast.model.workload import Arrival, Closed, MixItem, Op, Unique, Workload, pass_ios, starts_empty
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_runs import Expanded, RatedRun, rated_runs, times_of
from iocast.tools.vdbench.vdbench_trees import FileLoad, loads_of, operation_of, trees_of_job
from iocast.tools.vdbench.vdbench_values import (
    MOST_RUNS,
    Loop,
    Rate,
    Reader,
    cells,
    named,
    percent_of,
    ratio_of,
    size_of,
    whole_of,
)
from iocast.tools.vdbench.vdbench_workloads import Place

FORMAT_THREADS = 8  # vdbench's own
FORMATS = ("yes", "no", "only", "restart", "clean")
SHAPES = ("depth", "width", "files", "sizes")  # loops that make another tree


def _known_operation(text: str) -> str:
    operation_of(text)
    return text.lower()


LOOPS: dict[str, Loop] = {
    "foroperations": Loop("operation", _known_operation),
    "foroperation": Loop("operation", _known_operation),
    "forthreads": Loop("threads", whole_of),
    "forxfersize": Loop("xfersize", size_of),
    "forrdpct": Loop("rdpct", percent_of),
    "forcompratio": Loop("compratio", ratio_of),
    "fordedupratio": Loop("dedupratio", ratio_of),
    "fordepth": Loop("depth", whole_of),
    "forwidth": Loop("width", whole_of),
    "forfiles": Loop("files", whole_of),
    "forsizes": Loop("sizes", size_of),
    "forsize": Loop("sizes", size_of),
}
ByTree = dict[Tree, list[FileLoad]]


class FileRunReader:
    """Reads one run definition on known workloads and trees; `first` is the tree of phases that do not say another."""

    def __init__(
        self,
        run: Definition,
        workloads: Mapping[str, Definition],
        trees: Sequence[Definition],
        first: Tree,
        place: Place,
    ) -> None:
        self._run, self._workloads, self._trees, self._first = run, workloads, trees, first
        self._problems, self._general = place.problems, place.general
        self._reader = Reader(run.parameters, place.problems)
        self._times = times_of(self._reader)
        self._shares: dict[str, Share] = {}
        self._shapes: dict[tuple[str, ...], dict[str, Tree]] = {}  # what loops made so far

    def expanded(self) -> Expanded:
        """All of its runs, one after the other; before them, and before each other shape, the format if asked for."""
        wanted = self._format()
        phases: list[Phase] = []
        formatted: tuple[Tree, ...] = ()
        for words, cell in cells(self._run, LOOPS, self._problems):
            by_tree = self._by_tree(cell)
            if tuple(by_tree) != formatted:
                formatted = tuple(by_tree)
                phases += self._formatting(wanted, words if cell.keys() & SHAPES else "", by_tree)
            if not wanted & {"only", "clean"}:
                phases += self._of_cell(words, by_tree)
            if len(phases) > MOST_RUNS:
                said = f"rd={self._run.name}: its loops and trees make more than {MOST_RUNS:,} rows"
                self._problems.add(self._run.line, said, "shorten the lists")
                break
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

    def _formatting(self, wanted: set[str], words: str, by_tree: ByTree) -> Iterator[Phase]:
        """The rows that remove the files of trees, or make them anew: all trees at once."""
        if not wanted & {"yes", "only", "clean"}:
            return
        op: Op = "unlink" if "clean" in wanted else "create"
        threads = self._reader.one("threads", whole_of, FORMAT_THREADS)
        name = " ".join(filter(None, (self._run.name, words, "clean" if op == "unlink" else "format")))
        for tree, loads in by_tree.items():
            yield Phase(
                name=_named(name, by_tree, loads),
                test=self._run.name,
                workload=Workload(mix=(MixItem(op, 0, 100.0),), users=threads, direct=False),
                length=Length(ios=pass_ios(tree, [op], threads)),
                role="measure",
                from_nothing=op == "create",
                together=name if len(by_tree) > 1 else "",
                tree=self._other(tree),
            )

    def _other(self, tree: Tree) -> Tree | None:
        return None if tree == self._first else tree

    def _by_tree(self, cell: Mapping[str, Parameter]) -> ByTree:
        """What is done in each tree in one cell of the loops."""
        own = {key: value for key, value in self._run.parameters.items() if key not in LOOPS}
        if "fwd" not in own:
            self._problems.add(self._run.line, f"rd={self._run.name}: fwd is missing", "fwd=fwd1, or fwd=*")
            return {}
        if "operations" in own:
            own["operation"] = own["operations"]._replace(key="operation")
        names = named(own["fwd"], self._workloads, "fwd", self._problems)
        looped = {key: cell[key] for key in SHAPES if key in cell}
        key = tuple(f"{key}={value.text}" for key, value in looped.items())
        trees = self._shapes.get(key) or self._shapes.setdefault(key, trees_of_job(self._trees, self._problems, looped))
        fsds = {each.name: (each, trees[each.name]) for each in self._trees}
        by_tree: ByTree = {}
        for name in names:
            for load in loads_of(self._workloads[name], (self._general, own, cell), fsds, self._problems):
                by_tree.setdefault(load.tree, []).append(load)
        return by_tree

    def _of_cell(self, words: str, by_tree: ByTree) -> Iterator[Phase]:
        loads = [load for each in by_tree.values() for load in each]
        if not loads or not all(map(self._alike, by_tree.values())) or not self._adds_up(loads):
            return
        for rated in rated_runs(self._run, "fwdrate", words, self._problems):
            if len(by_tree) > 1 and not self._can_share(rated.rate, loads):
                return
            yield from self._phases(rated, by_tree)

    def _can_share(self, rate: Rate, loads: Sequence[FileLoad]) -> bool:
        """Workloads in several trees run side by side: their shares are kept of a rate that is a number."""
        if rate.per_s is not None or (rate.percent is None and all(load.skew is None for load in loads)):
            return True
        given = self._run.parameters["fwdrate"]
        why = "shares of a maximum" if rate.percent is not None else "shares (skew=) of an unknown rate"
        said = f"fwdrate={given.text}: {why}, in several trees"
        self._problems.add(given.line, said, "give a rate as a number, max without skew=, or one fsd= a run")
        return False

    def _alike(self, loads: Sequence[FileLoad]) -> bool:
        """Workloads in one tree are one mix by their skew: they may differ in operations and sizes only."""
        first = loads[0]
        for each in loads[1:]:
            if each.shared != first.shared:
                pair = f"fwd={each.name} and fwd={first.name}"
                said = f"rd={self._run.name}: {pair} differ in fileio, fileselect, stopafter or openflags"
                self._problems.add(each.line, said, "give both the same, or each a run of its own")
                return False
        return True

    def _adds_up(self, loads: Sequence[FileLoad]) -> bool:
        given = [each.skew for each in loads if each.skew is not None]
        total = sum(given)
        whole = abs(total - 100) < 0.01 if len(given) == len(loads) else total < 100
        if given and len(loads) > 1 and not whole:
            said = f"rd={self._run.name}: the skew of its workloads adds up to {total:g}"
            self._problems.add(self._run.line, said, "make skew= add up to 100")
            return False
        return True

    def _phases(self, rated: RatedRun, by_tree: ByTree) -> Iterator[Phase]:
        """A run, in all trees at once; before it what it needs, and a warm-up where there is one."""
        skews = iter(_skews([load for loads in by_tree.values() for load in loads]))
        stages: dict[str, list[Phase]] = {"mkdir": [], "warm": [], "measure": []}
        for tree, loads in by_tree.items():
            name, shares = _named(rated.name, by_tree, loads), [next(skews) for _ in loads]
            part = sum(shares) / 100 if len(by_tree) > 1 else 1.0
            phase = self._phase(name, loads, _as_one(loads, shares), self._times.arrival(rated.rate, part))
            ops = {item.op for item in phase.workload.mix}
            if "rmdir" in ops and "mkdir" not in ops:
                stages["mkdir"].append(_before_rmdir(phase, tree))
                phase = replace(phase, as_it_is=True)
            if self._times.warm_seconds:
                stages["warm"].append(replace(phase, name=f"{name} warm", role="warm", length=self._times.warm))
            stages["measure"].append(phase)
        for stage, phases in stages.items():
            together = f"{rated.name} {stage}" if len(phases) > 1 else ""
            for phase in phases:
                if rated.rate.percent is not None and stage != "mkdir":
                    self._shares[phase.name] = self._times.share(rated.rate, rated.largest)
                yield replace(phase, together=together)

    def _phase(self, name: str, loads: Sequence[FileLoad], mix: tuple[MixItem, ...], arrival: Arrival) -> Phase:
        first = loads[0]
        writes = any(item.op in ("write", "create") for item in mix)
        return Phase(
            name=name,
            test=self._run.name,
            workload=Workload(
                mix=mix,
                locality=first.locality,
                arrival=arrival,
                users=sum(each.threads for each in loads),
                direct=first.direct,
                sync=first.sync if writes else "none",
                select=first.select,
                stop_after=first.stop_after if any(item.op in ("read", "write") for item in mix) else None,
                payload=first.payload if writes else Unique(),
            ),
            length=self._times.length,
            from_nothing=starts_empty(item.op for item in mix),
            tree=self._other(first.tree),
        )


def _named(name: str, by_tree: ByTree, loads: Sequence[FileLoad]) -> str:
    """A row of one of several trees says of which."""
    return f"{name} {'+'.join(dict.fromkeys(load.fsd for load in loads))}" if len(by_tree) > 1 else name


def _before_rmdir(phase: Phase, tree: Tree) -> Phase:
    """The directories that are to be removed."""
    mkdir = replace(phase.workload, mix=(MixItem("mkdir", 0, 100.0),), arrival=Closed())
    ios = pass_ios(tree, ["create"], mkdir.users)
    return replace(phase, name=f"{phase.name} mkdir", role="warm", workload=mkdir, length=Length(ios=ios))


def _skews(loads: Sequence[FileLoad]) -> list[float]:
    """The share of each in percent: as given, the rest evenly over the others."""
    rest = 100 - sum(each.skew or 0.0 for each in loads)
    without = sum(each.skew is None for each in loads)
    return [rest / without if each.skew is None else each.skew for each in loads]


def _as_one(loads: Sequence[FileLoad], shares: Sequence[float]) -> tuple[MixItem, ...]:
    """The operations of all in one tree, each with its share in percent."""
    weights: dict[tuple[Op, int], float] = {}
    for each, share in zip(loads, shares if len(loads) > 1 else (100.0,), strict=True):
        for item in each.mix:
            key = (item.op, item.size_bytes)
            weights[key] = weights.get(key, 0.0) + item.weight * share / 100
    return tuple(MixItem(op, size, round(part, 6)) for (op, size), part in weights.items() if part)
