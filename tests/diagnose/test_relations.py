"""What else would explain a suspicion; which finding is told of two that say the same."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose import relations
from iocast.diagnose.relations import EXPLAINS, RIVALS, not_suppressed, with_rivals
from iocast.model.codes import FindingCode, StateCode
from iocast.model.finding import Finding


def found(code: FindingCode, phase: str = "randread 8k 1x1", **evidence: float) -> Finding:
    said = Finding(code=code, severity="warn", phase=phase, says="", remedy="", evidence=evidence)
    return replace(said, state="suggested", confidence=0.5)


@pytest.mark.parametrize(("figure", "rival"), [("device_queue", "generator_bound"), ("write_gain", "throttle")])
def test_a_lock_has_other_rivals_where_it_was_seen_at_the_device(figure: str, rival: str) -> None:
    assert with_rivals(found("serialised_direct_io", **{figure: 1.0})).rivals == (rival,)


def test_what_was_counted_has_no_rivals() -> None:
    assert with_rivals(replace(found("shared_drives"), state="counted")).rivals == ()


def test_nothing_explains_itself_or_is_its_own_rival() -> None:
    assert not [each for each in EXPLAINS if each.cause in each.effects]
    assert not [each for each in RIVALS if each.code in each.others]


@pytest.mark.parametrize(("row", "told"), [("randread 8k 1x1", False), ("other", True)])
def test_a_task_that_ran_explains_the_fall_of_its_own_row(row: str, told: bool) -> None:
    facts = Facts(card_runs.run(card_runs.reads()))
    step, task = found("rate_step"), found("maintenance", phase=row)
    assert (step in not_suppressed(facts, [step, task])) == told


@pytest.mark.parametrize(
    ("code", "phase", "said"), [("write_cliff", "commit 4k", False), ("shared_drives", "randread 8k", True)]
)
def test_first_writes_explain_a_write_rate_that_fell_and_no_read(code: FindingCode, phase: str, said: bool) -> None:
    cause = Finding(code="first_write_penalty", severity="warn", phase="overwrite", says="", state="suggested")
    seen = Finding(code=code, severity="warn", phase=phase, says="", state="suggested")
    facts = Facts(card_runs.run(card_runs.reads(), card_runs.commits()))
    assert (seen in not_suppressed(facts, [cause, seen])) == said
    assert seen in not_suppressed(facts, [replace(cause, state="rejected"), seen])


@pytest.mark.parametrize(("state", "told"), [("confirmed", False), ("suggested", True)])
def test_what_was_never_stored_explains_that_what_was_just_written_looks_slow(state: StateCode, told: bool) -> None:
    """On thin space as much older data needs no read at all."""
    facts = Facts(card_runs.run(card_runs.reads()))
    elided, fresh = replace(found("elided_reads", phase="another row"), state=state), found("fresh_writes")
    assert (fresh in not_suppressed(facts, [elided, fresh])) == told


@pytest.mark.parametrize(("repeated_ns", "told"), [(355_000.0, False), (30_000.0, True)])
def test_a_slow_place_explains_that_repeated_reads_are_quicker_than_the_whole(repeated_ns: float, told: bool) -> None:
    """A twentieth of the data at 22 ms makes the mean of the whole four times that of any other part."""
    facts = Facts(card_runs.run(card_runs.reads()))
    place = replace(found("slow_region", slow_ns=22e6, elsewhere_ns=357_000.0), state="confirmed")
    cache = found("cache_in_the_storage", phase="again 8k 1x1", small_ns=repeated_ns, whole_ns=1.5e6)
    assert (cache in not_suppressed(facts, [place, cache])) == told


@pytest.mark.parametrize(("row", "told"), [("read 1M", False), ("randread 8k", True)])
def test_a_slow_place_explains_the_step_of_a_sequential_row(row: str, told: bool) -> None:
    facts = Facts(card_runs.run(card_runs.reads(), card_runs.reads("read 1M", sequential=True)))
    step, place = replace(found("rate_step", phase=row), state="counted"), found("slow_region", phase="another row")
    assert (step in not_suppressed(facts, [step, place])) == told


def test_a_suspicion_by_place_is_told_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = Facts(card_runs.run(card_runs.reads()))
    monkeypatch.setattr(relations, "busy_rows", lambda _: ("randread 8k",))
    place, cache = (found(code, phase="randread 8k") for code in ("slow_region", "cache_in_the_storage"))
    assert not_suppressed(facts, [place]) == [place]
    assert not_suppressed(facts, [cache]) == []
