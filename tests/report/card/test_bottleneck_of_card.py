"""The bottleneck of a card: what is certain and severe first, else that of most rows; what was left out is counted."""

from __future__ import annotations

import pytest
from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.limits.by_findings import held_back
from iocast.model.codes import BoundCode, SeverityCode, StateCode
from iocast.model.finding import Bound, Examination, Excluded, Finding, Trust
from iocast.model.run import Run
from iocast.report.card.conclusions import conclusions
from iocast.results.card import card_result

ROWS = ("a 1x1", "a 2x1", "b 1x1", "b 2x1", "c 1x1")


def _run() -> Run:
    return card_runs.run(*(card_runs.reads(name) for name in ROWS))


def _examination(bounds: dict[str, BoundCode], *findings: Finding, **out: Excluded) -> Examination:
    known = {name: bounds.get(name, "unknown") for name in ROWS}
    return Examination(
        {name: Trust("A", ()) for name in ROWS},
        findings,
        {name: Bound(by, f"It is the {by}.") for name, by in known.items()},
        {name.replace("_", " "): why for name, why in out.items()},
    )


def _bottleneck(examination: Examination) -> str:
    bounds = card_result(Facts(_run()), examination).bounds
    told = conclusions(_run(), examination, None, frozenset(), bounds)
    return next(each.says for each in told if each.code == "bottleneck")


LOCK: dict[str, BoundCode] = {"a 1x1": "queue", "a 2x1": "queue", "b 1x1": "queue", "b 2x1": "serialised"}


@pytest.mark.parametrize(
    ("severity", "state", "first"),
    [("severe", "confirmed", "serialised"), ("severe", "suggested", "queue"), ("warn", "confirmed", "queue")],
)
def test_a_lock_that_is_certain_is_not_outvoted(severity: SeverityCode, state: StateCode, first: str) -> None:
    lock = Finding(code="serialised_direct_io", severity=severity, phase="b 2x1", says="Writes wait.", state=state)
    found = _examination(LOCK, lock)
    assert held_back(found) == (frozenset({"b 2x1"}) if first == "serialised" else frozenset())
    often = 1 if first == "serialised" else 3
    name = "b 2x1" if first == "serialised" else "a 1x1"
    assert _bottleneck(found) == f"{first} on {often} of 5 rows. {name}: It is the {first}."


def test_rows_that_are_shown_to_be_device_bound_are_counted_apart() -> None:
    """7 of 12 rows were "device or limit", told by two of them, where five were the device's."""
    found = _examination({"a 1x1": "device", "a 2x1": "device", "b 1x1": "device_or_limit"})
    assert _bottleneck(found) == "device on 2 of 5 rows. a 1x1: It is the device."


def test_rows_left_out_are_counted_with_the_reason() -> None:
    out = {"c_1x1": Excluded("stalled", "it stalled"), "b_2x1": Excluded("stalled", "it stalled")}
    left = "Not compared with others: 2 of 5 rows (stalled)."
    assert (
        _bottleneck(_examination({"a 1x1": "device"}, **out))
        == f"device on 1 of 5 rows. a 1x1: It is the device. {left}"
    )
    assert _bottleneck(_examination({}, **out)) == "unknown on 2 of 5 rows (stalled)."


def test_a_row_is_not_counted_on_both_sides() -> None:
    """An open row keeps its rate whatever it met: it has an answer, and is not among those that have none."""
    out = {name.replace(" ", "_"): Excluded("stalled", "it stalled") for name in ROWS}
    found = _examination({"c 1x1": "rate"}, **out)
    assert _bottleneck(found) == "unknown on 4 of 5 rows (stalled). c 1x1: It is the rate."
