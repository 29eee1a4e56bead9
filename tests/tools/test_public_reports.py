"""Files of public reports that were read wrongly or refused, with the right values, computed apart from iocast.

They lie beside a checkout of the team, and go into no other place: where they are not, the tests of each reader stay.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from makers.imported_series import values_of

from iocast.model.run import PhaseRecord, Run
from iocast.tools import importers

REPORTS = Path(__file__).parents[3] / "shared" / "data" / "reports"
pytestmark = pytest.mark.skipif(not REPORTS.is_dir(), reason="the public reports are not beside this checkout")
MS = 1e6


def imported(name: str) -> Run:
    (run,) = importers.read((str(REPORTS / name),))
    return run


def row(run: Run, name: str) -> PhaseRecord:
    return next(record for record in run.phases if record.phase.name == name)


def times(record: PhaseRecord, op: str) -> tuple[int, float]:
    """How many I/Os of an operation, and their mean in ns."""
    classes = [each for each in record.measurement.classes if each.op == op]
    ios = sum(each.ios for each in classes)
    return ios, sum(each.ios * each.response.mean_ns for each in classes) / ios


@pytest.mark.parametrize(
    ("name", "write", "flush"),
    [
        ("fio-fdatasync.txt", (5632, 12.27e3), (5631, 6926.11e3)),
        ("fio-kubectl-timestamps.txt", (5632, 12.27e3), (5631, 6926.11e3)),
        ("fio-fdatasync.json", (1823, 19.5e3), (1823, 1.361 * MS)),
    ],
)
def test_fdatasyncs_of_fio_are_flushes(name: str, write: tuple[int, float], flush: tuple[int, float]) -> None:
    (record,) = imported(name).phases
    assert times(record, "write") == pytest.approx(write, rel=0.01)
    assert times(record, "fdatasync") == pytest.approx(flush, rel=0.01)
    assert not any(each.short_ios for each in record.measurement.classes)
    did = record.measurement
    busy_ns = sum(each.ios * each.response.mean_ns for each in did.classes)
    if name.endswith("txt"):
        assert busy_ns / did.elapsed_ns == pytest.approx(0.9996, rel=0.001)


def test_fdatasyncs_are_no_short_reads_of_the_other_jobs() -> None:
    run = imported("fio-client-fdatasync.json")
    assert not any(each.short_ios for record in run.phases for each in record.measurement.classes)
    assert times(row(run, "a on db1.example"), "fdatasync") == pytest.approx((2046, 525.66e3), rel=0.01)


def test_all_clients_of_fio_are_read() -> None:
    run = imported("fio-client-all-clients.txt")
    mb = {record.phase.name: record.measurement.bytes_per_s / 1e6 for record in run.phases}
    assert [mb[name] for name in ("a #1", "b #1", "a #2", "b #2")] == pytest.approx([6.57, 30.6, 9.63, 10.4], rel=0.01)


def test_old_fio_prints_bytes_a_second_below_a_megabyte() -> None:
    (record,) = imported("fio-2.0-bytes-per-second.txt").phases
    assert times(record, "read") == pytest.approx((107489, 67.90 * MS), rel=0.01)
    assert times(record, "write") == pytest.approx((26720, 71.79 * MS), rel=0.01)


def test_percentiles_at_the_end_of_a_histogram_are_bounds() -> None:
    run = imported("fio-percentiles-at-the-last-bin.txt")
    (record,) = run.phases
    response = record.measurement.response()
    assert response.mean_ns == pytest.approx(41.197e9, rel=0.01)
    assert response.coarse is not None
    assert all(each.value_ns < 17e9 for each in response.coarse.quantiles)
    assert any("no time above 17.1 s" in each for each in run.warnings)


def test_the_head_of_an_indented_output_is_read() -> None:
    (record,) = imported("fio-indented-head.txt").phases
    assert (record.measurement.asked_depth, record.phase.workload.mix[0].size_bytes) == (1, 4096)


def test_a_last_line_that_is_whole_needs_no_end() -> None:
    (record,) = imported("diskspd-no-last-newline.txt").phases
    assert {each.op: round(each.response.max_ns / MS) for each in record.measurement.classes} == {
        "read": 100,
        "write": 101,
    }


def test_vectored_calls_are_counted_once() -> None:
    (record,) = imported("strace-vectored-and-not.txt").phases
    did = record.measurement
    assert (did.ios, did.bytes) == (5, 286720)
    assert did.response().mean_ns == pytest.approx(460e3)
    assert sorted((each.size_bytes, each.ios) for each in did.classes) == [(8192, 3), (131072, 2)]


def test_notices_of_threads_in_the_midst_of_a_call_are_none_of_it() -> None:
    means = {
        record.phase.test: times(record, record.phase.test)[1]
        for record in imported("strace-terminal-attached.txt").phases
    }
    assert means == pytest.approx({"read": 150e3, "write": 400e3})


def test_names_of_processes_change_nothing_of_their_calls(tmp_path: Path) -> None:
    text = (REPORTS / "strace-Y-comm.txt").read_text()
    (plain := tmp_path / "strace.txt").write_text(re.sub(r"^(\d+)<[^>]*>", r"\1", text, flags=re.MULTILINE))
    with_names, without = (imported("strace-Y-comm.txt"), importers.read((str(plain),))[0])
    assert [record.measurement for record in with_names.phases] == [record.measurement for record in without.phases]


def test_a_counter_that_wrapped_is_unknown() -> None:
    run = imported("sar-overflowed-counter.txt")
    assert values_of(run, "dev8-32")["ios_per_s"] == [12.0, 14.0]
    assert values_of(run, "dev8-0")["ios_per_s"] == [30.2, 24.8, 22.0]
    assert any("a counter was reset" in each for each in run.warnings)


@pytest.mark.parametrize(
    ("name", "ios_per_s"), [("sar-chinese-times.txt", [10, 20]), ("sar-japanese-times.txt", [12.5, 25])]
)
def test_times_of_day_in_chinese_and_japanese(name: str, ios_per_s: list[float]) -> None:
    assert values_of(imported(name), "dev8-0")["ios_per_s"] == ios_per_s


def test_several_disks_of_dstat_stand_in_one_group_of_dashes() -> None:
    run = imported("dstat-two-disks.txt")
    writes, reads = values_of(run, "sda"), values_of(run, "sdb")
    assert sum(writes["writes_per_s"]) / 2 == pytest.approx(20.7)
    assert sum(reads["reads_per_s"]) / 2 == pytest.approx(8.0)
    waits = values_of(imported("dstat-svctm-wait.txt"), "sda")
    assert sum(waits["write_bytes_per_s"]) / 2 == pytest.approx(4.516e6, rel=0.001)


def test_a_sum_below_several_histograms_is_of_all() -> None:
    counts = {record.phase.name: record.measurement.ios for record in imported("biolatency-F-e.txt").phases}
    assert sorted(counts.values()) == [10, 75]


def test_json_with_a_leading_comma_is_read() -> None:
    values = values_of(imported("iostat-y-leading-comma.json"), "sdc")
    assert values["reads_per_s"][0] == 282.5
    assert values["write_await_ns"][0] == pytest.approx(44.44 * MS)
