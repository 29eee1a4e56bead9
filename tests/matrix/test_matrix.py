"""A small part of the matrix, and its own parts: conditions are in order, places leave nothing behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal

import making
import matrix
import pytest
from conditions import CLEAN, CONDITIONS, Condition
from makers import card_runs
from making import NotHere, Place, file_of, image, lab, raw, scrubbed, split, squeezed, starved, throttled, zram
from msgspec.structs import replace
from trial import Trial, Tried, attempt, doubtful, is_of_the_machine

from iocast.diagnose import detectors
from iocast.jobs import parse_target
from iocast.model.finding import Finding
from iocast.model.measurement import Absence, Generator
from iocast.model.run import Run

pytestmark = pytest.mark.alone

SMALL = [
    "array cache, hits at random",
    "clean: disk",
    "clean: NVMe flash",
]


# What is no condition of a place: failures have tests of their own, imported times no place, and of this machine
# nobody plants what happens by itself.
UNPLANTED = {
    *("errors", "writes_did_not_come_back", "generator_did_not_run", "asynchronous_timing", "long_tail"),
    "memory_test",  # of loads through a database: tests/diagnose/detectors/test_memory_test.py
    # Of the layers recorded beside a load, planted by tests/device/test_planted_postgres.py: test_layer_losses.py
    *("cpu_starvation", "throttle_above_block_layer", "neighbour_on_device", "double_buffering"),
    *("late_statistics", "blocks_timed_as_reads"),
}


def condition(name: str) -> Condition:
    return next(each for each in CONDITIONS if each.name == name)


def test_conditions_have_names_of_their_own_and_clean_ones_say_so() -> None:
    names = [each.name for each in CONDITIONS]
    assert sorted(set(names)) == sorted(names)
    assert all(each.name.startswith("clean: ") and not each.finds for each in CLEAN)
    assert all(each.finds for each in CONDITIONS if each not in CLEAN)
    assert [sum(each.where == where for each in CLEAN) for where in ("sim", "real")] == [10, 9]


def test_conditions_name_findings_that_a_detector_gives() -> None:
    declared = {name for detector in detectors.DETECTORS for name in detectors.codes(detector)}
    named = {name for each in CONDITIONS for name in (*each.finds, *each.also)}
    assert named | {"generator_did_not_run"} <= declared


def test_every_detector_has_a_condition_or_says_why_not() -> None:
    planted = {name for each in CONDITIONS for name in each.finds}
    for detector in detectors.DETECTORS:
        names = set(detectors.codes(detector))
        once = bool(names & planted) != bool(names & UNPLANTED)
        assert once, f"{names}: plant it in conditions.py, or say in UNPLANTED why not"


@pytest.mark.parametrize("name", SMALL)
def test_a_small_part_of_the_matrix(name: str, tmp_path: Path) -> None:
    tried = attempt(condition(name), 1, tmp_path)
    assert not tried.trial.blind
    assert tried.trial.wrong == ()
    if condition(name).finds:
        assert tried.trial.found(condition(name).finds), tried.said
    assert list(tmp_path.iterdir()) == []


def test_numbers_are_drawn_by_the_seed_and_a_third_of_all_cells_is_held_out(tmp_path: Path) -> None:
    drawn = condition("short stalls")
    targets = []
    for seed in (1, 1, 2, 3):
        with drawn.place_of(seed)(tmp_path) as target:
            targets.append(target)
    assert targets[0] == targets[1]
    assert len(set(targets)) == 3
    assert all(each.startswith("sim:sata-ssd,stall=") for each in targets)
    first = matrix.FIRST_SEED
    for each in CONDITIONS:
        held = [each.held_out(seed) for seed in range(first, first + matrix.SEEDS + 1)]
        assert sum(held) == 2  # of any six in sequence: none is without
    assert condition("stalls").place_of(1) is condition("stalls").place


def test_every_drawn_number_can_be_planted() -> None:
    for each in CONDITIONS:
        for seed in range(matrix.FIRST_SEED, matrix.FIRST_SEED + 20 if each.target else matrix.FIRST_SEED):
            with each.place_of(seed)(Path()) as target:
                parse_target(target)


def test_a_sample_of_all_trials_takes_as_long_as_it_may() -> None:
    cells = [(each, seed) for each in CONDITIONS for seed in (1, 2)]
    chosen = matrix.sampled(cells, 100.0, lambda some: 10.0 * len(some))
    assert len(chosen) == 10
    assert chosen == [cell for cell in cells if cell in chosen]
    assert len({each.name for each, _ in chosen}) > 5
    assert matrix.sampled(cells, 1e9, lambda some: 10.0 * len(some)) == cells


def test_a_suspicion_counts_as_false_unless_it_is_a_rival_of_what_is_true() -> None:
    planted = replace(_counted("burst_credits"), state="suggested", rivals=("throttle",))
    others = [replace(_counted(name), state="suggested") for name in ("throttle", "cache_in_the_storage")]
    place = condition("split I/Os of a volume with credits")
    assert doubtful(replace(place, also=()), (planted, *others)) == ("cache_in_the_storage",)
    assert doubtful(condition("clean: disk"), (planted,)) == ("burst_credits",)
    assert matrix.bad(condition("clean: disk"), Trial(condition="a", seed=1, seconds=1.0, doubtful=("x",)))


def test_found_is_less_than_proved() -> None:
    suspected = Trial(condition="a", seed=1, seconds=1.0, suspected=("x",), rejected=("x",), counted=("y",))
    assert (suspected.found(("x",)), suspected.proved(("x",))) == (True, False)
    assert (suspected.found(("y", "z")), suspected.proved(("y", "z"))) == (True, True)
    assert (suspected.found(("z",)), suspected.proved(("z",))) == (False, False)


def test_a_place_that_cannot_be_made_is_blind(tmp_path: Path) -> None:
    def refused(_: Path) -> AbstractContextManager[str]:
        raise NotHere("no such thing")

    nowhere = Condition(name="nowhere", says="nothing", where="real", place=refused, finds=("x",))
    assert attempt(nowhere, 1, tmp_path).trial.blind == "no such thing"


@pytest.mark.device
def test_a_place_that_is_refused_as_it_should_be_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "ROOM_BYTES", 320 << 20)
    trial = attempt(condition("sparse file"), 1, tmp_path).trial
    assert "has holes" in trial.refused
    assert trial.proved(condition("sparse file").finds)
    expected_other = replace(condition("sparse file"), refuses="something else")
    assert "has holes" in attempt(expected_other, 1, tmp_path).trial.blind


def _counted(name: str, **evidence: float) -> Finding:
    return Finding(code=name, severity="warn", phase="randread", says="", evidence=evidence)


@pytest.mark.parametrize(
    ("name", "evidence", "disk", "other"),
    [
        ("stalls", {}, True, False),
        ("shared_drives", {}, True, False),
        ("splitting", {"explained": 1.0}, True, True),
        ("splitting", {"explained": 0.0}, False, False),
        ("generator_bound", {"queued_share": 0.6, "cpu_share": 0.3}, True, True),
        ("generator_bound", {"queued_share": 0.1, "cpu_share": 0.9}, False, False),
        ("consolidation", {}, True, True),
        ("page_cache", {}, False, False),
    ],
)
def test_what_is_true_of_the_machine_is_no_false_alarm(
    name: str, evidence: dict[str, float], disk: bool, other: bool
) -> None:
    run, found = card_runs.run(card_runs.reads()), _counted(name, **evidence)
    places = [condition(each) for each in ("clean: this disk", "clean: lab, 1 ms", "clean: disk")]
    assert [is_of_the_machine(place, run, found) for place in places] == [disk, other, False]
    assert not is_of_the_machine(places[0], run, replace(found, state="confirmed"))


@pytest.mark.parametrize(("cause", "outside"), [("queued", True), ("stopped", True), ("busy", False)])
def test_an_absence_of_the_generator_is_the_machines_unless_it_was_busy(
    cause: Literal["queued", "stopped", "busy"], outside: bool
) -> None:
    record = card_runs.reads()
    away = Generator(threads=1, absences=(Absence(0, 200_000_000, cause),))
    run: Run = card_runs.run(replace(record, measurement=replace(record.measurement, generator=away)))
    found = replace(_counted("generator_did_not_run"), phase=record.phase.name)
    assert is_of_the_machine(condition("clean: lab, 1 ms"), run, found) == outside


def test_trials_of_two_matrices_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "TRIALS", tmp_path / "docs" / "trials.json")
    one, two = matrix.FIRST_SEED, matrix.FIRST_SEED + 1
    with matrix.changed_records() as records:
        records.trials = [Trial(condition="clean: disk", seed=one - 1, seconds=1.0)]  # of draws that were looked at
    for name, seed in (("clean: disk", two), ("clean: disk", one), ("clean: NVMe flash", one), ("clean: disk", two)):
        with matrix.changed_records() as records:
            matrix.keep(records, condition(name), Tried(Trial(condition=name, seed=seed, seconds=1.0), "", {}))
    with matrix.changed_records() as records:
        kept = [(each.condition, each.seed) for each in records.trials]
    assert kept == [("clean: disk", one), ("clean: disk", two), ("clean: NVMe flash", one)]
    assert [path.name for path in (tmp_path / "docs").iterdir()] == ["trials.json"]


PLACES: dict[str, Callable[[], Place]] = {
    "ext4": image,
    "xfs": lambda: image("xfs"),
    "btrfs": lambda: image("btrfs", mount="compress-force=zstd:1"),
    "lab under ext4": lambda: image(below="read_latency=100us"),
    "lab": lambda: lab("read_latency=100us"),
    "zram": zram,
    "throttle": lambda: throttled("read_iops 1000", image()),
    "starved": lambda: starved(50, image()),
    "squeezed": lambda: squeezed(512, image()),
    "split": lambda: split(64, image()),
    "sparse": lambda: file_of("sparse"),
    "thin": lambda: raw("sparse"),
    "lab without a file system": lambda: raw(below="read_latency=100us"),
    "scrub": lambda: scrubbed(image("btrfs", below="read_latency=100us")),
}


def _left() -> tuple[set[str], ...]:
    """Mounts, loop devices that hold something, zram devices, groups: ours are told by our number or directory."""
    mounts = {line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()}
    loops = {path.read_text().strip() for path in Path("/sys/block").glob("loop*/loop/backing_file")}
    return mounts, loops, {path.name for path in making.CGROUP.parent.glob(f"*/iocast-matrix-{os.getpid()}")}


@pytest.mark.device
@pytest.mark.parametrize("name", PLACES)
def test_a_place_is_there_and_leaves_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "ROOM_BYTES", 320 << 20)
    try:
        with PLACES[name]()(tmp_path) as place:
            assert os.path.exists(place)
            if name == "throttle":
                assert f"iocast-matrix-{os.getpid()}" in Path("/proc/self/cgroup").read_text()
    except NotHere as why:
        pytest.skip(str(why))
    mounts, loops, groups = _left()
    assert not [path for path in mounts | loops if path.startswith(str(tmp_path))]
    assert groups == set()
