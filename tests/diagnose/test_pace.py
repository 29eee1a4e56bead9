"""One answer a row to what set the pace: a limit, a link or a lock that was found takes the place of the device."""

from __future__ import annotations

from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.pace import paced
from iocast.model.codes import FindingCode, StateCode
from iocast.model.finding import Bound, Finding


def found(code: FindingCode, phase: str, state: StateCode) -> dict[str, Bound]:
    rows = (card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram((n * 1e6, 10_000))) for n in (1, 2, 4))
    suspicion = Finding(code=code, severity="warn", phase=phase, says="It is level.", confidence=0.5, state=state)
    return paced(Facts(card_runs.run(*rows)), (suspicion,), frozenset())


def test_a_suspicion_stands_beside_the_device_on_every_row_that_more_load_did_not_help() -> None:
    bounds = found("throttle", "r 4x1", "suggested")
    assert {each.by for each in bounds.values()} == {"device"}
    assert len({each.says for each in bounds.values()}) == 1, "one line for all of them"
    assert bounds["r 1x1"].says.endswith("A rate limit is suspected to set the pace instead (50%).")


def test_what_is_certain_takes_the_place_of_the_device() -> None:
    assert {(each.by, each.says) for each in found("link_limit", "r 4x1", "confirmed").values()} == {
        ("link", "Link-bound: It is level.")
    }
    assert {each.by for each in found("serialised_direct_io", "r 1x1", "counted").values()} == {"serialised"}


def test_what_was_rejected_or_is_of_another_row_changes_nothing() -> None:
    plain = found("stalls", "r 1x1", "counted")
    assert {each.by for each in plain.values()} == {"device"}
    assert found("throttle", "r 1x1", "rejected") == found("throttle", "other", "confirmed") == plain


def test_a_void_row_is_not_what_others_are_measured_by() -> None:
    first, second, third = (
        card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram((took, round(n * 1e10 / took))))
        for n, took in ((1, 1e5), (2, 2e6), (4, 2e6))
    )
    facts = Facts(card_runs.run(first, second, third))
    assert paced(facts, (), frozenset())["r 2x1"].by == "device", "judged by the first row"
    bounds = paced(facts, (), frozenset({"r 1x1"}))
    assert (bounds["r 1x1"].by, bounds["r 2x1"].by) == ("unknown", "queue")
    assert "1x1" not in bounds["r 2x1"].says.removeprefix("Queue-bound at 2x1")
    alone = paced(Facts(card_runs.run(replace(first), second)), (), frozenset({"r 1x1"}))
    assert alone["r 2x1"].says.startswith("Bottleneck unknown: no valid row at another load;")
