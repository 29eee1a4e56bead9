"""Writes in order that push out of a cache what was read: planted, confirmed, not seen where no cache forgets."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.left_out import long_after, long_but
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import cache_pollution
from iocast.model.histogram import Histogram
from iocast.model.run import PhaseRecord, Run, Series
from iocast.model.workload import MixItem, Sequential, Workload

SURVEY = (resources.files("iocast.jobs") / "presets" / "survey.toml").read_text(encoding="utf-8")
US, MS, SECOND_NS = 1_000, 1_000_000, 1_000_000_000
MIB = 1 << 20
QUICK, MIXED = card_runs.histogram((200 * US, 950), (9 * MS, 50)), card_runs.histogram((200 * US, 500), (9 * MS, 500))

# A victim beside writers of its own cache, which has all that it reads before they come.
BESIDE = """\
name = "beside"
[files]
size = "1GiB"
[defaults]
size = "8k"
pattern = "random"
direct = true
[[phase]]
test = "learn"
role = "warm"
size = "1M"
repeats = false
region = {start = 0, size = "128MiB"}
bytes = "128MiB"
[[phase]]
test = "victim"
region = {start = 0, size = "128MiB"}
time = "3s"
[[phase]]
test = "victim"
region = {start = 0, size = "128MiB"}
time = "3s"
together = "backup"
[[phase]]
test = "backup"
write = 100
size = "1M"
pattern = "sequential"
depth = 8
region = {start = "128MiB", size = "896MiB"}
time = "3s"
together = "backup"
"""
CACHES = ("sim:hdd,cache=256MiB:200us", "sim:sata-ssd,cache=512MiB:10us")


@pytest.mark.long
@pytest.mark.parametrize("seed", long_but((1, 2), 1))
@pytest.mark.parametrize("target", long_but(CACHES, CACHES[0]))
def test_a_cache_that_forgets_is_found_and_confirmed(target: str, seed: int, tmp_path: Path) -> None:
    run = planted.measured(target, SURVEY, tmp_path, seed)
    found, _ = planted.inquired(run, tmp_path)
    assert found[cache_pollution.CODE].state == "confirmed", found[cache_pollution.CODE].learned
    assert "the cache what was read again and again" in found[cache_pollution.CODE].learned


@pytest.mark.parametrize(
    "target",
    long_after(
        1,
        [
            "sim:hdd,cache=256MiB:200us,scan_resistant=on",  # keeps what it knows
            pytest.param("sim:hdd,cache=16GiB:200us", marks=pytest.mark.long),  # has room for both
            "sim:hdd",
            pytest.param("sim:nvme", marks=pytest.mark.long),
            "sim:cached-array",  # its hits are a matter of chance
            pytest.param("sim:qlc-ssd,slc=1GiB:160MB/s:50MB/s", marks=pytest.mark.long),
        ],
    ),
)
def test_where_nothing_is_pushed_out_nothing_is_confirmed(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, SURVEY, tmp_path)
    assert cache_pollution.CODE not in planted.confirmed(run, tmp_path)


@pytest.mark.parametrize(
    ("target", "state"),
    long_after(1, [("sim:sata-ssd,cache=256MiB:10us", "confirmed"), ("sim:sata-ssd,bandwidth=200MB/s", "rejected")]),
)
def test_beside_writers_a_cache_is_told_from_a_bandwidth_that_is_shared(
    target: str, state: str, tmp_path: Path
) -> None:
    run = planted.measured(target, BESIDE, tmp_path)
    assert cache_pollution.CODE in planted.suspected(run)
    found, _ = planted.inquired(run, tmp_path)
    assert found[cache_pollution.CODE].state == state, found[cache_pollution.CODE].learned


def _victim(times: Histogram, name: str, **changes: object) -> PhaseRecord:
    record = card_runs.reads(name, times=times)
    return replace(record, phase=replace(record.phase, test="victim", **changes))


def _writer(mib: int, locality: object = Sequential()) -> PhaseRecord:
    load = Workload(mix=(MixItem("write", MIB),), locality=locality)  # type: ignore[arg-type]
    did = card_runs.measurement((card_runs.part("write", MIB, card_runs.histogram((MS, mib))),))
    return card_runs.record("backup", load, did, role="warm")


def _names(run: Run) -> list[str]:
    return [finding.code for finding in cache_pollution.detect(Facts(run))]


def test_the_same_reads_before_and_after_writes_in_order() -> None:
    before, after = _victim(QUICK, "victim"), _victim(MIXED, "victim again")
    (found,) = cache_pollution.detect(Facts(card_runs.run(before, _writer(64), after)))
    assert found.state == "suggested"
    assert found.says == (
        "Reads slowed down from 640 µs to 4.6 ms after 64.0 MiB of sequential writes: 95% of them were quick before,"
        " 50% then."
    )


def _in_quarters(record: PhaseRecord, *means_ns: float) -> PhaseRecord:
    """The row as its intervals went: a hundred reads in each."""
    response_ns = tuple(round(100 * each) for each in means_ns)
    size = len(means_ns)
    series = Series(interval_ns=SECOND_NS // 4, ios=(100,) * size, bytes=(100 * 8192,) * size, response_ns=response_ns)
    return replace(record, series=series)


@pytest.mark.parametrize(("scatter", "found"), [(4.0, []), (1.02, [cache_pollution.CODE])])
def test_what_scatters_as_much_is_no_harm(scatter: float, found: list[str]) -> None:
    """A neighbour now and then makes some intervals four times as long: by chance the later row has more of them."""
    few = card_runs.histogram((60 * US, 900), (4 * MS, 100))
    more = card_runs.histogram((60 * US, 750), (4 * MS, 250))
    quiet, met = 300 * US, scatter * 300 * US
    before = _in_quarters(_victim(few, "victim"), *([quiet] * 3 + [met]) * 2)
    worse = 1.0 if scatter > 2 else 2.5
    after = _in_quarters(_victim(more, "victim again"), *[worse * each for each in ([quiet] * 2 + [met] * 2) * 2])
    assert _names(card_runs.run(before, _writer(64), after)) == found


def test_without_such_writes_in_between_nothing_is_suggested() -> None:
    before, after = _victim(QUICK, "victim"), _victim(MIXED, "victim again")
    assert _names(card_runs.run(before, after)) == []
    assert _names(card_runs.run(before, _writer(16), after)) == []
    assert _names(card_runs.run(before, _writer(64, Workload(mix=()).locality), after)) == []
    assert _names(card_runs.run(_writer(64), before, after)) == []
    assert _names(card_runs.run(after, _writer(64), before)) == []  # quicker than before
    slower = _victim(card_runs.histogram((MS, 1000)), "victim again")
    assert _names(card_runs.run(_victim(card_runs.histogram((900 * US, 1000)), "v"), _writer(64), slower)) == []


def test_where_there_is_no_room_beside_the_set_nothing_can_be_tried(tmp_path: Path) -> None:
    run = planted.measured(
        "sim:sata-ssd,cache=64MiB:10us", BESIDE.replace("1GiB", "320MiB").replace("896", "192"), tmp_path
    )
    found = planted.suspected(run)[cache_pollution.CODE]
    assert cache_pollution.confirm(run, found) is None
