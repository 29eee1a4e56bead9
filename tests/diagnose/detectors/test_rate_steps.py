"""A short row that went at two levels: told once, with what is known, and not where something else explains it."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import planted
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.analyse.rate_drops import short_step
from iocast.diagnose.detectors.interference import rate_steps
from iocast.diagnose.examination import examine
from iocast.diagnose.relations import not_suppressed
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding, Span
from iocast.model.run import Run

ROWS = """\
name = "rows"
interval = "{interval}"
[files]
size = "1GiB"
[defaults]
size = "8k"
pattern = "random"
time = "{seconds}s"
direct = true
[[phase]]
test = "randread"
users = [1, 8]
[[phase]]
test = "mixed"
read = 70
write = 30
users = 8
[[phase]]
test = "randread"
users = 16
"""
DEVICE = "sim:nvme,service=lognormal:2ms:0.3,servers=8,write=same"


def _run(options: str, out: Path, seconds: float = 3, interval: str = "1s") -> Run:
    return planted.measured(DEVICE + options, ROWS.format(seconds=seconds, interval=interval), out)


def test_a_fall_within_a_row_is_told_with_when_and_how_much_slower(tmp_path: Path) -> None:
    (found,) = planted.told(_run(",slow=4.5s..60s:3", tmp_path), rate_steps.CODE)
    assert (found.phase, found.state, found.severity) == ("randread 8k 8x1", "counted", "warn")
    assert found.says.startswith("Between t=1 s and t=2 s the rate fell from 4,0")
    assert found.says.endswith(" IOPS, under the same load: 3 times slower until the end of the row or longer.")
    assert found.spans == (Span(2_000_000_000, 3_000_000_000 + found.spans[0].end_ns % 1_000_000_000),)
    assert "neighbour" not in found.hypothesis
    assert "maintenance, throttling" in found.hypothesis
    assert "`iocast experiment probe`" in found.remedy


@pytest.mark.parametrize(
    ("slow", "begins", "ends"),
    [
        ("5.5s..60s:3", "After about t=2 s the rate fell from ", " or less, under the same load: at least "),
        ("3.5s..60s:3", "By about t=1 s the rate had fallen from at least 2,", "at least "),
        ("0s..4.5s:3", "Between t=1 s and t=2 s the rate rose from 1,3", " times slower until then."),
        ("0s..3.6s:3", "By about t=1 s the rate had risen from at most 2,", "at least "),
    ],
)
def test_a_level_of_one_interval_is_a_bound(slow: str, begins: str, ends: str, tmp_path: Path) -> None:
    (found,) = planted.told(_run(f",slow={slow}", tmp_path), rate_steps.CODE)
    assert found.says.startswith(begins)
    assert ends in found.says


@pytest.mark.parametrize("options", ["", ",slow=3s..60s:3", ",stall=800ms/5s", ",slow=4.5s..5s:1.2"])
def test_nothing_is_told_where_no_row_went_at_two_levels(options: str, tmp_path: Path) -> None:
    assert not planted.told(_run(options, tmp_path), rate_steps.CODE)


def test_a_slow_time_with_its_end_is_told_once(tmp_path: Path) -> None:
    run = _run(",slow=5.5s..14.5s:3", tmp_path, seconds=4)
    codes = {each.code for each in examine(run).findings}
    assert "maintenance" in codes
    assert rate_steps.CODE not in codes
    assert len(list(rate_steps.detect(Facts(run)))) == 2


def test_quarters_of_a_second_are_too_short(tmp_path: Path) -> None:
    """A scan starts, or comes to the end of its part, within a quarter: its rate is another one then."""
    run = _run(",slow=1.3s..60s:3", tmp_path, seconds=1, interval="250ms")
    assert any(row.short_step for row in Facts(run).rows)
    assert not planted.told(run, rate_steps.CODE)


def test_no_more_ios_than_chance_explains() -> None:
    step = short_step([9.0, 4.0, 4.0])
    assert step is not None
    assert step.before_is_bound
    assert not step.after_is_bound


@pytest.mark.parametrize(
    ("cause", "phase", "told"),
    [
        ("write_cliff", "row", False),
        ("write_cliff", "other", True),
        ("burst_credits", "row", False),
        ("cache_in_the_storage", "other", False),
        ("throttle", "row", True),
        ("stalls", "other", False),
    ],
)
def test_what_another_finding_explains_is_not_told(cause: FindingCode, phase: str, told: bool, tmp_path: Path) -> None:
    facts = Facts(_run("", tmp_path, seconds=1))
    step = Finding(code="rate_step", severity="warn", phase="row", says="", evidence={"lost_ns": 8e8})
    other = Finding(code=cause, severity="warn", phase=phase, says="", state="suggested", evidence={"longest_ns": 6e8})
    assert (step in not_suppressed(facts, [step, other])) == told


def test_writes_after_spent_credits_are_no_first_writes(tmp_path: Path) -> None:
    """One in 32 commits was slow, those after the fall, and random writes then took as long each."""
    facts = Facts(_run("", tmp_path, seconds=1))
    first = Finding(code="first_write_penalty", severity="warn", phase="row", says="", state="suggested")
    spent = Finding(code="burst_credits", severity="severe", phase="row", says="", state="suggested")
    assert not_suppressed(facts, [first, spent]) == [spent]
    assert not_suppressed(facts, [first, replace(spent, phase="other")])[0] is first
