"""The rows that a headline may rest on where a rate fell for good: those of one state, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from iocast.analyse.ladder import kind
from iocast.model.finding import Examination, LeftOut
from iocast.model.run import PhaseRecord
from iocast.model.workload import Sequential
from iocast.report.card.summary_sentences import is_commit, only

BEFORE, AFTER = "before the rate fell", "after the rate fell"


def rows_that_held(records: Sequence[PhaseRecord], examination: Examination) -> list[PhaseRecord]:
    """Without the rows in which the rate fell, and without those of the state that has fewer rows; these are kept where
    nothing else does such I/Os, those never."""
    out = examination.left_out
    kept = [each for each in records if not _fell(each, out)]
    sorts = {sort(each) for each in kept}
    return [each for each in records if each in kept or (_fell(each, out) != "within" and sort(each) not in sorts)]


def two_states(records: Sequence[PhaseRecord], examination: Examination) -> Iterator[str]:
    """A sentence for each row in which the rate fell, where no other row does such I/Os. Of plain writes no headline
    speaks."""
    sorts = {sort(each) for each in rows_that_held(records, examination)}
    for each in records:
        plain_writes = only(each, "write") and not is_commit(each)
        if _fell(each, examination.left_out) == "within" and sort(each) not in sorts and not plain_writes:
            yield f"No figure stands for {each.phase.name}, {examination.left_out[each.phase.name].why}."


def state_words(records: Sequence[PhaseRecord], examination: Examination) -> Callable[[PhaseRecord], str]:
    """On which side of a fall of its kind of I/O a row lies, as it follows the load: ", after the rate fell" or ""."""
    place = {each.phase.name: at for at, each in enumerate(records)}
    fallen = [(each, _fell(each, examination.left_out)) for each in records if _fell(each, examination.left_out)]

    def words(record: PhaseRecord) -> str:
        own = _fell(record, examination.left_out)
        sides = [own] if own else [_side(place, record, other, fell) for other, fell in fallen if _same(record, other)]
        return "" if not sides else f", {BEFORE if sides[0] == 'before' else AFTER}"

    return words


def _side(place: Mapping[str, int], record: PhaseRecord, other: PhaseRecord, fell: str) -> str:
    if fell == "within":
        return "before" if place[record.phase.name] < place[other.phase.name] else "after"
    return "before" if fell == "after" else "after"


def _same(record: PhaseRecord, other: PhaseRecord) -> bool:
    return kind(record) == kind(other)


def _fell(record: PhaseRecord, out: Mapping[str, LeftOut]) -> str:
    found = out.get(record.phase.name)
    return "" if found is None else found.fell


def sort(record: PhaseRecord) -> tuple[object, ...]:
    """What a headline tells apart: which operations, in order or not, durable or not."""
    load = record.phase.workload
    ops = frozenset(item.op for item in load.mix)
    return ops, isinstance(load.locality, Sequential), load.sync != "none" or load.fsync_every > 0
