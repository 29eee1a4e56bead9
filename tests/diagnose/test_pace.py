"""One answer a row to what set the pace: a limit, a link or a lock that was found takes the place of the device."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.limits import by_load
from iocast.diagnose.limits.by_findings import as_full, paced
from iocast.model.codes import FindingCode, StateCode
from iocast.model.finding import Bound, Excluded, Finding
from iocast.model.run import PhaseRecord

LADDER = 'name = "l"\n[[phase]]\ntest = "r"\nsize = "8k"\npattern = "random"\ntime = "3s"\nusers = [1, 2, 8]\n'


def found(code: FindingCode, phase: str, state: StateCode) -> dict[str, Bound]:
    rows = (card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram((n * 1e6, 10_000))) for n in (1, 2, 4))
    suspicion = Finding(code=code, severity="warn", phase=phase, says="It is level.", confidence=0.5, state=state)
    return paced(Facts(card_runs.run(*rows)), (suspicion,), {})


def test_a_suspicion_stands_beside_the_device_on_every_row_that_more_load_did_not_help() -> None:
    bounds = found("throttle", "r 4x1", "suggested")
    assert {each.by for each in bounds.values()} == {"device_or_limit"}
    assert len({each.says for each in bounds.values()}) == 1, "one line for all of them"
    opens = "Bound by the device or a rate limit in front of it (suspected, 50%) from 1x1: raising the load to 2x1 "
    assert bounds["r 1x1"].says.startswith(opens)


def test_what_is_certain_takes_the_place_of_the_device() -> None:
    assert {(each.by, each.says) for each in found("link_limit", "r 4x1", "confirmed").values()} == {
        ("link", "Link-bound: It is level.")
    }
    assert {each.by for each in found("serialised_direct_io", "r 1x1", "counted").values()} == {"serialised"}


def test_what_was_rejected_or_is_of_another_row_changes_nothing() -> None:
    plain = found("stalls", "r 1x1", "counted")
    assert {each.by for each in plain.values()} == {"device_or_limit"}, "by the clock, as a cap would"
    assert found("throttle", "other", "confirmed") == plain


def test_level_rows_are_device_bound_where_no_cap_can_be_behind_it() -> None:
    """`sim:cloud-volume` was "device-bound" behind its cap: what passes as evenly as by a clock is not known to be the
    device, unless an experiment found no cap. What waits for times of their own is."""
    opens = "Bound by the device or a limit in front of it from 1x1: raising the load to 2x1 "
    assert found("stalls", "r 1x1", "counted")["r 4x1"].says.startswith(opens)
    assert {each.by for each in found("throttle", "r 1x1", "rejected").values()} == {"device"}
    rows = [
        card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram(*_scattered(n), ((n * 1e6), 4000)))
        for n in (1, 2, 4, 16)
    ]
    bounds = paced(Facts(card_runs.run(*rows)), (), {})
    assert {each.by for each in bounds.values()} == {"device"}
    assert bounds["r 16x1"].says.startswith("Device-bound from 1x1")


@pytest.mark.parametrize(
    ("target", "by"),
    [("sim:cloud-volume", "device_or_limit"), ("sim:nvme,iops=20k/s", "device_or_limit"), ("sim:hdd", "device")],
)
def test_a_cap_is_not_told_as_the_device(target: str, by: str, tmp_path: Path) -> None:
    run = planted.measured(target, LADDER, tmp_path)
    facts = Facts(run)
    assert paced(facts, (), {})[facts.rows[-1].name].by == by


SIZES = """name = "s"
[defaults]
pattern = "random"
time = "1s"
[[phase]]
test = "write"
write = 100
size = "8k"
users = [1, 16]
[[phase]]
test = "write"
write = 100
size = "128k"
users = 4
[[phase]]
test = "read"
size = "1M"
depth = 8
"""


@pytest.mark.parametrize(
    ("target", "by"), [("sim:nvme,link=450MB/s:20us", "device_or_limit"), ("sim:nvme,bandwidth=none", "not_shown")]
)
def test_what_moves_the_same_bytes_at_three_sizes_is_full(target: str, by: str, tmp_path: Path) -> None:
    """8k writes at exactly the 450 MB/s of their link were "not shown: a higher load may give more"."""
    facts = Facts(planted.measured(target, SIZES, tmp_path))
    bound = paced(facts, (), {})[facts.rows[1].name]
    assert bound.by == by
    assert ("450 MB/s" in bound.says and "counts bytes" in bound.says) == (by == "device_or_limit")


def test_a_row_on_the_way_to_a_limit_fills_no_other() -> None:
    """8 reach the cap of 3,000; 2 do 2,570: a scan of 2,564 was "device-bound, as randread 2x1"."""
    rows = [*_curve(1420.0, 2570.0, 3000.0, loads=(1, 2, 8)), *_curve(1410.0, 2564.0, loads=(1, 2), start=1)]
    bounds = paced(Facts(card_runs.run(*rows)), (), {})
    assert (bounds["r0 8x1"].by, bounds["r1 2x1"].by) == ("device_or_limit", "not_shown")


def _scattered(users: int) -> tuple[tuple[float, int], tuple[float, int]]:
    """Times of one server of random times: the variances of those before add up."""
    far = 0.5e6 * users**0.5
    return (users * 1e6 - far, 3000), (users * 1e6 + far, 3000)


def test_a_void_row_is_not_what_others_are_measured_by() -> None:
    first, second, third = (
        card_runs.reads(f"r {n}x1", users=n, times=card_runs.histogram((took, round(n * 1e10 / took))))
        for n, took in ((1, 1e5), (2, 2e6), (4, 2e6))
    )
    facts = Facts(card_runs.run(first, second, third))
    assert paced(facts, (), {})["r 2x1"].by == "device", "judged by the first row"
    out, void = {"r 1x1": Excluded("void", "the row is void")}, frozenset({"r 1x1"})
    bounds = paced(facts, (), out, void)
    assert (bounds["r 1x1"].by, bounds["r 2x1"].by) == ("unknown", "queue")
    assert bounds["r 2x1"].says.endswith(" Left out: 1x1 (void).")
    alone = paced(Facts(card_runs.run(replace(first), second)), (), out, void)
    assert alone["r 2x1"].says == (
        "Bottleneck unknown: no comparable row at another load; left out: 1x1 (void); measure with more users as well."
    )


def _curve(*rates: float, start: int = 0, loads: tuple[int, ...] = (1, 8, 32)) -> list[PhaseRecord]:
    """Ten seconds of reads at 1, 8, ... users, that reach these IOPS."""
    return [
        card_runs.reads(
            f"r{start} {n}x1",
            users=n,
            size_bytes=8192 << start,
            times=card_runs.histogram((n * 1e9 / rate, round(10 * rate))),
        )
        for n, rate in zip(loads, rates, strict=False)
    ]


def test_a_full_link_is_suspected_only_where_as_much_is_moved() -> None:
    """Eight readers of eight disks move a fourteenth of what one moves: no link holds them back."""
    rows = _curve(1140.0, 83.0)
    link = Finding(code="link_limit", severity="note", phase="r0 1x1", says="", confidence=0.4, state="suggested")
    bounds = paced(Facts(card_runs.run(*rows)), (link,), {})
    assert "a full link in front of it (suspected, 40%)" in bounds["r0 1x1"].says
    assert "suspected" not in bounds["r0 8x1"].says


def test_each_row_at_a_limit_is_told_with_its_own_figures() -> None:
    rows = _curve(4159.0, 4056.0, 4069.0)
    limits = [
        Finding(
            code="throttle", severity="warn", phase=row.phase.name, says=f"It did {row.measurement.rate_per_s:.0f}."
        )
        for row in rows
    ]
    bounds = paced(Facts(card_runs.run(*rows)), tuple(limits), {})
    assert [each.says for each in bounds.values()] == [
        "Rate-limited: It did 4159.",
        "Rate-limited: It did 4056.",
        "Rate-limited: It did 4069.",
    ]


def test_a_confirmed_limit_holds_back_all_rows_of_its_rate() -> None:
    """A cap of 5,000 IOPS is met by reads of 8k and of 16k; what does other rates has another limit."""
    rows = [*_curve(5000.0, 5000.0), *_curve(5001.0, 4999.0, start=1), *_curve(700.0, 705.0, start=2)]
    rows += _curve(4780.0, 4990.0, start=3)
    cap = Finding(code="throttle", severity="warn", phase="r0 8x1", says="It is capped.", state="confirmed")
    bounds = paced(Facts(card_runs.run(*rows)), (cap,), {})
    assert {name for name, each in bounds.items() if each.by == "rate"} == {
        "r0 1x1",
        "r0 8x1",
        "r1 1x1",
        "r1 8x1",
        "r3 1x1",
        "r3 8x1",
    }
    assert bounds["r1 8x1"].says == "Rate-limited: it goes at about the same 5,000 IOPS, as on r0 8x1."
    assert bounds["r3 1x1"].says == "Rate-limited: it goes at 4,780 IOPS, 4.4% less than the 5,000, as on r0 8x1."
    guessed = paced(Facts(card_runs.run(*rows)), (replace(cap, state="suggested"),), {})
    assert {name for name, each in guessed.items() if "suspected" in each.says} == {
        "r0 1x1",
        "r0 8x1",
        "r1 1x1",
        "r1 8x1",
        "r3 8x1",
    }, "what may hold back one of two equal rates may hold back the other"


def test_a_curve_that_falls_through_the_rate_of_a_cap_is_not_held_by_it() -> None:
    rows = [*_curve(5000.0, 5000.0), *_curve(9000.0, 5000.0, start=1)]
    cap = Finding(code="throttle", severity="warn", phase="r0 8x1", says="It is capped.", state="confirmed")
    bounds = paced(Facts(card_runs.run(*rows)), (cap,), {})
    assert bounds["r1 1x1"].by != "rate"


def test_a_confirmed_cap_is_told_without_what_else_it_might_have_been() -> None:
    cap = Finding(
        code="throttle",
        severity="note",
        phase="r0 8x1",
        says="It is level, as behind a rate limit or a link, or as at the full bandwidth of the device.",
        state="confirmed",
        evidence={"rate_per_s": 5000.0, "ratio": 1.0, "depth": 8, "from_depth": 1},
    )
    bounds = paced(Facts(card_runs.run(*_curve(5000.0, 5000.0))), (cap,), {})
    assert bounds["r0 8x1"].says == (
        "Rate-limited: about 5,000 IOPS with 8 outstanding I/Os as with 1; at half of that rate each I/O was quicker."
    )


def test_where_burst_credits_were_spent_the_device_is_not_the_limit() -> None:
    rows = [*_curve(3000.0, 3000.0, 500.0), *_curve(2700.0, 500.0, start=1)]
    spent = Finding(
        code="burst_credits",
        severity="severe",
        phase="r0 32x1",
        says="IOPS fell to 500.",
        state="confirmed",
        evidence={"burst_per_s": 3000.0, "baseline_per_s": 500.0, "after_per_s": 500.0},
    )
    bounds = paced(Facts(card_runs.run(*rows)), (spent,), {})
    assert {each.by for each in bounds.values()} == {"rate"}
    assert bounds["r0 32x1"].says == "Rate-limited: IOPS fell to 500."


def test_the_rows_left_out_are_known_by_a_field_whatever_the_sentence_says() -> None:
    """A lone row as fast as a full curve is told anew, with the rows that it could not be held against."""
    level = _curve(1000.0, 1000.0)
    other = _curve(500.0, 800.0, 1000.0, start=1)
    facts = Facts(card_runs.run(*level, *other))
    own = Bound(
        "not_shown", "Its words. Left out: of no account.", {"gain_per_doubling": 0.2}, excluded="8x1 (stalled)"
    )
    full = {row.phase.name: Bound("device", "Full.") for row in level}
    told = as_full(facts, {**full, **{row.phase.name: own for row in other}}, {})
    assert told["r1 32x1"].by == "device"
    assert told["r1 32x1"].says.endswith("where a doubling of the load gains less than 10%. Left out: 8x1 (stalled).")


def test_a_level_is_known_by_a_field_whatever_its_first_words_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_load, "DEVICE", "As fast as the device")
    assert {each.by for each in found("throttle", "r 4x1", "suggested").values()} == {"device_or_limit"}


def test_a_few_ios_make_no_ladder(tmp_path: Path) -> None:
    job = planted.long(3, users=1).replace("users = 1", "users = [1, 4]").replace("8k", "256M")
    run = planted.measured("sim:hdd,size=64GiB", job, tmp_path)
    assert min(record.measurement.ios for record in run.measured) < 10
    assert all(each.by == "unknown" for each in examine(run).bounds.values())
