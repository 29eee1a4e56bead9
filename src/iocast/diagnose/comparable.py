"""Which rows of two groups of runs may be compared, and what else is different between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from iocast.analyse.comparison import MARGIN
from iocast.archive.catalogue import UntilSure
from iocast.diagnose.examination import examine
from iocast.diagnose.relations import WEIGHTY_NOTES
from iocast.diagnose.thresholds import worst
from iocast.model.codes import DifferenceCode, FindingCode, TrustCode
from iocast.model.finding import Grade
from iocast.model.plan import Phase
from iocast.model.results.comparison import Unlike
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import MixItem, Unstated, Workload
from iocast.text import capacity, counted
from iocast.units import duration_text

REPEATS = 3  # fewer tell nothing about chance; more than half of true equality is seen with five (models B4, B5)
CURED: tuple[TrustCode, ...] = ("precision", "steady")  # what repeats make up for
USABLE = ("A", "B", "C")  # trust that a comparison can rest on
MOST_NAMED = 4  # rows without a partner that are named


class Side(Struct, frozen=True):
    """One of the things compared: a run, or several repeats of it. `label` is what it is called."""

    label: str
    runs: tuple[Run, ...]
    trust: dict[str, Grade]  # by row: the worst of all its repeats, without what repeats make up for
    findings: dict[
        FindingCode, bool
    ] = {}  # those of weight in any run, the gravest first, and whether they are certain
    tagged: bool = False  # it was given by a tag, and is called by that
    until_sure: UntilSure = ""  # whether its number of runs was fixed beforehand


class Pair(Struct, frozen=True):
    """The repeats of one row on both sides. `why_not` says why they must not be compared ("" when they may)."""

    name: str
    first: tuple[PhaseRecord, ...]
    other: tuple[PhaseRecord, ...]
    why_not: str = ""
    matched: bool = False  # the repeats of both sides belong together one by one
    any_time: int = 0  # there were as many as it took to be sure, of so many figures at once; 0: as many as planned
    margin: float = MARGIN  # what counts as the same


def side(label: str, runs: tuple[Run, ...]) -> Side:
    """A side with the trust of its rows judged.

    What a single run is too short for, or does not settle in, is seen in the scatter of its repeats: with enough of
    them it costs no row.
    """
    trust: dict[str, Grade] = {}
    findings: dict[FindingCode, bool] = {}
    for run in runs:
        examined = examine(run)
        for each in examined.findings:
            weighs = each.severity != "note" or each.code in WEIGHTY_NOTES
            if weighs and each.state != "rejected":
                findings[each.code] = each.certain or findings.get(each.code, False)
        for name, judged in examined.trust.items():
            parts = [part.grade for part in judged.components if part.code not in CURED or len(runs) < REPEATS]
            grade = judged.grade if judged.void else worst(*parts)
            trust[name] = worst(trust.get(name, "A"), grade)
    return Side(label, runs, trust, findings)


def unlike(first: Side, other: Side, rows: Sequence[Pair]) -> tuple[Unlike, ...]:
    """Host, plan and target, where they are not the same on both sides (and within a side); `rows` are their pairs."""
    same = {pair.name: pair.other[0].phase.name for pair in rows}
    facts = _facts(first.runs, same.keys()), _facts(other.runs, set(same.values()))
    differences = [
        Unlike(code=code, first=" / ".join(before), other=" / ".join(after))
        for code in facts[0]
        if (before := facts[0][code]) != (after := facts[1].get(code, ())) or (len(before) > 1 and code != "seed")
    ]
    renamed = [names for names in same.items() if names[0] != names[1]]
    if renamed:
        first_names, other_names = (_listed(list(names)) for names in zip(*renamed, strict=True))
        differences.append(Unlike(code="row_names", first=first_names, other=other_names))
    alone = [name for name in _rows(first) if name not in same], [n for n in _rows(other) if n not in same.values()]
    if any(alone):
        differences.append(Unlike(code="rows_alone", first=_listed(alone[0]), other=_listed(alone[1])))
    return tuple(differences)


def only_indicative(of: Side, rows: Sequence[Pair]) -> tuple[str, ...]:
    """The compared rows of a side that have trust C."""
    names = dict.fromkeys(
        record.phase.name for pair in rows if not pair.why_not for record in (*pair.first, *pair.other)
    )
    return tuple(name for name in names if of.trust.get(name) == USABLE[-1])


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:MOST_NAMED])
    return f"{shown} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else shown or "none"


def _facts(runs: tuple[Run, ...], shared: Set[str]) -> dict[DifferenceCode, tuple[str, ...]]:
    """Each fact with all the values that it has among these runs, every one once."""
    facts: dict[DifferenceCode, dict[str, None]] = {}
    for run in runs:
        for code, value in _of_run(run, shared):
            facts.setdefault(code, {})[value] = None
    return {code: tuple(values) for code, values in facts.items()}


def _of_run(run: Run, shared: Set[str]) -> Iterator[tuple[DifferenceCode, str]]:
    host, target, plan = run.host, run.plan.target, run.plan
    yield "measured_by", f"{run.source.tool} {run.source.version}".strip() if run.source else "iocast"
    if run.source is not None:  # it says little of the rest
        yield "target", target.path
        yield "job", plan.name
        return
    yield "host", host.name
    yield "kernel", host.kernel
    yield "processor", f"{host.cpus} x {host.cpu_model}"
    yield "memory", capacity(host.usable_memory_bytes)
    yield "virtualisation", host.virtualisation or "none seen"
    yield "iocast", run.iocast_version
    yield "target", target.path
    yield "file_system", " ".join(filter(None, (target.filesystem, target.mount_options))) or "none"
    yield "device", ", ".join(layer.model or layer.name for layer in target.layers) or "none seen"
    yield "job", plan.name
    phases = [record.phase for record in run.measured if record.phase.name in shared]
    yield "length", ", ".join(dict.fromkeys(map(_length, phases))) or "none"
    yield "region", ", ".join(dict.fromkeys(map(_part, phases))) or "none"
    yield (
        "work_files",
        " + ".join(map(capacity, plan.files.sizes)) or f"{plan.files.count} x {capacity(plan.files.size_bytes)}",
    )
    yield "engine", ", ".join(sorted({record.measurement.engine.name for record in run.measured}))
    yield "seed", str(plan.seed)


def _length(phase: Phase) -> str:
    length = phase.length
    limits = (
        duration_text(round(length.seconds * 1e9)) if length.seconds is not None else "",
        counted(length.ios, "I/O") if length.ios is not None else "",
        capacity(length.bytes) if length.bytes is not None else "",
    )
    return " or ".join(filter(None, limits)) + (" at most, until steady" if phase.until else "")


def _part(phase: Phase) -> str:
    size = capacity(phase.region_size_bytes) if phase.region_size_bytes is not None else "all"
    return f"{size} from {capacity(phase.region_start_bytes)} on" if phase.region_start_bytes else size


def pairs(first: Side, other: Side, *, figures: int = 1, margin: float = MARGIN) -> tuple[Pair, ...]:
    """The rows that both sides have, in the order of the first; of each so many `figures` are judged."""
    rows, others = _rows(first), _rows(other)
    partners = _partners(first, other)
    all_at_once = "all" in (first.until_sure, other.until_sure)
    any_time = len(partners) * figures if all_at_once else int("" not in (first.until_sure, other.until_sure))
    order = _order(first.runs, other.runs) or (_same_seeds(first.runs, other.runs) if any_time else [])
    return tuple(
        replace(
            _pair(name, order, (first, name, rows[name]), (other, partner, others[partner])),
            any_time=any_time,
            margin=margin,
        )
        for name, partner in partners.items()
    )


def _pair(name: str, order: list[tuple[int, int]], *sides: tuple[Side, str, tuple[PhaseRecord, ...]]) -> Pair:
    (first, _, before), (other, _, after) = sides
    why_not = _why_not(before, after, *((side, named) for side, named, _ in sides))
    if not order or len(before) != len(first.runs) or len(after) != len(other.runs):
        return Pair(name, before, after, why_not)
    one_by_one = tuple(before[at] for at, _ in order), tuple(after[at] for _, at in order)
    return Pair(name, *one_by_one, why_not, matched=True)


def _same_seeds(first: tuple[Run, ...], other: tuple[Run, ...]) -> list[tuple[int, int]]:
    """The runs of the same offsets, where one side has more runs than the other; a seed counts once."""
    before, after = ({_seed(run): at for at, run in reversed([*enumerate(runs)])} for runs in (first, other))
    return [(before[seed], after[seed]) for seed in sorted(before.keys() & after.keys())]


def _order(first: tuple[Run, ...], other: tuple[Run, ...]) -> list[tuple[int, int]]:
    """Which runs belong together: those of one round, where the sides took turns, else those of the same offsets.

    Empty when there are no such pairs. Whether it is of use is decided by the scatter, never by the difference.
    """
    if len(first) != len(other) or len(first) < REPEATS:
        return []
    for key in (_started, _seed):
        before, after = (sorted(range(len(runs)), key=lambda at: key(runs[at])) for runs in (first, other))
        rounds = [(key(first[one]), key(other[two])) for one, two in zip(before, after, strict=True)]
        turns = all(max(this) < min(following) for this, following in pairwise(rounds))
        if turns and (key is _started or all(one == two for one, two in rounds)):
            return list(zip(before, after, strict=True))
    return []


def _started(run: Run) -> int:
    return run.started_unix_ns


def _seed(run: Run) -> int:
    return run.plan.seed


def _partners(first: Side, other: Side) -> dict[str, str]:
    """The row of the other side that belongs to each of the first: the one of its name, or else, where another tool
    named it in its own way, the only one that does the same I/O."""
    rows, others = _rows(first), _rows(other)
    lone = [name for name in rows if name not in others]
    strange = [name for name in others if name not in rows] if _tools(first) != _tools(other) else []
    like = {name: [each for each in strange if _alike((*rows[name], *others[each]))] for name in lone}
    met = Counter(each for partners in like.values() for each in partners)
    return {
        name: name if name in others else like[name][0]
        for name in rows
        if name in others or (len(like[name]) == 1 and met[like[name][0]] == 1)
    }


def _tools(side: Side) -> set[str]:
    return {run.source.tool if run.source else "iocast" for run in side.runs}


def _alike(records: tuple[PhaseRecord, ...]) -> bool:
    """Whether rows are known to do the same I/O, at the same load."""
    stated = all({"size", "users", "depth"}.isdisjoint(record.unstated) for record in records)
    return stated and len({record.phase.workload for record in _as_stated(records)}) == 1


def _rows(side: Side) -> dict[str, tuple[PhaseRecord, ...]]:
    rows: dict[str, tuple[PhaseRecord, ...]] = {}
    for run in side.runs:
        for record in run.measured:
            rows[record.phase.name] = (*rows.get(record.phase.name, ()), record)
    return rows


def _why_not(first: tuple[PhaseRecord, ...], other: tuple[PhaseRecord, ...], *named: tuple[Side, str]) -> str:
    idle = [record for record in (*first, *other) if not record.measurement.ios]
    if idle:
        return "the source does not state the number of I/Os" if "ios" in idle[0].unstated else "no I/O completed"
    records = _as_stated((*first, *other))
    if len({record.phase.workload for record in records}) > 1:
        return f"different workloads: {_first_difference(records[0], _unequal(records[0], records))}"
    for side, name in named:
        if side.trust[name] not in USABLE:
            return f"trust in {side.label} is {side.trust[name]}"
    return ""


def _as_stated(records: tuple[PhaseRecord, ...]) -> tuple[PhaseRecord, ...]:
    """The rows with the workload of the first wherever one of them comes from a tool that does not state it; a single
    operation has no weight."""
    silent = {name for record in records for name in record.unstated if hasattr(record.phase.workload, name)}
    silent |= {"fsync_every"} if "sync" in silent else set()
    silent |= {"mix"} if any("size" in record.unstated for record in records) else set()
    silent |= {"locality"} if any(isinstance(r.phase.workload.locality, Unstated) for r in records) else set()
    same = {name: getattr(_unweighted(records[0].phase.workload), name) for name in silent}
    return tuple(
        replace(record, phase=replace(record.phase, workload=replace(_unweighted(record.phase.workload), **same)))
        for record in records
    )


def _unweighted(workload: Workload) -> Workload:
    if len(workload.mix) != 1:
        return workload
    return replace(workload, mix=(replace(workload.mix[0], weight=1.0),))


def _unequal(one: PhaseRecord, others: tuple[PhaseRecord, ...]) -> PhaseRecord:
    return next(record for record in others if record.phase.workload != one.phase.workload)


def _first_difference(one: PhaseRecord, other: PhaseRecord) -> str:
    a, b = one.phase.workload, other.phase.workload
    name = next(field for field in a.__struct_fields__ if getattr(a, field) != getattr(b, field))
    return f"{name} is {_short(getattr(a, name))} here, {_short(getattr(b, name))} there"


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return " + ".join(_item(each, len(value) > 1) for each in value)
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _item(item: MixItem, shared: bool) -> str:
    """An operation of a mix, with its share where there are several."""
    size = f"{capacity(item.size_bytes)}" if item.size_bytes else ""
    return " ".join(filter(None, (f"{item.weight:g}" if shared else "", item.op, size)))
