"""Which rows a forecast stands on: of the mix and the size, trusted, from one I/O on; else why there are none."""

from __future__ import annotations

import pytest
from makers.ladder_runs import ladder_run, pool
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.forecast.ladder_search import find_ladder
from iocast.forecast.load_forecast import Forecaster
from iocast.forecast.measured_ladder import Absent, MeasuredLadder, RequestedLoad
from iocast.model.run import Source

READS = RequestedLoad(size_bytes=8192)
MIX = RequestedLoad(size_bytes=8192, read_share=0.7)
SLOW_WRITES = pool(8, "exponential:1ms", ",write=exponential:3ms")


@pytest.fixture(scope="module")
def facts() -> Facts:
    return ladder_run(pool(8), seconds=5.0)


def test_the_ladder_of_the_asked_reads(facts: Facts) -> None:
    found = find_ladder(facts, READS, {}, {})
    assert isinstance(found, MeasuredLadder)
    assert [level.users for level in found.levels] == [1, 2, 4, 8, 16, 32, 64]
    assert found.saturated
    assert found.deep
    assert not found.unsure
    assert found.service_cv2 == pytest.approx(1.0, abs=0.15)


def test_rows_that_are_refused_are_left_out(facts: Facts) -> None:
    names = [row.name for row in facts.rows]
    found = find_ladder(facts, READS, {names[3]: "trust D: noise"}, {names[0]: "short"})
    assert isinstance(found, MeasuredLadder)
    assert len(found.levels) == 6
    assert found.excluded == {names[3]: "trust D: noise"}
    assert found.unsure == {names[0]: "short"}
    for refused in (names[:1], names[:5]):
        absent = find_ladder(facts, READS, dict.fromkeys(refused, "trust F"), {})
        assert isinstance(absent, Absent)
        assert absent.code == "refused_rows"
        assert set(absent.rows) == set(refused)


def test_why_there_is_no_ladder(facts: Facts) -> None:
    def code(facts: Facts, asked: RequestedLoad = READS) -> str:
        found = find_ladder(facts, asked, {}, {})
        assert isinstance(found, Absent)
        return found.code

    assert code(facts, RequestedLoad(size_bytes=4096)) == "no_such_rows"
    assert code(facts, MIX) == "no_such_rows"
    assert code(Facts(replace(facts.run, source=Source(tool="fio")))) == "imported"
    assert code(ladder_run(pool(8), loads=(1, 8), seconds=3.0)) == "few_loads"
    assert code(ladder_run(pool(8), loads=(2, 4, 8, 16), seconds=3.0)) == "no_single"
    assert code(ladder_run(pool(8), loads=(1, 2, 4), seconds=1.0)) == "refused_rows"


def test_a_mix_of_its_own_comes_before_one_put_together() -> None:
    facts = ladder_run(SLOW_WRITES, reads=(100, 70, 0), seconds=5.0)
    found = find_ladder(facts, MIX, {}, {})
    assert isinstance(found, MeasuredLadder)
    assert not found.composed
    assert all("mixed" in name for name in found.names)
    near = find_ladder(facts, RequestedLoad(size_bytes=8192, read_share=0.74), {}, {})
    assert isinstance(near, MeasuredLadder)
    assert near.read_share == pytest.approx(0.7)
    far = find_ladder(facts, RequestedLoad(size_bytes=8192, read_share=0.5), {}, {})
    assert isinstance(far, MeasuredLadder)
    assert far.composed


@pytest.mark.long
def test_a_mix_put_together_is_less_sure_and_wider() -> None:
    """Reads 1 ms, writes 3 ms: 70/30 takes 1.6 ms on 8 servers, 5,000 IOPS at most."""
    parts = find_ladder(ladder_run(SLOW_WRITES, reads=(100, 0), seconds=10.0), MIX, {}, {})
    whole = find_ladder(ladder_run(SLOW_WRITES, reads=(70,), seconds=10.0), MIX, {}, {})
    assert isinstance(parts, MeasuredLadder)
    assert isinstance(whole, MeasuredLadder)
    assert parts.composed
    assert not Forecaster(parts).firm
    assert parts.ladder.last_per_s == pytest.approx(whole.ladder.last_per_s, rel=0.03)
    wide, narrow = Forecaster(parts), Forecaster(whole)
    assert wide.limit_per_s == pytest.approx(narrow.limit_per_s / 1.3, rel=0.03)
    one, other = wide.at(2500).figure(None), narrow.at(2500).figure(None)
    assert one.base_s == pytest.approx(other.base_s, rel=0.05)
    assert one.high_s > 1.8 * other.high_s
