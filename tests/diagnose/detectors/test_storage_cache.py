"""A cache in the storage: suggested by two groups of reads, not by one, nor by a deep queue."""

from __future__ import annotations

import math
import random
from importlib import resources
from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import elided, storage_cache
from iocast.diagnose.evidence import has_an_arm
from iocast.diagnose.examination import examine
from iocast.diagnose.relations import not_suppressed

MS = 1_000_000
SURVEY = (resources.files("iocast.jobs") / "presets" / "survey.toml").read_text(encoding="utf-8")


def _findings(*pairs: tuple[float, int], users: int = 1) -> list:
    record = card_runs.reads(times=card_runs.histogram(*((ms * MS, n) for ms, n in pairs)), users=users)
    return list(storage_cache.detect(Facts(card_runs.run(record))))


def test_two_groups_of_reads_suggest_a_cache() -> None:
    (found,) = _findings((0.2, 4000), (8.0, 6000))
    assert found.state == "suggested"
    assert found.evidence["quick_share"] == pytest.approx(0.4)
    assert "40% of the reads took about 200 µs, the others about 7.9 ms" in found.says


def test_one_split_of_a_histogram_is_said_in_one_place() -> None:
    """The quick ones tail off past the floor: the split is the valley between the peaks, as charts show it."""
    times = card_runs.histogram((0.3 * MS, 5000), (0.6 * MS, 400), (6 * MS, 4600))
    facts = Facts(card_runs.run(card_runs.reads(times=times), target=card_runs.SIMULATED))
    (found,) = storage_cache.detect(facts)
    quick, slow = facts.rows[0].modes
    assert found.evidence == {
        "quick_share": quick.share,
        "quick_ns": quick.location_ns,
        "slow_ns": slow.location_ns,
    }
    assert "several_peaks" not in {each.code for each in examine(facts).findings}


def test_one_group_or_a_queue_suggests_nothing() -> None:
    assert _findings((0.2, 10_000)) == []
    assert _findings((8.0, 10_000)) == []
    assert _findings((0.2, 100), (8.0, 9_900)) == []
    assert _findings((0.45, 5000), (0.9, 5000)) == []
    assert _findings((0.2, 4000), (8.0, 6000), users=8) == []


def test_the_experiment_reads_single_blocks_and_the_whole() -> None:
    record = card_runs.reads(times=card_runs.histogram((0.2 * MS, 4000), (8 * MS, 6000)))
    run = card_runs.run(record)
    (found,) = storage_cache.detect(Facts(run))
    experiment = storage_cache.confirm(run, found)
    assert experiment is not None
    assert not experiment.writes
    whole, *blocks = experiment.arms
    assert whole.region_size_bytes is None
    assert {arm.region_size_bytes for arm in blocks} == {8192}
    assert len({arm.region_start_bytes for arm in blocks}) == storage_cache.SPOTS
    assert {arm.name for arm in blocks} == {experiment.decision.other, *experiment.decision.or_others}


def test_a_wait_for_what_was_due_before_is_no_second_group() -> None:
    """With a rate, one stall makes a crowd of long responses; what the storage took is the service time."""
    late = card_runs.histogram((0.2 * MS, 4000), (50 * MS, 6000))
    record = card_runs.reads(times=card_runs.histogram((0.2 * MS, 10_000)))
    did = record.measurement
    parts = tuple(replace(part, response=late) for part in did.classes)
    record = replace(record, measurement=replace(did, classes=parts))
    assert list(storage_cache.detect(Facts(card_runs.run(record)))) == []


def test_one_stall_does_not_make_an_arm() -> None:
    """Guests are told of arms that are not there: the median decides, which no stall moves."""
    quick = card_runs.reads(times=card_runs.histogram((0.1 * MS, 900), (400 * MS, 9)))
    slow = card_runs.reads(times=card_runs.histogram((8 * MS, 900)))
    turning = replace(
        card_runs.TARGET, layers=tuple(replace(each, rotational=True) for each in card_runs.TARGET.layers)
    )
    assert not has_an_arm(Facts(card_runs.run(quick, target=turning)))
    assert has_an_arm(Facts(card_runs.run(slow, target=turning)))


@pytest.mark.parametrize("total", [300, 2_000])
@pytest.mark.parametrize("mean_ms", [2.0, 5.0, 6.0, 12.0])
def test_exponential_times_are_one_group_wherever_they_are_cut(mean_ms: float, total: int) -> None:
    """A tenth of them is below the floor of a disk, and there is no valley."""
    even = [-mean_ms * math.log(1 - (at + 0.5) / total) for at in range(total)]
    assert _findings(*((ms, 1) for ms in even)) == []
    for seed in range(20):
        draw = random.Random(seed)
        assert _findings(*((draw.expovariate(1 / mean_ms) + 0.002, 1) for _ in range(total))) == []


def test_a_wide_quick_group_is_a_group_where_a_valley_parts_it() -> None:
    draw = random.Random(1)
    quick = [draw.lognormvariate(math.log(0.2), 0.3) for _ in range(60)]
    slow = [draw.lognormvariate(math.log(6), 0.4) for _ in range(940)]
    assert len(_findings(*((ms, 1) for ms in quick + slow))) == 1


CARD = """
name = "card"
[files]
size = "{size}"
[defaults]
time = "{seconds}s"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
users = [1, 8]
[[phase]]
test = "randread"
users = 4
depth = 16
[[phase]]
test = "mixed"
read = 70
write = 30
users = 8
"""


@pytest.mark.parametrize(
    ("target", "seconds", "rows"),
    [
        # One read in twenty hits: too few of one at a time, enough of many, which a disk never answers so soon.
        ("size=4GiB,cache=256MiB:200us", 30, {"randread 8k 8x1", "randread 8k 4x16", "mixed 8k 8x1"}),
        # Nearly all of them hit.
        pytest.param(
            "size=64MiB,cache=1GiB:200us",
            30,
            {"randread 8k 1x1"},
            marks=pytest.mark.xfail(strict=True, reason="of a disk that is never reached nobody says that it is one"),
        ),
        ("size=1GiB,cache=512MiB:200us", 10, {"randread 8k 8x1", "randread 8k 4x16", "mixed 8k 8x1"}),
    ],
)
def test_hits_are_seen_in_a_queue_beside_writes_and_where_nearly_all_hit(
    target: str, seconds: int, rows: set[str], tmp_path: Path
) -> None:
    size = target.partition(",")[0].removeprefix("size=")
    run = planted.measured(f"sim:hdd,{target}", CARD.format(size=size, seconds=seconds), tmp_path)
    found = examine(run).findings
    assert rows <= {each.phase for each in found if each.code == storage_cache.CODE}
    assert not [each for each in found if each.code in ("stalls", "several_peaks")], "what misses is not named twice"


@pytest.mark.parametrize("target", ["sim:hdd", "sim:hdd,stripe=8:1MiB", "sim:hdd,service=disk:15000:0.5ms:5ms"])
def test_disks_without_a_cache_have_no_quick_reads_in_a_queue(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, CARD.format(size="4GiB", seconds=30), tmp_path)
    assert storage_cache.CODE not in {each.code for each in examine(run).findings}


@pytest.mark.long
def test_what_was_never_read_from_the_medium_may_be_a_cache(tmp_path: Path) -> None:
    """Both explain the quick reads, and experiments tell them apart."""
    facts = Facts(planted.measured("sim:hdd,holes=20us", SURVEY, tmp_path))
    found = [*elided.detect(facts), *storage_cache.detect(facts)]
    suspected = not_suppressed(facts, [each for each in found if each.state == "suggested"])
    assert {"elided_reads", storage_cache.CODE} <= {each.code for each in suspected}


@pytest.mark.long
def test_two_service_times_on_flash_may_be_hits_and_an_experiment_tells(tmp_path: Path) -> None:
    """Both groups are quicker than any disk: what is known is said; that it may be a cache is a note until tested."""
    run = planted.measured("sim:nvme,hit=60%:10us", planted.long(10), tmp_path)
    (found,) = storage_cache.detect(Facts(run))
    assert (found.severity, found.state, found.confidence) == ("note", "suggested", 0.5)
    assert found.says == (
        "60% of the reads took about 12 µs, 40% about 79 µs: two service times, as of hits and misses of a cache in"
        " front of the flash."
    )
    assert planted.inquired(run, tmp_path)[0]["cache_in_the_storage"].state == "confirmed"


@pytest.mark.long
def test_two_kinds_of_reads_on_flash_without_a_cache_are_rejected(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,service=bimodal:70%:40us:300us", planted.long(10), tmp_path)
    assert [each.state for each in storage_cache.detect(Facts(run))] == ["suggested"]
    assert planted.inquired(run, tmp_path)[0]["cache_in_the_storage"].state == "rejected"


@pytest.mark.parametrize("pairs", [((0.04, 9_800), (0.3, 200)), ((0.04, 5_000), (0.1, 5_000)), ((0.08, 10_000),)])
def test_few_slow_reads_or_near_ones_on_flash_suggest_no_cache(pairs: tuple[tuple[float, int], ...]) -> None:
    assert _findings(*pairs) == []


def test_peaks_of_reads_in_a_queue_name_the_cache_that_may_make_them(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,hit=60%:10us", planted.long(5, users=8), tmp_path)
    found = planted.suspected(run)["several_peaks"]
    assert found.says == "The times are bimodal: 60% around 13 µs and 40% around 79 µs."
    assert "Hits and misses of a cache in front of the medium would give such peaks" in found.remedy


@pytest.mark.parametrize("seed", long_after(1, [2, 7]))
def test_a_disk_that_reads_one_block_again_needs_no_seek_and_no_cache(seed: int, tmp_path: Path) -> None:
    """5 ms against 13 ms: half of what reads take elsewhere was enough to confirm a cache on clean striped disks."""
    found, _ = planted.inquired(planted.survey("sim:hdd,stripe=12:256KiB", tmp_path, seed=seed), tmp_path)
    assert found[storage_cache.CODE].state == "rejected"
