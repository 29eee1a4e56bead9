"""ORION's files, by hand in their documented form; vectors V12 (the lat matrix) and V16 (a histogram)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.measurement import bimodal, long_tail
from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.card.judged import judge
from iocast.tools.orion import orion
from iocast.tools.source_files import Head

Reader = Callable[..., Run]

SUMMARY = """\
ORION VERSION 11.1.0.7.0

Commandline:
-run simple

This maps to this test:
Test: orion
Small IO size: 8 KB
Large IO size: 1024 KB
IO Types: Small Random IOs, Large Random IOs
Simulated Array Type: CONCAT
Write: 0%
Cache Size: Not Entered
Duration for each Data Point: 60 seconds
Small Columns:,      0
Large Columns:,      0,      1,      2
Total Data Points: 8

Name: /dev/sdq  Size: 21474836480
1 FILEs found.

Maximum Large MBPS=90.00 @ Small=0 and Large=2
Maximum Small IOPS=5000 @ Small=5 and Large=0
Minimum Small Latency=1.00 @ Small=5 and Large=0
"""
# V12
IOPS = "Large/Small, 1, 2, 3, 4, 5\n0, 2302, 4398, 5450, 6006, 6210\n"
LAT = "Large/Small, 1, 2, 3, 4, 5\n0, 0.43, 0.45, 0.55, 0.67, 0.80\n"
MBPS = "Large/Small, 0\n1, 80.5\n2, 90.0\n"
# V16: reads in buckets from 256 us on
COUNTS = (0, 2, 2, 71, 2126, 9572, 6149, 2829, 890, 581, 538, 655, 460, 64, 1)


def hist(*, cumulative: bool = False) -> str:
    lines, seen = ["Latency histogram @ Small=35 and Large=0\n"], 0
    for power, count in enumerate(COUNTS):
        seen += count
        share = f" ({100 * seen / sum(COUNTS):6.2f}%)" if cumulative else ""
        writes = f" 0{share}" if cumulative else " 0"
        lines.append(f"{256 << power:>9} - {512 << power:>9} us: {count:>9}{share}{writes}\n")
    return "".join(lines)


def test_an_io_has_a_size(read_all: Reader) -> None:
    """It was a division by zero."""
    text = (Path(__file__).parents[1] / "examples" / "orion_summary.txt").read_text()
    odd = re.sub(r"(?im)^(Large IO size:\s*)\d+", r"\g<1>0", text)
    assert odd != text
    with pytest.raises(SourceError, match="I/Os of 0 KB"):
        read_all(("s_summary.txt", odd))


def test_it_is_known_by_its_words() -> None:
    for name, text in (("a_summary.txt", SUMMARY), ("a_iops.csv", IOPS), ("a_hist.txt", hist())):
        assert orion.sniff(Head(name, text))
    assert not orion.sniff(Head("a_iops.csv", "1, 2, 3\n"))


def test_a_summary_names_two_points(read_all: Reader) -> None:
    run = read_all(("a_summary.txt", SUMMARY))
    large, small = run.phases
    assert large.measurement.bytes_per_s == pytest.approx(90.0 * 2**20)
    assert large.measurement.classes[0].size_bytes == 1 << 20
    assert (small.plan.depth, small.measurement.rate_per_s) == (5, 5000)
    assert small.measurement.service("read").mean_ns == 1_000_000  # no unit: milliseconds
    assert run.source is not None
    assert run.source.version == "11.1.0.7.0"
    trust = examine(run).trust[small.phase.name]
    assert next(part.grade for part in trust.components if part.code == "integrity") == "A"


def test_a_latency_with_a_unit_is_in_it(read_all: Reader) -> None:
    text = SUMMARY.replace("Latency=1.00 @", "Latency=1000.00 usecs @")
    assert read_all(("a_summary.txt", text)).phases[1].measurement.service("read").mean_ns == 1_000_000


def test_a_latency_of_another_point_is_told_and_given_to_no_row(read_all: Reader) -> None:
    run = read_all(("a_summary.txt", SUMMARY.replace("1.00 @ Small=5", "0.50 @ Small=1")))
    assert "the lowest latency, 0.5 ms, was at 1 small" in run.warnings[0]
    assert run.phases[1].measurement.service().total == 0


def test_several_summaries_in_one_file(read_all: Reader) -> None:
    second = SUMMARY.replace("sdq", "sdr")
    run = read_all(("notes.txt", SUMMARY[1:] + "\n\n" + second))  # a first letter that was lost
    assert [record.phase.name for record in run.phases] == [
        "/dev/sdq large 1x2",
        "/dev/sdq small 1x5",
        "/dev/sdr large 1x2",
        "/dev/sdr small 1x5",
    ]


@pytest.mark.parametrize("factor", [1, 1000])
def test_v12_the_unit_of_the_matrix_follows_from_littles_law(read_all: Reader, factor: int) -> None:
    lat = "Large/Small, 1, 2, 3, 4, 5\n0, " + ", ".join(f"{ms * factor:g}" for ms in (0.43, 0.45, 0.55, 0.67, 0.80))
    run = read_all(("t_2012_iops.csv", IOPS), ("t_2012_lat.csv", lat + "\n"))
    in_flight = [
        record.measurement.rate_per_s * record.measurement.service("read").mean_ns / 1e9 for record in run.phases
    ]
    assert in_flight == pytest.approx([0.99, 1.98, 3.0, 4.02, 4.97], abs=0.01)
    assert [record.plan.depth for record in run.phases] == [1, 2, 3, 4, 5]


def test_a_summary_gives_the_matrices_their_length_and_size(read_all: Reader) -> None:
    run = read_all(("t_summary.txt", SUMMARY), ("t_iops.csv", IOPS), ("t_lat.csv", LAT), ("t_mbps.csv", MBPS))
    by_name = {record.phase.name: record.measurement for record in run.phases}
    assert by_name["/dev/sdq small 1x1"].ios == 2302 * 60
    assert by_name["/dev/sdq large 1x2"].bytes_per_s == pytest.approx(90 * 2**20)
    assert len(by_name) == 7


@pytest.mark.parametrize("cumulative", [False, True])
def test_v16_a_histogram_keeps_its_powers_of_two(read_all: Reader, cumulative: bool) -> None:
    (record,) = read_all(("t_hist.txt", hist(cumulative=cumulative))).phases
    times = record.measurement.service("read")
    assert times.total == 23_940
    assert times.share_up_to(16_384_000) == pytest.approx(0.4918, abs=5e-5)
    assert times.share_up_to(1_048_576_000) == pytest.approx(0.9781, abs=5e-5)
    assert times.quantile_bounds_ns(0.5) == (16_384_000, 32_768_000)
    assert times.quantile_bounds_ns(0.95) == (262_144_000, 524_288_000)
    assert times.mean_ns != times.mean_ns  # not stated, and not made up
    assert record.plan.depth == 35
    assert "length" in record.unstated


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a_summary.txt", SUMMARY.partition("Maximum")[0], "no maximum in it"),
        (
            "a_summary.txt",
            SUMMARY.replace("MBPS=90.00 @ Small=0 and Large=2", "MBPS=90"),
            "a_summary.txt:22: this maximum",
        ),
        ("a_iops.csv", IOPS.replace(", 6210", ""), "a_iops.csv:2: 4 values under 5 headings"),
        ("a_iops.csv", IOPS.replace("6210", "many"), 'a_iops.csv:2: a result is "many"'),
        ("a_lat.csv", LAT, "it has no unit, which only the rates can show"),
        ("matrix.csv", IOPS, "unknown matrix"),
        ("a_hist.txt", hist().partition("\n")[2], "does not name its data point"),
        ("a_hist.txt", hist()[:-6] + "\n", "an unreadable or truncated bucket"),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, name: str, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all((name, text))
    assert says in refused.value.message


def test_a_summary_without_results_beside_a_whole_one_is_named(read_all: Reader) -> None:
    run = read_all(("notes.txt", SUMMARY + "\n" + SUMMARY.partition("Maximum")[0]))
    assert len(run.phases) == 2
    assert "a summary without results" in run.warnings[0]


def test_two_summaries_whose_second_head_is_lost_are_not_one(read_all: Reader) -> None:
    """The maxima of the second took the place of the first's."""
    second = SUMMARY.replace("ORION VERSION", "OR VERSION").replace("90.00", "10.00")
    with pytest.raises(SourceError) as refused:
        read_all(("orion_summary.txt", SUMMARY + second))
    assert f":{2 * SUMMARY.count(chr(10)) - 2}: a second maximum" in refused.value.message


@pytest.mark.parametrize(
    ("was", "then"), [("Write: 0%", "Write: 250%"), ("Small=5 and", f"Small={'9' * 400} and"), ("=90.00", "=1e400")]
)
def test_figures_that_cannot_be_are_refused(read_all: Reader, was: str, then: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("orion_summary.txt", SUMMARY.replace(was, then)))
    assert "orion_summary.txt:" in refused.value.message


# From 11.2 on: other words for the settings, the spread of reads and of writes, and a histogram.
NEWER = """\
ORION VERSION 12.1.0.2.0

Command line:
-run oltp -testname disks -write 25

These options enable these settings:
Small IO size: 8 KB
Large IO size: 1024 KB
IO types: small random IOs, large random IOs
Writes: 25%
Duration for each data point: 30 seconds
Total Data Points: 21

Name: /dev/sdq  Size: 21474836480
1 files found.

Maximum Large MBPS=90.50 @ Small=0 and Large=2

Maximum Small IOPS=1200 @ Small=8 and Large=0
Small Read Latency: avg=7000.500 us, min=800 us, max=90000.250 us, std dev=350.5 us @ Small=8 and Large=0
Small Write Latency: avg=5665.165 us, min=700 us, max=80000 us, std dev=250 us @ Small=8 and Large=0

Minimum Small Latency=900.250 usecs @ Small=1 and Large=0
Small Read Latency: avg=950.000 us, min=700 us, max=1900.000 us, std dev=35 us @ Small=1 and Large=0
Small Write Latency: avg=751.000 us, min=600 us, max=1700.000 us, std dev=25 us @ Small=1 and Large=0
Small Read / Write Latency Histogram @ Small=1 and Large=0
        Latency:                         # of IOs (read)          # of IOs (write)
        0 - 512        us:               0 (  0.00%)             75 ( 25.00%)
      512 - 1024       us:             500 ( 50.00%)            225 (100.00%)
     1024 - 2048       us:             500 (100.00%)              0 (100.00%)
"""


def test_a_newer_summary_states_reads_and_writes_with_their_spread(read_all: Reader) -> None:
    """Its latencies and its mix were ignored, and its histogram took the place of both maxima."""
    run = read_all(("a_summary.txt", NEWER))
    large, small, lowest = run.phases
    assert large.measurement.bytes_per_s == pytest.approx(90.5 * 2**20)
    assert [part.ios for part in small.measurement.classes] == [900 * 30, 300 * 30]
    reads, writes = (part.service.coarse for part in small.measurement.classes)
    assert reads is not None
    assert writes is not None
    assert (reads.mean_ns, reads.min_ns, reads.max_ns, reads.stdev_ns) == (7_000_500, 800_000, 90_000_250, 350_500)
    assert (writes.mean_ns, writes.max_ns) == (5_665_165, 80_000_000)
    assert lowest.phase.name == "/dev/sdq small 1x1"
    assert [part.ios for part in lowest.measurement.classes] == [1000, 300]
    assert lowest.measurement.classes[0].service.share_up_to(1_024_000) == pytest.approx(0.5)
    assert lowest.measurement.classes[1].service.mean_ns == 751_000
    assert run.source is not None
    assert run.source.version == "12.1.0.2.0"


def test_the_histogram_of_a_maximum_adds_its_buckets(read_all: Reader) -> None:
    text = NEWER.replace("Histogram @ Small=1 ", "Histogram @ Small=8 ")
    run = read_all(("a_summary.txt", text))
    _, small = run.phases
    assert small.measurement.rate_per_s == pytest.approx(1200)
    assert small.measurement.classes[1].service.share_up_to(512_000) == pytest.approx(0.25)
    assert "the lowest latency, 0.90025 ms, was at 1 small I/O, whose rate" in run.warnings[0]


def test_what_orion_prints_has_no_length(read_all: Reader) -> None:
    printed = NEWER[NEWER.index("Maximum Large") :].replace("ORION VERSION", "")
    head = "ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0DBRU_LINUX.X64_190417\n$ orion -run oltp -write 25\n\n"
    _, small, lowest = read_all(("a.txt", head + printed)).phases
    assert "length" in small.unstated
    assert small.measurement.rate_per_s == 1200
    assert {"length"} <= {*lowest.unstated}
    assert "ios" not in lowest.unstated


def test_reads_and_writes_of_unknown_mix_are_left_out(read_all: Reader) -> None:
    text = NEWER.replace(" -write 25", "").replace("Writes: 25%\n", "")
    run = read_all(("a_summary.txt", text))
    assert [record.phase.name for record in run.phases] == ["/dev/sdq small 1x1"]
    assert "/dev/sdq small 1x8: reads and writes together, and nothing says in which mix: left out" in run.warnings


def test_a_matrix_may_say_what_it_is(read_all: Reader) -> None:
    """Words above it made it unknown; the unit that they state needs no rates."""
    words = "This file contains the average latency sustained by small I/Os in microseconds.\n\n"
    run = read_all(("t_lat.csv", words + LAT.replace("0.", "4")))
    assert run.phases[0].phase.name == "small 1x1"
    run = read_all(("t_iops.csv", "Rates sustained by small I/Os.\n" + IOPS))
    assert run.phases[0].measurement.rate_per_s == 2302


def test_histograms_of_large_ios_are_theirs(read_all: Reader) -> None:
    """Those of a point with both sizes were added up."""
    buckets = "   256 -   512 us:   {} ( 50.00%)   0 (  0.00%)\n   512 -  1024 us:   {} (100.00%)   0 (  0.00%)\n"
    text = "".join(
        f"{size} Read / Write Latency Histogram @ Small=2 and Large=3\n{buckets.format(count, count)}"
        for size, count in (("Small", 80), ("Large", 5))
    )
    (record,) = read_all(("t_hist.txt", text)).phases
    assert [(part.size_bytes, part.ios) for part in record.measurement.classes] == [(8192, 160), (1 << 20, 10)]


def shaped(counts: tuple[int, ...]) -> str:
    lines = [f"{256 << power} - {512 << power} us: {count} 0\n" for power, count in enumerate(counts)]
    return "".join(("Latency histogram @ Small=35 and Large=0\n", *lines))


def labels(run: Run) -> dict[str, str]:
    return {each.code: each.says for detector in (bimodal, long_tail) for each in detector.detect(Facts(run))}


def test_v16_is_bimodal_with_a_long_tail(read_all: Reader) -> None:
    run = read_all(("o_hist.txt", hist()))
    assert {"several_peaks", "long_tail"} <= {each.code for each in examine(run).findings}
    assert labels(run) == {
        "several_peaks": "The times are bimodal: 93% around 12 ms and 7.2% around 741 ms.",
        "long_tail": "The times have a long tail: 4.9% of the I/Os take more than 524 ms, the median is below 33 ms.",
    }


def test_one_peak_with_chance_in_its_tail_has_no_label(read_all: Reader) -> None:
    """Exponential times of 10 ms in powers of two; and a second peak that a few I/Os more or less would make."""
    exponential = (253, 493, 937, 1692, 2762, 3690, 3410, 1571, 250, 4, 0, 0)
    assert labels(read_all(("o_hist.txt", shaped(exponential)))) == {}
    by_chance = (0, 0, 2000, 9000, 5000, 2000, 900, 300, 250, 285, 100, 10)
    assert list(labels(read_all(("p_hist.txt", shaped(by_chance))))) == ["long_tail"]


def test_a_histogram_of_large_ios_beside_small_ones(read_all: Reader) -> None:
    """The heading says of which size it is; both sizes of one data point are in one file."""
    small = "Latency Histogram for small IOs @ Small=2 and Large=3\n 0 - 1024 us: 0\n 1024 - 2048 us: 40\n"
    large = "Latency Histogram for large IOs @ Small=2 and Large=3\n 0 - 1024 us: 0\n 1024 - 2048 us: 7\n"
    (record,) = read_all(("t_hist.txt", small + large)).phases
    assert {each.size_bytes: each.ios for each in record.measurement.classes} == {8192: 40, 1 << 20: 7}


def test_a_rate_without_its_latency_is_what_the_card_says_first(read_all: Reader) -> None:
    """It is not said to have no random reads, above a key figure of 412 IOPS of them."""
    text = (Path(__file__).parents[1] / "examples" / "orion_summary.txt").read_text(encoding="utf-8")
    said = judge(read_all(("t_summary.txt", text)), "").report().verdict
    assert said.startswith("Random 8k reads reach 412 IOPS at 1x5. Trust is C"), said
