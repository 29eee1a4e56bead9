"""The verdict: the gravest thing first, then what the storage does, then how far to believe it, each once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from makers import card_runs
from makers.golden import Golden

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.model.codes import TrustCode
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Examination, Finding, Trust, TrustComponent
from iocast.model.measurement import ErrorCount, ErrorPlace, SlowIo
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Hotspot, Locality, MixItem, Op, Sequential, Stride, Uniform, Workload, Zipf
from iocast.report.card import target_section
from iocast.report.card.card_report import card
from iocast.report.card.headline import figures
from iocast.report.card.summary_sentences import MET, sentences, takes
from iocast.report.card.verdict import verdict
from iocast.report.tested_section import conclusion

replace = msgspec.structs.replace


def _verdict(run: Run) -> str:
    facts = Facts(run)
    return verdict(facts, examine(facts))


def _sim(*phases: PhaseRecord) -> str:
    """What is said of rows that have nothing wrong with them."""
    return _verdict(card_runs.run(*phases, target=card_runs.SIMULATED))


def _phase(
    *items: MixItem,
    locality: Locality | None = None,
    users: int = 1,
    depth: int = 1,
    median_ns: float = 1e6,
    **workload: Any,
) -> PhaseRecord:
    """A phase of these operations, 40,000 of each."""
    times = card_runs.lognormal(40_000, median_ns, 0.3)
    parts = [card_runs.part(item.op, item.size_bytes, times) for item in items]
    asked = Workload(mix=items, locality=locality or Uniform(), users=users, depth=depth, **workload)
    name = f"{items[0].op} {items[0].size_bytes} {users} {depth} {locality}"
    return card_runs.record(name, asked, card_runs.measurement(parts, users=users, depth=depth))


def test_reads_scans_commits_mixes_and_then_trust(golden: Golden) -> None:
    golden(_verdict(card_runs.quick_card()))


def test_what_cannot_be_used_is_left_out_and_void_rows_come_first(golden: Golden) -> None:
    said = _verdict(card_runs.troubled_card())
    golden(said)
    assert ". 17 I/Os failed on 1 of 5 rows: EIO on write. " in said.split("A random 8k read")[0]
    assert "A random 8k read takes 240 µs" in said
    assert "sequential reads" not in said
    assert "commit" not in said.split("Do not use")[0]
    assert "Do not use the rows of trust D or F (4 of 5)" in said


def test_nothing_and_nothing_but_void() -> None:
    assert _verdict(card_runs.run()) == "Nothing was measured."
    only_void = card_runs.run(card_runs.reads(times=card_runs.histogram()))
    assert _verdict(only_void) == "Every row is void: no I/O completed."


def test_a_file_system_in_memory_is_the_first_thing_said(golden: Golden) -> None:
    target = replace(card_runs.TARGET, filesystem="tmpfs", layers=())
    # The second row is a D for another reason as well: the first one has been said.
    broad = card_runs.reads("two", samples=(), times=card_runs.lognormal(4_000, 1e6, 3.6))
    rows = [card_runs.reads("one", samples=()), broad]
    golden(_verdict(card_runs.run(*rows, target=target)))


def test_what_has_no_source_but_its_name_is_named_once() -> None:
    target = replace(card_runs.TARGET, filesystem="tmpfs", mount_source="tmpfs", layers=())
    place = target_section.target_section(card_runs.run(card_runs.reads("one"), target=target), ()).paragraphs[0]
    assert "is on tmpfs" in place
    assert "of tmpfs" not in place


def test_stalls_come_before_the_figures(golden: Golden) -> None:
    slow = SlowIo(4_000_000_000, "read", 0, 0, 8192, 1_000_000_000, 1_000_000_000)
    rows = [
        card_runs.reads(name, times=card_runs.histogram((240_000, 40_000), (1e9, 1)), slow=(slow,))
        for name in ("one", "two")
    ]
    golden(_sim(*rows))


def _few(name: str, total: int) -> PhaseRecord:
    return card_runs.reads(name, times=card_runs.lognormal(total, 1e6, 0.1))


def test_rows_graded_d_and_f_are_one_sentence_with_the_commonest_reason(golden: Golden) -> None:
    stranger = card_runs.reads("beside")
    did = stranger.measurement
    samples = card_runs.diskstats(did.elapsed_ns, reads=did.ios, read_bytes=did.bytes * 1.25, writes=0, written_bytes=0)
    run = card_runs.run(
        card_runs.fill(), card_runs.reads(), _few("a", 12), _few("b", 13), replace(stranger, samples=samples)
    )
    golden(_verdict(run))


def test_one_row_that_cannot_be_used() -> None:
    run = card_runs.run(card_runs.fill(), card_runs.reads(), _few("a", 12))
    assert "Do not use a (trust F, 1 of 2 rows): only 12 I/Os" in _verdict(run)
    assert _verdict(card_runs.run(_few("a", 12))).startswith("Do not use this row (trust F): only 12 I/Os")


@pytest.mark.parametrize(
    ("locality", "spoken"),
    [(Uniform(), True), (Zipf(), True), (Hotspot(), True), (Stride(1 << 20), False), (Sequential(), False)],
)
def test_only_what_jumps_at_random_is_called_random(locality: Locality, spoken: bool) -> None:
    assert ("random 8k read takes" in _sim(_phase(MixItem("read", 8192), locality=locality))) == spoken


@pytest.mark.parametrize("locality", [Uniform(), Sequential()])
def test_a_row_of_several_sizes_is_not_spoken_of_as_one(locality: Locality) -> None:
    several = _phase(MixItem("read", 8192), MixItem("read", 65_536), locality=locality)
    assert _sim(several).startswith("The run has no plain random reads")


def test_a_scan_is_named_by_its_size_and_who_did_it() -> None:
    slow = _phase(MixItem("read", 128 << 10), locality=Sequential())
    fast = _phase(MixItem("read", 1 << 20), locality=Sequential(), users=8)
    assert "1M sequential reads reach 8 GB/s at 8x1." in _sim(slow, fast)
    assert "128k sequential reads reach 125 MB/s at 1x1." in _sim(slow)


def test_one_user_gets_what_several_get() -> None:
    rows = [_phase(MixItem("read", 8192)), _phase(MixItem("read", 8192), depth=16)]
    assert "; 1x16 reaches" in _sim(*rows)


@pytest.mark.parametrize(
    ("size_bytes", "words"), [(8192, "An 8k commit"), (4096, "A 4k commit"), (512, "A 512 byte commit")]
)
def test_a_commit_has_the_right_article(size_bytes: int, words: str) -> None:
    assert f"{words} takes" in _sim(_phase(MixItem("write", size_bytes), sync="dsync"))
    flushed = _phase(MixItem("write", size_bytes), MixItem("fsync", 0))
    assert f"The flush of {words[0].lower()}{words[1:]} takes" in _sim(flushed)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ((("read", 8192, 70), ("write", 8192, 30)), "A 70/30 mix of 8k reads and writes reaches"),
        ((("read", 8192, 7), ("write", 8192, 3), ("fsync", 0, 1)), "A 70/30 mix of 8k reads and writes"),
        ((("read", 8192, 1), ("write", 4096, 2)), "A 33/67 mix of reads and writes reaches"),
        ((("read", 8192, 4), ("write", 8192, 1)), "An 80/20 mix of 8k reads and writes reaches"),
    ],
)
def test_a_mix_has_a_sentence(items: tuple[tuple[Op, int, float], ...], words: str) -> None:
    said = _sim(_phase(*(MixItem(*item) for item in items), users=8))
    assert words in said
    assert "IOPS at 8x1." in said


def test_two_peaks_are_told_by_both_mean_and_median() -> None:
    times = card_runs.histogram((300_000, 30_000), (17_000_000, 10_000))
    assert takes(times) == "300 µs (p50; mean 4.5 ms, p99 17 ms)"
    assert takes(card_runs.histogram((300_000, 30))) == "300 µs (p50)"
    assert takes(card_runs.histogram((300_000, 3))) == "300 µs (mean)"


def test_the_least_load_that_reaches_the_peak_is_named() -> None:
    """Eight do what 32 do: the 32 only wait longer."""
    one, eight, more = (
        card_runs.reads(f"randread 8k {users}x1", times=card_runs.lognormal(ios, users * 1e10 / ios, 0.1), users=users)
        for users, ios in ((1, 10_000), (8, 66_270), (32, 66_300))
    )
    run = card_runs.run(one, eight, more, target=card_runs.SIMULATED)
    told = card(run, examine(run))
    assert "; 8x1 reaches 6.61k IOPS." in told.verdict
    (rate,) = (each for each in told.figures if each.kind == "rate")
    assert (rate.value, rate.says) == (more.measurement.rate_per_s, "peak, at 32x1; the same from 8x1 on")


def test_scans_and_mixes_too_are_told_at_the_least_load_that_is_as_fast() -> None:
    """Eight only wait longer than one."""
    scans = [
        card_runs.reads(
            f"scan {users}x1",
            users=users,
            size_bytes=1 << 20,
            times=card_runs.histogram((users * 1e6, 10_000)),
            sequential=True,
        )
        for users in (1, 8)
    ]
    assert "1M sequential reads reach 1 GB/s at 1x1." in _sim(*scans)
    mixes = [
        replace(
            each,
            phase=replace(
                each.phase,
                name=f"mix {each.plan.users}",
                workload=replace(
                    each.phase.workload, mix=(MixItem("read", 8192, 70), MixItem("write", 8192, 30)), locality=Uniform()
                ),
            ),
        )
        for each in scans
    ]
    assert "IOPS at 1x1." in _sim(*mixes)


def test_a_rate_that_a_row_without_trust_passes_is_no_peak() -> None:
    """21,600 at 64 were called the peak, with 70,700 at 32 in the same table."""
    one, eight, more = (
        card_runs.reads(f"randread 8k {users}x1", times=card_runs.lognormal(ios, users * 1e10 / ios, 0.1), users=users)
        for users, ios in ((1, 10_000), (8, 70_000), (32, 21_600))
    )
    run = card_runs.run(one, eight, more, target=card_runs.SIMULATED)
    trust = {row.phase.name: Trust("F" if row is eight else "A", ()) for row in run.measured}
    (rate,) = (each for each in figures(Facts(run), Examination(trust)) if each.kind == "rate")
    assert (rate.value, rate.says) == (
        more.measurement.rate_per_s,
        "highest of the rows that can be trusted, at 32x1",
    )


def test_of_rows_at_one_load_the_fastest_is_the_peak() -> None:
    """48 were "the highest of the rows that can be trusted", with 112 of the same load and trust below them."""
    slow, fast = (
        card_runs.reads(f"read {ios}", size_bytes=1 << 20, times=card_runs.lognormal(ios, 1e10 / ios, 0.1))
        for ios in (480, 1120)
    )
    run = card_runs.run(slow, fast, target=card_runs.SIMULATED)
    trust = {row.phase.name: Trust("C", ()) for row in run.measured}
    rates = [each for each in figures(Facts(run), Examination(trust)) if each.kind == "rate"]
    assert [(each.title, each.value, each.says) for each in rates] == [
        ("Random 1M reads", fast.measurement.rate_per_s, "peak, at 1x1")
    ]


def test_a_scan_that_a_row_without_trust_passes_is_not_what_reads_reach() -> None:
    """774 MB/s were what "1M sequential reads reach", with 1,169 on a row that one failed I/O of 3,374 had cost its
    trust."""
    few, many = (_phase(MixItem("read", 1 << 20), locality=Sequential(), users=users) for users in (1, 8))
    run = card_runs.run(few, many, target=card_runs.SIMULATED)
    failed = Trust("F", (TrustComponent("integrity", "F", "1 I/O failed"),))
    examination = Examination({few.phase.name: Trust("A", ()), many.phase.name: failed})
    assert "at 1x1 (highest of the rows that can be trusted)." in verdict(Facts(run), examination)
    (head,) = figures(Facts(run), examination)
    assert head.says == "highest of the rows that can be trusted, at 1x1"


@pytest.mark.parametrize("code", ["precision", "steady"])
def test_the_rate_of_a_scan_needs_no_percentile(code: TrustCode) -> None:
    """A volume does 105 MB/s in large reads, too few for a p99, and 13 MB/s in small ones."""
    large, small = (_phase(MixItem("read", size), locality=Sequential()) for size in (1 << 20, 128 << 10))
    large, small = (
        replace(row, phase=replace(row.phase, name=name)) for row, name in ((large, "large"), (small, "small"))
    )
    run = card_runs.run(large, small, target=card_runs.SIMULATED)
    low = Trust("F", (TrustComponent(code, "F", "it was so"),))
    examination = Examination({"large": low, "small": Trust("A", ())})
    said, head = verdict(Facts(run), examination), figures(Facts(run), examination)
    assert ("1M sequential reads reach" in said) == (code == "precision")
    assert ("(the rate only: its percentiles are imprecise)" in said) == (code == "precision")
    assert [each.title for each in head] == ["1M scan" if code == "precision" else "128k scan"]


def test_a_small_part_of_the_data_is_not_what_the_storage_does(golden: Golden) -> None:
    """The whole was measured with two outstanding only, a part of 64 MiB with one."""
    part = card_runs.reads("again 8k 1x1", times=card_runs.lognormal(2_000, 5_000_000, 0.1))
    part = replace(
        part,
        phase=replace(part.phase, region_size_bytes=64 << 20),
        plan=replace(part.plan, files=tuple(replace(each, size_bytes=64 << 20) for each in part.plan.files)),
    )
    whole = card_runs.reads("randread 8k 2x1", times=card_runs.lognormal(2_000, 12_000_000, 0.1), users=2)
    golden(_sim(part, whole))


def test_open_loops_are_not_spoken_of() -> None:
    paced = card_runs.paced()
    assert sentences(Facts(card_runs.run(paced)), [paced]) == []


def test_a_reason_is_not_spread_over_rows_that_have_another(golden: Golden) -> None:
    """One row is void, and that was said; what is wrong with the other is wrong with the other alone."""
    void = card_runs.reads("none", times=card_runs.histogram())
    said = _verdict(card_runs.run(card_runs.fill(), void, _few("a", 12)))
    golden(said)


def test_of_a_single_row_nobody_says_every() -> None:
    assert "Trust is B: a cache of unknown size" in _verdict(card_runs.run(card_runs.reads()))


def test_a_sentence_and_a_head_are_made_of_rows_of_one_place(golden: Golden) -> None:
    """Reads of a small part are quicker: with the time of the whole, their rate would break Little's law."""
    whole = card_runs.reads("randread 8k 1x1", times=card_runs.lognormal(800, 12_000_000, 0.1))
    part = card_runs.reads("again 8k 1x1", times=card_runs.lognormal(2_000, 5_000_000, 0.1))
    part = replace(part, phase=replace(part.phase, region_size_bytes=64 << 20))
    more = card_runs.reads("randread 8k 8x1", times=card_runs.lognormal(9_600, 60_000_000, 0.1), users=8)
    run = card_runs.run(whole, part, target=card_runs.SIMULATED)
    told = card(run, examine(run))
    assert "A random 8k read takes 12 ms (p50)." in told.verdict
    assert [(each.title, each.value) for each in told.figures if each.kind == "rate"] == [
        ("Random 8k reads", whole.measurement.rate_per_s)
    ]
    run = card_runs.run(whole, part, more, target=card_runs.SIMULATED)
    told = card(run, examine(run))
    golden(told.verdict)
    assert [each.value for each in told.figures if each.kind == "rate"] == [more.measurement.rate_per_s]


def test_what_pauses_reaches_nothing() -> None:
    """84 IOPS beside 10 ms of pauses say nothing of the storage."""
    mix, scan = (MixItem("read", 8192, 50), MixItem("write", 8192, 50)), (MixItem("read", 1 << 20),)
    for think_ns, said in ((0, 2), (10_000_000, 0)):
        rows = [_phase(*mix, arrival=Closed(think_ns)), _phase(*scan, locality=Sequential(), arrival=Closed(think_ns))]
        assert sum("reach" in each for each in sentences(Facts(card_runs.run(*rows)), rows)) == said


def test_rows_that_cannot_be_used_are_not_called_missing(golden: Golden) -> None:
    """Random reads of which one failed, beside a row at a rate that can be used."""
    broken = ErrorCount("read", 5, "EIO", 1, (ErrorPlace(2_400_000_000, 0, 8192),))
    run = card_runs.run(card_runs.reads(errors=(broken,)), card_runs.paced())
    golden(_verdict(run))
    assert "The run has no plain random reads" in _verdict(card_runs.run(card_runs.paced()))


def test_what_is_open_of_a_confirmed_kind_is_said_of_its_other_rows(golden: Golden) -> None:
    """It said "Confirmed: storage cache. Open: storage cache."."""
    one, *others = (
        Finding(code="cache_in_the_storage", severity="warn", phase=f"r{at}", says="", state="suggested")
        for at in range(3)
    )
    confirmed = Finding(code=one.code, severity="warn", phase="r", says="", state="confirmed")
    said = conclusion((confirmed, *others), Diagnosis())
    golden(said)


def test_what_all_rows_met_is_said_once() -> None:
    run = card_runs.quick_card()
    facts, busy = Facts(run), MET["short of CPU"]
    once = sentences(facts, list(run.measured), state=lambda _: f", {busy}")
    assert once[-1] == f"All of this was measured {busy}."
    assert " ".join(once).count(busy) == 1
    scans_only = sentences(facts, list(run.measured), state=lambda row: f", {busy}" * (row.phase.test == "read"))
    assert not any(each.startswith("All of this") for each in scans_only)
