"""What the control group of the test itself held back, CPU or I/O, is named; other programs are not blamed for it."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.detectors.limits import throttle
from iocast.diagnose.detectors.measurement import absent, generator_bound
from iocast.diagnose.evidence import cpu_words
from iocast.diagnose.examination import examine
from iocast.diagnose.limits.own_group import io_limits
from iocast.diagnose.trust.components import load_achieved
from iocast.model.measurement import Absence, Generator, SlowIo
from iocast.model.run import PhaseRecord, Sample, Series

MS = 1_000_000
SECOND_NS = card_runs.SECOND_NS


def _starved(*samples: Sample, **generator: object) -> PhaseRecord:
    """A row with a stall whose thread waited for a processor most of the time."""
    slow = SlowIo(1000 * MS, "read", 0, 0, 8192, 400 * MS, 400 * MS)
    times = card_runs.histogram((240_000, 40_000), (400 * MS, 1))
    record = card_runs.reads(times=times, slow=(slow,))
    did = record.measurement
    made: dict[str, object] = {"threads": 1, "user_ns": MS, "queued_ns": round(0.9 * did.elapsed_ns), **generator}
    record = replace(record, measurement=replace(did, generator=Generator(**made)))  # type: ignore[arg-type]
    return replace(record, samples=(*record.samples, *samples))


def _quota(used: int, periods: int = 100) -> tuple[Sample, ...]:
    """A CPU quota that was used up in so many of its periods."""
    told = {"periods": periods, "throttled_periods": used}
    return tuple(
        Sample(card_runs.START_UNIX_NS + at * SECOND_NS, "limits", "cgroup /cpu/db", metric, 1000.0 + at * count)
        for at in (0, 1)
        for metric, count in told.items()
    )


def _cap(metric: str, value: float, layer: str = "vda") -> tuple[Sample, ...]:
    return (Sample(card_runs.START_UNIX_NS, "limits", layer, metric, value),)


def test_a_stall_under_a_limit_of_the_control_group_is_not_blamed_on_the_cpu_alone() -> None:
    """It said "This machine was short of CPU: …; it may have had a part", of a row that may do 500 reads a second."""
    record = _starved(*_cap("read_ios_per_s", 500.0))
    (found,) = stalls.detect(Facts(card_runs.run(record)))
    assert found.says.endswith(
        "This machine was short of CPU: the test's threads waited for a CPU 90% of the time; it may have had a part."
        " The test's control group is limited to 500 IOPS of reads on vda: that may have had a part, too."
    )
    (plain,) = stalls.detect(Facts(card_runs.run(_starved())))
    assert "control group" not in plain.says


def test_a_limit_of_other_operations_has_no_part() -> None:
    (row,) = Facts(card_runs.run(_starved(*_cap("write_ios_per_s", 500.0)))).rows
    assert io_limits(row) == ()


def test_a_quota_that_is_used_up_is_named_in_place_of_other_programs() -> None:
    """It said "other programs had the processors" and "Stop other work on this machine"."""
    away = (Absence(2000 * MS, 300 * MS, "queued"),)
    facts = Facts(card_runs.run(_starved(*_quota(80), absences=away)))
    (row,) = facts.rows
    words = "the CPU quota of the test's control group was used up in 80% of its periods"
    assert cpu_words(row) == words
    assert [each.says.rpartition("; ")[2] for each in absent.detect(facts)] == [
        "the CPU quota of its control group was used up."
    ]
    assert [each.remedy.partition(";")[0] for each in generator_bound.detect(facts)] == [
        "Raise the CPU quota of the control group (cpu.max, cpu.cfs_quota_us)"
    ]
    (stall,) = stalls.detect(facts)
    assert "This machine was short of CPU" not in stall.says
    assert f"T{words[1:]}; it may have had a part." in stall.says


@pytest.mark.parametrize("used", [0, 3])
def test_a_quota_that_is_hardly_used_up_is_not_named(used: int) -> None:
    (row,) = Facts(card_runs.run(_starved(*_quota(used)))).rows
    assert cpu_words(row) == "the test's threads waited for a CPU 90% of the time"


def test_a_limit_that_was_reached_sets_the_pace_whatever_the_cpus_did() -> None:
    record = _starved()
    rate = record.measurement.rate_per_s
    found = examine(card_runs.run(_starved(*_cap("read_ios_per_s", rate))))
    assert found.bounds[record.phase.name].by == "rate"
    assert examine(card_runs.run(record)).bounds[record.phase.name].by == "generator"


def test_pieces_of_larger_ios_reach_a_limit_too() -> None:
    """Reads of 1 MiB became 16 requests each: 25 a second were not named as those of a limit of 400."""
    record = card_runs.reads(size_bytes=1 << 20, times=card_runs.histogram((40e6, 1000)))
    did = record.measurement
    seen = card_runs.diskstats(did.elapsed_ns, reads=16 * did.ios, read_bytes=did.bytes, writes=0, written_bytes=0)
    cut = replace(record, samples=(*seen, *_cap("read_ios_per_s", 400.0, "vda1")))
    (found,) = (each for each in throttle.detect(Facts(card_runs.run(cut))) if "limit" in each.evidence)
    assert found.clause == (
        "the cgroup allows 400 IOPS of reads on vda1,"
        " and the row did 25 IOPS of larger I/Os, 400 IOPS of requests there"
    )
    whole = replace(record, samples=(*record.samples, *_cap("read_ios_per_s", 400.0, "vda1")))
    assert not [each for each in throttle.detect(Facts(card_runs.run(whole))) if "limit" in each.evidence]


def test_trust_blames_the_quota_too() -> None:
    """It said "other work shared this machine" of a test that may use a quarter of a processor."""
    (row,) = Facts(card_runs.run(_starved(*_quota(80)))).rows
    assert load_achieved(row).clause.endswith(
        ": the CPU quota of the test's control group was used up in 80% of its periods"
    )


def test_threads_of_the_test_are_in_each_others_way() -> None:
    """It said "other programs had the processors" of 32 threads on 2 of them."""
    away = (Absence(2000 * MS, 300 * MS, "queued"),)
    run = card_runs.run(_starved(threads=32, absences=away))
    assert run.host.cpus < 32
    (found,) = absent.detect(Facts(run))
    assert found.says.endswith("; other programs, or other threads of the test, had the processors.")


def _changed(first: float | None, then: float, *rates: int) -> PhaseRecord:
    """Reads at each rate for ten seconds; half way the limit of its group is changed, or set."""
    ios = tuple(rate for rate in rates for _ in range(10))
    times = card_runs.histogram((8 * SECOND_NS / (sum(rates) / len(rates)), sum(ios)))
    record = card_runs.reads("randread 8k 8x1", times=times, users=8, elapsed_ns=len(ios) * SECOND_NS)
    moved, waited = tuple(8192 * each for each in ios), (8 * SECOND_NS,) * len(ios)
    series = Series(interval_ns=SECOND_NS, ios=ios, bytes=moved, response_ns=waited)
    began = record.measurement.started_unix_ns
    limits = tuple(
        Sample(began + at * SECOND_NS, "limits", "vda1", "read_ios_per_s", limit)
        for at in range(len(ios) + 1)
        if (limit := first if at <= len(ios) // 2 else then) is not None
    )
    return replace(record, series=series, samples=(*record.samples, *limits))


def test_a_limit_that_is_changed_is_named_in_place_of_credits() -> None:
    """It said "burst credits" of a group whose limit went from 3,000 to 500 reads a second, which it can read."""
    changed = _changed(3000.0, 500.0, 2990, 502)
    findings = examine(card_runs.run(changed)).findings
    (throttled,) = (each for each in findings if each.code == "throttle")
    assert throttled.clause == (
        "the cgroup's limit of reads on vda1 went from 3,000 IOPS to 500 IOPS at about t=11 s,"
        " and the row did 502 IOPS from then on"
    )
    assert not {"burst_credits", "rate_step", "maintenance"} & {each.code for each in findings}
    unlimited = replace(changed, samples=tuple(each for each in changed.samples if each.observer != "limits"))
    assert "burst_credits" in {each.code for each in examine(card_runs.run(unlimited)).findings}


def test_a_limit_that_is_set_in_the_midst_is_named() -> None:
    (found,) = throttle.detect(Facts(card_runs.run(_changed(None, 500.0, 4100, 498))))
    assert "limit of reads on vda1 was set to 500 IOPS at about t=11 s" in found.says


def test_a_changed_limit_that_is_not_reached_explains_nothing() -> None:
    findings = throttle.detect(Facts(card_runs.run(_changed(9000.0, 6000.0, 2990, 502))))
    assert not [each for each in findings if "limit" in each.evidence]


def test_a_limit_that_was_raised_is_told_where_it_held_the_row() -> None:
    (found,) = (each for each in throttle.detect(Facts(card_runs.run(_changed(500.0, 9000.0, 502, 4100)))))
    assert "went from 500 IOPS to 9,000 IOPS at about t=11 s, and the row did 502 IOPS until then" in found.says
