"""The modern and the workload-relative scale on runs made by hand, and what trust does to a grade."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.golden import Golden
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.diagnose.grades.service_level import parse_slo
from iocast.errors import SpecError
from iocast.model.codes import TrustCode
from iocast.model.finding import Examination, Excluded, Trust, TrustComponent
from iocast.model.grading import Grades
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Constant, MixItem, Op, Sequential, Uniform, Workload

MS = 1_000_000


def _steady(name: str, ms: float, users: int, count: int = 40_000) -> PhaseRecord:
    """Random reads that all take the same time."""
    return card_runs.reads(name, times=card_runs.histogram((ms * MS, count)), users=users)


def _commit(ms: float) -> PhaseRecord:
    workload = Workload(mix=(MixItem("write", 8192),), locality=card_runs.Sequential(), sync="dsync")
    did = card_runs.measurement((card_runs.part("write", 8192, card_runs.histogram((ms * MS, 20_000))),))
    return card_runs.record("commit", workload, did, card_runs.honest_device(did, journal=1.5))


def _believed(run: Run) -> dict[str, Trust]:
    return {record.phase.name: Trust("A", ()) for record in run.measured}


def _grade(*records: PhaseRecord, distrusted: str = "", **options: object) -> Grades:
    run = card_runs.run(*records)
    trust = _believed(run)
    if distrusted:
        trust[distrusted] = Trust("F", (), "it was the page cache")
    return grade(run, Examination(trust), **options)


def _letters(grades: Grades) -> dict[str, str | None]:
    return {part.code: part.letter for part in grades.parts}


# 0.4 ms alone; 8 at once take no longer; 32 only wait: the knee is at 8.
CURVE = (_steady("one", 0.4, 1), _steady("eight", 0.4, 8), _steady("many", 1.6, 32))


def test_of_a_ladder_that_still_gains_the_load_that_fills_the_storage_is_a_lower_bound() -> None:
    assert "at 8x1 (not saturated below a load of 8)" in _grade(*CURVE[:2]).parts[0].says


def test_the_load_that_would_fill_the_storage_is_not_told_as_one_at_which_it_is_full() -> None:
    """ "Full from a load of about 8.87 on", and 32 did 39% more than 8: full is where nothing is gained."""
    ladder = (_steady("one", 0.08, 1), _steady("eight", 0.1, 8), _steady("many", 0.288, 32), _steady("more", 0.58, 64))
    says = _grade(*ladder).parts[0].says
    assert "would saturate the storage if no I/O waited" in says
    assert "is full" not in says


def test_loads_that_cannot_be_believed_are_not_called_unmeasured(golden: Golden) -> None:
    part = next(each for each in _grade(*CURVE, distrusted="eight").parts if each.code == "scaling")
    assert part.says.endswith("no two loads that can be compared lie below that.")
    golden(part.says)


def test_random_reads_are_graded_where_the_storage_is_not_full(golden: Golden) -> None:
    grades = _grade(*CURVE, _commit(0.9))
    part = grades.parts[0]
    assert (part.code, part.letter, part.phases) == ("random_read", "A", ("eight",))
    golden(part.says)
    assert _letters(grades)["commit"] == "A-"
    assert (grades.overall, grades.trust) == ("A-", "A")
    assert "commit" in grades.says


def test_the_only_load_that_can_be_compared_is_graded_where_it_is_the_least_only(golden: Golden) -> None:
    """A disk of 12 ms had an F for 115 ms at 8x1: its row at 1x1 had met others on the drive, and was left out."""
    rows = (_steady("one", 12.0, 1), _steady("eight", 100.0, 8))
    part = _grade(*rows, distrusted="one").parts[0]
    assert (part.code, part.letter) == ("random_read", None)
    golden(part.says)
    assert _grade(*rows, distrusted="eight").parts[0].letter is not None


def test_a_load_that_is_compared_with_none_is_not_the_least_that_can_be(golden: Golden) -> None:
    """8x1 was "the least load that can be compared" beside "left out: 1x1, 8x1, 32x1"."""
    rows = (_steady("one", 12.0, 1), _steady("eight", 100.0, 8))
    run = card_runs.run(*rows)
    out = {name: Excluded("short of CPU", "CPU first") for name in ("one", "eight")}
    trust = {"one": Trust("D", ()), "eight": Trust("C", ())}
    (part, *_) = grade(run, Examination(trust, excluded=out)).parts
    golden(part.says)


def test_a_load_a_little_beyond_the_one_that_fills_the_storage_says_that_it_counts() -> None:
    """Full from 6.67 on, and graded at 8: the rule that allows it was not said."""
    rows = (_steady("one", 0.4, 1), _steady("eight", 0.48, 8), _steady("many", 1.92, 32))
    parts = {each.code: each for each in _grade(*rows).parts}
    slack = (
        "a load of about 6.67 would saturate the storage if no I/O waited; a load up to 25% beyond that counts as at it"
    )
    assert parts["random_read"].says.startswith("The p99 of 8k random reads at 8x1 (" + slack + ")")
    assert parts["scaling"].says.startswith(f"From 1x1 to 8x1 ({slack}) the mean response time went ")
    assert "counts as at it" not in _grade(*CURVE).parts[0].says


def test_storage_that_is_full_at_the_least_load_that_can_be_compared_gets_no_letter(golden: Golden) -> None:
    """What waits at 32x1 would wait less at a lower load; N* of full rows is their own load."""
    rows = (_steady("few", 0.4, 1), _steady("many", 16.0, 32), _steady("more", 32.0, 64))
    part = _grade(*rows, distrusted="few").parts[0]
    assert part.letter is None
    golden(part.says)
    assert "about" not in part.says
    alone = _grade(_steady("one", 0.4, 1), _steady("two", 0.8, 2)).parts[0]
    assert (alone.letter, "a load of about 1 would saturate the storage" in alone.says) == ("A", True)


def test_storage_that_takes_more_load_says_what_it_does_at_the_least(golden: Golden) -> None:
    """One disk is full at 1x1 and eight at 8x1, where reads meet on some of them: the same disks, a worse letter."""
    disk = (_steady("one", 20, 1), _steady("eight", 160, 8))
    times = card_runs.histogram((21 * MS, 38_000), (38 * MS, 2_000))
    stripe = (_steady("one", 20, 1), card_runs.reads("eight", times=times, users=8), _steady("many", 87, 32))
    alone, eight = _grade(*disk, _commit(0.9)), _grade(*stripe, _commit(0.9))
    assert [each.parts[0].letter for each in (alone, eight)] == ["D", "F"]
    golden(alone.says)
    golden(eight.parts[0].says)
    golden(eight.says)
    few = _grade(_steady("one", 20, 1, count=236), *stripe[1:], _commit(0.9)).parts[0]
    assert ("At 1x1" not in few.says, few.aside) == (True, ""), "too few for p99, and the scale is of no other"
    same = _grade(_steady("one", 0.4, 1), _steady("eight", 0.4, 8), _commit(0.9))
    assert "At 1x1" not in same.parts[0].says, "the letter is the same there"


def test_scaling_compares_loads_below_saturation_only() -> None:
    assert _letters(_grade(*CURVE))["scaling"] == "A+"
    waiting = (_steady("one", 1.0, 1), _steady("two", 2.0, 2), _steady("four", 4.0, 4))
    part = next(p for p in _grade(*waiting).parts if p.code == "scaling")
    assert part.letter is None
    assert "no two loads that can be compared" in part.says


@pytest.mark.parametrize(("ms", "letter"), [(0.5, None), (0.85, None), (0.95, "A+"), (1.0, "A+")])
def test_a_time_that_falls_with_more_load_is_no_growth(ms: float, letter: str | None) -> None:
    part = next(p for p in _grade(_steady("one", 1.0, 1), _steady("eight", ms, 8)).parts if p.code == "scaling")
    assert part.letter == letter
    assert ("more load cannot make storage faster" in part.says) == (letter is None)


def test_a_saturated_device_scores_one_and_a_retrograde_one_more() -> None:
    from iocast.diagnose.grades.scales import letter_scale

    scale = letter_scale("modern", "scaling")
    assert scale.letter((8 - 1) / (8 - 1)) == "D"
    assert scale.letter((9 - 1) / (8 - 1)) == "F"


def test_scan_takes_the_best_row_in_decimal_megabytes() -> None:
    slow = card_runs.reads("read one", size_bytes=1 << 20, times=card_runs.histogram((4 * MS, 4000)), sequential=True)
    fast = card_runs.reads(
        "read eight", size_bytes=1 << 20, times=card_runs.histogram((8 * MS, 4000)), sequential=True, users=8
    )
    part = next(p for p in _grade(slow, fast).parts if p.code == "scan")
    assert (part.letter, part.phases) == ("A-", ("read eight",))
    assert part.figures["mb_per_s"] == pytest.approx(8 * 1.048576 / 0.008, rel=0.01)


@pytest.mark.parametrize(
    ("codes", "best"), [(("precision",), "large"), (("precision", "steady"), "small"), ((), "small")]
)
def test_a_percentile_that_is_not_known_well_says_nothing_against_a_throughput(
    codes: tuple[TrustCode, ...], best: str
) -> None:
    """A volume scanned 1 MiB at a time at 105 MB/s, too few for p99; 128 KiB at a time it does 13."""
    rows = []
    for name, size, took in (("large", 1 << 20, 10.0), ("small", 1 << 17, 10.0)):
        workload = Workload(mix=(MixItem("read", size),), locality=Sequential())
        did = card_runs.measurement((card_runs.part("read", size, card_runs.histogram((took * MS, 300))),))
        rows.append(card_runs.record(name, workload, did))
    low = Trust("F", tuple(TrustComponent(code, "F", "it was so") for code in codes))
    part = next(
        p
        for p in grade(card_runs.run(*rows), Examination({"large": low, "small": Trust("A", ())})).parts
        if p.code == "scan"
    )
    assert part.phases == (best,)


def test_a_far_worse_scan_costs_a_letter(golden: Golden) -> None:
    slow = card_runs.reads("scan", size_bytes=1 << 20, times=card_runs.histogram((20 * MS, 4000)), sequential=True)
    grades = _grade(*CURVE, _commit(0.4), slow)
    assert _letters(grades)["scan"] == "C-"  # 52 MB/s
    assert grades.overall == "A-"
    golden(grades.says)


def test_a_scan_at_a_given_rate_or_with_pauses_is_not_graded_by_its_throughput() -> None:
    """A backup at 20/s says what was asked for, not what the storage can do."""
    scan = Workload(mix=(MixItem("read", 1 << 20),), locality=Sequential())
    did = card_runs.measurement((card_runs.part("read", 1 << 20, card_runs.histogram((3 * MS, 1200))),))
    for arrival in (Constant(20.0), Closed(47 * MS)):
        backup = card_runs.record("backup", replace(scan, arrival=arrival), did)
        part = next(p for p in _grade(*CURVE, backup).parts if p.code == "scan")
        assert (part.letter, part.says) == (
            None,
            "Not graded: no row of sequential reads of one size, 128 KiB or more, without a rate or pauses.",
        )


def test_reads_of_another_place_are_no_point_of_the_curve() -> None:
    """A small part that a cache holds reads quickly: that says nothing of the load which fills the storage."""
    held = _steady("held", 0.02, 1)
    small = replace(held, phase=replace(held.phase, region_size_bytes=2 << 20))
    part = _grade(*CURVE, small, small).parts[0]
    assert part.phases == ("eight",)
    assert "a load of about 8 would saturate the storage" in part.says


def test_writes_beside_reads_that_cannot_be_believed_are_there_all_the_same(golden: Golden) -> None:
    mixed = card_runs.record(
        "mixed",
        Workload(mix=(MixItem("read", 8192, 70), MixItem("write", 8192, 30)), users=8),
        card_runs.measurement((card_runs.part("read", 8192, card_runs.histogram((0.7 * MS, 28_000))),), users=8),
    )
    says = {
        distrusted: _grade(*CURVE, mixed, distrusted=distrusted).parts[-1].says for distrusted in ("mixed", "eight")
    }
    assert says == {
        name: "Not graded: no row of 70% reads and 30% writes can be compared with one of reads at the same load;"
        f" left out: {name} (trust F)."
        for name in ("mixed", "eight")
    }
    golden(_grade(*CURVE).parts[-1].says)


@pytest.mark.parametrize(
    ("reads_ms", "reads", "says"),
    [
        (0.15, 28_000, "because only 2.43 of the 8 outstanding I/Os were reads: writes took the places of the others."),
        (0.3, 56_000, "writes cannot make reads faster, so the rows met the storage in different states"),
    ],
)
def test_reads_that_are_faster_beside_writes_get_no_letter(reads_ms: float, reads: int, says: str) -> None:
    """0.38 times the p99 without writes was an A."""
    mix = Workload(mix=(MixItem("read", 8192, 70), MixItem("write", 8192, 30)), users=8)
    parts = (
        card_runs.part("read", 8192, card_runs.histogram((reads_ms * MS, reads))),
        card_runs.part("write", 8192, card_runs.histogram((0.8 * MS, 12_000))),
    )
    record = card_runs.record("mixed", mix, card_runs.measurement(parts, users=8))
    part = next(p for p in _grade(*CURVE, record).parts if p.code == "write_interference")
    assert (part.letter, part.phases) == (None, ("eight", "mixed"))
    assert says in part.says


@pytest.mark.parametrize(("count", "graded"), [(1_000, True), (100_000, False)])
def test_a_p99_that_is_lower_beside_writes_by_chance_is_graded(count: int, graded: bool) -> None:
    """24.9 against 22.3 ms of a few I/Os was told as another state of the storage."""
    tail = [(15 + each) * MS for each in range(20)]
    clean, beside = (
        card_runs.histogram((5 * MS, count), *((time * factor, count // 1_000) for time in tail))
        for factor in (1.0, 0.85)
    )
    mix = Workload(mix=(MixItem("read", 8192, 70), MixItem("write", 8192, 30)), users=8)
    did = card_runs.measurement((card_runs.part("read", 8192, beside),), users=8)
    alone = card_runs.reads("eight", times=clean, users=8)
    mixed = card_runs.record("mixed", mix, did)
    part = next(p for p in _grade(alone, mixed).parts if p.code == "write_interference")
    assert (part.letter is not None) == graded
    assert ("different states" in part.says) != graded


def test_of_loads_that_scan_alike_the_least_is_named() -> None:
    """Eight readers gain 0.4%: one reaches what there is."""
    rows = [
        card_runs.reads(
            f"read {users}",
            size_bytes=1 << 20,
            times=card_runs.histogram((users * ms * MS, 4000)),
            sequential=True,
            users=users,
        )
        for users, ms in ((1, 2.0), (8, 1.992))
    ]
    part = next(p for p in _grade(*rows).parts if p.code == "scan")
    assert (part.phases, "at 1x1" in part.says) == (("read 1",), True)


def test_rows_left_out_are_in_no_curve(golden: Golden) -> None:
    """The row of eight stalled: what it did says nothing of the load that fills the storage."""
    run = card_runs.run(*CURVE)
    out = {"eight": Excluded("stalled", "I/O stalled: 1 stall of 1 s, at t=4 s")}
    parts = grade(run, Examination(_believed(run), excluded=out)).parts
    read, scaling = (next(part for part in parts if part.code == code) for code in ("random_read", "scaling"))
    assert read.phases == ("one",)
    golden(read.says)
    assert "eight" not in scaling.phases
    alone = Examination(_believed(run), excluded={"eight": out["eight"], "many": out["eight"]})
    scaling = next(part for part in grade(run, alone).parts if part.code == "scaling")
    golden(scaling.says)


def test_a_graded_row_is_not_called_left_out(golden: Golden) -> None:
    """All stalled, the graded one too: it is said of it, and it is not among those that were left out of its letter."""
    run = card_runs.run(*CURVE)
    out = dict.fromkeys(("one", "eight", "many"), Excluded("stalled", "I/O stalled: 1 stall of 1 s, at t=4 s"))
    parts = grade(run, Examination(_believed(run), excluded=out)).parts
    read = next(part for part in parts if part.code == "random_read")
    assert read.phases == ("one",)
    golden(read.says)


def test_why_a_mix_is_not_compared_is_not_its_trust_where_both_are_trusted(golden: Golden) -> None:
    mix = Workload(mix=(MixItem("read", 8192, 70), MixItem("write", 8192, 30)), users=8)
    parts = (card_runs.part("read", 8192, card_runs.histogram((0.7 * MS, 28_000))),)
    mixed = card_runs.record("mixed", mix, card_runs.measurement(parts, users=8))
    run = card_runs.run(*CURVE, mixed)
    out = {"mixed": Excluded("stalled", "I/O stalled: 1 stall of 1 s, at t=4 s")}
    said = {part.code: part.says for part in grade(run, Examination(_believed(run), excluded=out)).parts}
    golden(said["write_interference"])
    trust = {**_believed(run), "eight": Trust("F", ())}
    said = {part.code: part.says for part in grade(run, Examination(trust)).parts}
    assert said["write_interference"].endswith("; left out: eight (trust F).")


def test_writes_that_disturb_reads() -> None:
    mix = Workload(mix=(MixItem("read", 8192, 70), MixItem("write", 8192, 30)), users=8)
    parts = (
        card_runs.part("read", 8192, card_runs.histogram((0.7 * MS, 28_000))),
        card_runs.part("write", 8192, card_runs.histogram((0.3 * MS, 12_000))),
    )
    record = card_runs.record("mixed", mix, card_runs.measurement(parts, users=8))
    part = next(p for p in _grade(*CURVE, record).parts if p.code == "write_interference")
    assert part.letter == "C"
    assert part.figures["ratio"] == pytest.approx(1.75, rel=0.01)


def test_a_row_without_trust_is_not_graded() -> None:
    grades = _grade(*CURVE, _commit(0.4), distrusted="commit")
    assert grades.overall is None
    assert "trust in commit is F" in grades.says
    assert not grades.reaches("F")


def test_a_slow_device_is_graded_on_its_p95_and_says_so() -> None:
    part = _grade(_steady("one", 9.0, 1, count=300)).parts[0]
    assert part.letter == "C-"
    assert "too few for p99" in part.says


def test_too_few_ios_are_not_graded_at_all() -> None:
    assert _grade(_steady("one", 9.0, 1, count=50)).parts[0].letter is None


def test_a_letter_that_chance_may_move_shows_its_range() -> None:
    times = card_runs.lognormal(2_000, 0.5 * MS, 0.6)
    part = _grade(card_runs.reads("few", times=times)).parts[0]
    assert part.best != part.worst
    assert part.shown == f"{part.letter} ({part.best}..{part.worst})"


def test_service_level_at_the_peak() -> None:
    level = parse_slo("p99<5ms@4000/s")
    grades = _grade(*CURVE, levels=(level,))
    assert (grades.scale, grades.overall) == ("slo", "A+")  # eight users: 20,000/s at 0.4 ms
    assert grades.parts[0].phases == ("eight",)
    assert _grade(*CURVE, levels=(parse_slo("p99 < 0.45ms"),)).overall == "B-"


def test_a_peak_that_no_row_reaches_fails() -> None:
    grades = _grade(*CURVE, levels=(parse_slo("p99<5ms@90000/s"),))
    assert grades.overall == "F"
    assert "No row reached the peak of 90,000 IOPS" in grades.says


@pytest.mark.parametrize("text", ["5ms", "p99", "p99<fast", "p99<0ms", "p99<5ms@often", "p0<5ms"])
def test_a_service_level_that_cannot_be_read_says_how_it_is_written(text: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_slo(text)
    assert "--slo" in str(refused.value)


def test_fail_under() -> None:
    grades = _grade(*CURVE, _commit(0.9))
    assert grades.reaches("A-")
    assert not grades.reaches("A")


def test_hailey_is_graded_as_a_whole_only_with_all_its_rows() -> None:
    run = card_runs.run(*CURVE)
    grades = grade(run, examine(run), "hailey2012")
    assert grades.overall is None
    assert "preset hailey" in grades.says


def test_hailey_says_why_when_its_rows_are_there(golden: Golden) -> None:
    """With all rows at hand, the reason is not that some are missing."""
    loads = [("randread", "random", "read", 8, (16, 32)), ("read", "sequential", "read", 1024, (1, 8))]
    loads += [(f"write {kib}k", "sequential", "write", kib, (4, 16)) for kib in (1, 128)]
    rows = [_classic_row(f"{name} {n}x1", order, op, kib, n) for name, order, op, kib, users in loads for n in users]
    graded = _grade(*rows, scale="hailey2012")
    assert graded.overall
    assert any("with 1 user, " in part.says for part in graded.parts)
    refused = _grade(*rows, scale="hailey2012", distrusted="read 8x1")
    assert refused.overall is None
    golden(refused.says)


def test_hailey_compares_no_rows_of_different_states() -> None:
    loads = [("randread", "random", "read", 8, (16, 32))]
    rows = [_classic_row(f"{name} {n}x1", order, op, kib, n) for name, order, op, kib, users in loads for n in users]
    run = card_runs.run(*rows)
    out = {"randread 32x1": Excluded("stalled", "I/O stalled: 1 stall of 1 s, at t=4 s")}
    parts = grade(run, Examination(_believed(run), excluded=out), "hailey2012").parts
    read = next(part for part in parts if part.code == "random_read_8k")
    assert (read.letter, read.why_not) == (
        None,
        "randread 32x1 met the storage in another state: I/O stalled: 1 stall of 1 s, at t=4 s.",
    )


def _classic_row(name: str, order: str, op: Op, kib: int, users: int) -> PhaseRecord:
    locality = Sequential() if order == "sequential" else Uniform()
    workload = Workload(mix=(MixItem(op, kib << 10),), users=users, locality=locality)
    times = card_runs.part(op, kib << 10, card_runs.histogram((2 * MS, 20_000)))
    return card_runs.record(name, workload, card_runs.measurement((times,), users=users))


@pytest.mark.parametrize(
    ("target", "graded"), long_after(1, [("sim:nvme,stall=500ms/5s", False), ("sim:nvme,stall=110ms/20s", True)])
)
def test_storage_that_stands_still_has_no_overall_grade(
    golden: Golden, target: str, graded: bool, tmp_path: Path
) -> None:
    """A closed loop submits nothing meanwhile: its p99 of 100 us says nothing of one wait in ten."""
    job = """\
name = "both"
[files]
size = "4GiB"
[defaults]
time = "10s"
size = "8k"
direct = true
[[phase]]
test = "randread"
pattern = "random"
users = [1, 4]
[[phase]]
test = "commit"
write = 100
pattern = "sequential"
sync = "dsync"
users = 1
"""
    run = planted.measured(target, job, tmp_path)
    found = grade(run, examine(run))
    assert (found.overall is not None) is graded
    if not graded:
        golden(found.says)


def test_a_test_of_which_nothing_completed_is_not_said_to_be_missing() -> None:
    rows = [
        replace(row, measurement=replace(row.measurement, classes=(), ios=0))
        for row in (_steady("r", 1.0, 1), _commit(1.0))
    ]
    run = card_runs.run(*rows)
    found = grade(run, examine(run))
    assert "has no" not in found.says
    said = {part.code: part.why_not for part in found.parts}
    assert all(said[code].startswith("trust in ") for code in ("random_read", "commit")), said
