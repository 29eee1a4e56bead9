"""fio's logs, made by fio 3.33: one line an I/O, means of intervals, histograms; and fio 2's by hand."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.histogram import bucket_index
from iocast.model.run import Run
from iocast.report.card import card_report
from iocast.report.renderers import json_report
from iocast.tools import importers
from iocast.tools.fio import fio_log
from iocast.tools.fio.latency_bins import bin_edges, bin_of
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def of(fixtures: Path, *names: str) -> Run:
    (run,) = importers.read(tuple(str(fixtures / "logs" / name) for name in names))
    return run


def test_an_empty_log_beside_others_is_named_and_left_out(fixtures: Path, tmp_path: Path) -> None:
    """fio leaves one of what a job never did: it refused all the others."""
    empty = tmp_path / "avg_slat.1.log"
    empty.write_text("")
    logs = tuple(str(fixtures / "logs" / f"avg_{kind}.1.log") for kind in ("bw", "iops"))
    (run,) = importers.read((logs[0], str(empty), logs[1]))
    assert f"{empty} is empty: left out" in run.warnings
    assert run.phases == of(fixtures, "avg_bw.1.log", "avg_iops.1.log").phases
    with pytest.raises(SourceError, match="is empty"):
        importers.read((str(empty),))


def test_the_name_says_what_a_log_is() -> None:
    assert fio_log.sniff(Head("a_lat.1.log", "0, 1, 0, 4096\n"))
    assert fio_log.sniff(Head("a_clat_hist.log", "1, 0, 4096, 0, 0"))
    assert not fio_log.sniff(Head("numbers.csv", "0, 1, 0, 4096\n"))
    assert not fio_log.sniff(Head("a_lat.1.log", "lat\n"))


def test_a_line_for_every_io_makes_an_exact_histogram(fixtures: Path) -> None:
    run = of(fixtures, "each_lat.1.log", "each_clat.1.log", "each_bw.1.log", "each_iops.1.log")
    (record,) = run.phases
    (part,) = record.measurement.classes
    values = [int(line.split(",")[1]) for line in (fixtures / "logs/each_lat.1.log").read_text().splitlines()]
    assert (part.ios, part.size_bytes, part.bytes) == (len(values), 4096, len(values) * 4096)
    assert part.service.coarse is None
    assert (part.service.min_ns, part.service.max_ns, part.service.sum_ns) == (min(values), max(values), sum(values))
    document = json.loads((fixtures / "fio_logged.json").read_text())["jobs"][0]["read"]
    assert part.ios == document["total_ios"]
    assert part.service.mean_ns == pytest.approx(document["lat_ns"]["mean"], rel=1e-6)
    assert record.unstated[:2] == ("users", "depth")


def test_means_of_intervals_become_rates_and_samples(fixtures: Path) -> None:
    run = of(fixtures, "avg_bw.1.log", "avg_iops.1.log", "avg_lat.1.log")
    (record,) = run.phases
    job = json.loads((fixtures / "fio_averaged.json").read_text())["jobs"][0]
    for part in record.measurement.classes:
        assert part.ios == pytest.approx(job[part.op]["total_ios"], rel=0.15)
        assert part.service.total == 0
    assert "ios" in record.unstated
    assert {sample.metric for sample in record.samples} == {"bytes_per_s", "ios_per_s", "lat_ns"}
    assert "no percentiles" in "".join(run.source.notes if run.source else ())


def test_a_histogram_log_holds_every_io_in_fios_own_bins(fixtures: Path) -> None:
    (record,) = of(fixtures, "avg_clat_hist.1.log").phases
    job = json.loads((fixtures / "fio_averaged.json").read_text())["jobs"][0]
    for part in record.measurement.classes:
        # fio does not write the interval that was going on at the end.
        rate_per_s = part.ios * 1e9 / record.measurement.elapsed_ns
        assert rate_per_s == pytest.approx(job[part.op]["iops"], rel=0.15)
        bounds = part.service.quantile_bounds_ns(0.5)
        stated = job[part.op]["clat_ns"]["percentile"]["50.000000"]
        assert bounds is not None
        assert bounds[0] * 0.9 <= stated <= bounds[1] * 1.1


def test_bins_meet_without_gaps() -> None:
    for unit_ns, bins in ((1, 1856), (1000, 1216)):
        edges = [bin_edges(index, unit_ns) for index in range(bins)]
        assert edges[0] == (0, unit_ns)
        assert all(one[1] == two[0] for one, two in pairwise(edges))
    assert edges[100] == (100_000, 101_000)
    for value in (0, 63, 64, 127, 128, 1_000_003, 10**9):
        low, high = bin_edges(bin_of(value), 1)
        assert low <= value < high


def hist(bins: int, at: int, count: int = 7) -> str:
    values = [0] * bins
    values[at] = count
    return "1000, 0, 16384, " + ", ".join(map(str, values)) + "\n"


def test_the_number_of_bins_tells_the_unit(read_all: Reader) -> None:
    for bins, unit_ns in ((1216, 1000), (1856, 1), (928, 1)):
        (record,) = read_all(("a_clat_hist.1.log", hist(bins, 50))).phases
        times = record.measurement.service("read")
        low = 50 * unit_ns * (1856 // bins if unit_ns == 1 else 1)
        assert times.quantile_bounds_ns(0.5) == (low, low + unit_ns * (1856 // bins if unit_ns == 1 else 1))
        assert times.total == 7


def test_four_columns_are_told_by_what_is_impossible(read_all: Reader) -> None:
    nanoseconds = "1, 74154187, 0, 4096\n50, 70000000, 0, 4096\n"
    microseconds = "1, 245, 0, 4096\n50, 311, 0, 4096\n"
    assert read_all(("a_lat.1.log", nanoseconds)).phases[0].measurement.service().max_ns == 74_154_187
    assert read_all(("b_lat.1.log", microseconds)).phases[0].measurement.service().max_ns == 311_000
    with pytest.raises(SourceError, match=r"unit of latency \(us or ns\) is unknown"):
        read_all(("c_lat.1.log", "90000, 5000, 0, 4096\n"))


def test_epoch_times_become_the_moment_of_the_run(read_all: Reader) -> None:
    text = "".join(f"{1_795_288_940_792 + 250 * i}, 64000, 0, 0, 0\n" for i in range(4))
    (record,) = read_all(("a_bw.1.log", text)).phases
    assert record.measurement.started_unix_ns == (1_795_288_940_792 - 250) * 1_000_000
    assert record.measurement.elapsed_ns == 1_000_000_000
    assert record.measurement.bytes == 64_000 * 1024


def test_a_last_line_without_its_end_is_left_out(read_all: Reader) -> None:
    run = read_all(("a_lat.1.log", "0, 100000, 0, 4096, 0\n5, 120000, 0, 4096, 0\n9, 13"))
    assert run.phases[0].measurement.ios == 2
    assert "a_lat.1.log:3: the last line is truncated" in run.warnings[0]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a_lat.1.log", "0, 1, 0, 4096, 0\n5, 1, 0\n", "a_lat.1.log:2: 3 numbers"),
        ("a_lat.1.log", "0, 1, 0, 4096, 0\n5, 1, 0, 4096\n", "a_lat.1.log:2: 4 numbers after lines of 5"),
        ("a_lat.1.log", "0, 1, 7, 4096, 0\n", "not a read, write or trim"),
        ("a_lat.1.log", f"0, 1, 0, 4096, 0\n{'7' * 200_000}\n", "a_lat.1.log:2: a line of more than 128 KiB"),
        ("a_clat_hist.1.log", hist(1000, 5), "1003 numbers; not a line of fio's clat_hist log"),
    ],
)
def test_what_is_no_log_is_refused_with_its_line(read_all: Reader, name: str, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all((name, text))
    assert says in refused.value.message


def jobs_in_one_file(starts: Sequence[int], op: int = 0, size: int = 4096) -> str:
    """As fio writes it with per_job_logs=0: the lines of one job after those of another, each from its own start."""
    return "".join(
        f"{ms}, {1000 + start}, {op}, {size}, 0\n" for start in starts for ms in range(start, 2000 + start, 2)
    )


def test_jobs_of_one_file_are_rows_of_their_own(read_all: Reader) -> None:
    """Four jobs of 500 IOPS at the same time were one series of as many I/Os in the time of one."""
    run = read_all(("pj_lat.log", jobs_in_one_file((1, 0, 4, 2))), ("pj_iops.log", jobs_in_one_file((1, 0, 4, 2))))
    assert [each.phase.name for each in run.phases] == ["pj #1", "pj #2", "pj #3", "pj #4"]
    for start, record in zip((1, 0, 4, 2), run.phases, strict=True):
        assert record.measurement.ios == 1000
        assert record.measurement.rate_per_s == pytest.approx(500, rel=0.01)
        assert record.measurement.service("read").mean_ns == 1000 + start
        assert record.phase.together == ""  # whether they ran at the same time is not stated
    assert "4 jobs in one file (per_job_logs=0)" in run.warnings[0]


@pytest.mark.parametrize("second", [0, 1])
def test_interval_means_of_two_jobs_are_two_rows(read_all: Reader, second: int) -> None:
    """Reads and then writes too: no direction of its own goes back there."""
    lines = [f"{ms}, {rate}, {op}, 0, 0\n" for rate, op in ((500, 0), (700, second)) for ms in range(100, 1100, 100)]
    run = read_all(("pj_iops.log", "".join(lines)))
    assert [each.measurement.rate_per_s for each in run.phases] == [500, 700]


def test_directions_of_one_job_come_a_little_out_of_order(read_all: Reader) -> None:
    lines = [f"{ms + late}, 500, {op}, 0, 0\n" for ms in range(1000, 9000, 1000) for op, late in ((0, 7), (1, -300))]
    (record,) = read_all(("mix_iops.1.log", "".join(lines))).phases
    assert record.measurement.rate_per_s == pytest.approx(1000, rel=0.05)


def test_files_of_different_numbers_of_jobs_do_not_go_together(read_all: Reader) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("pj_lat.log", jobs_in_one_file((1, 0))), ("pj_bw.log", jobs_in_one_file((1, 0, 2))))
    assert "3 jobs in it, but 2 in" in refused.value.message
    assert "per_job_logs=1" in (refused.value.hint or "")


@pytest.mark.parametrize("packed", [False, True])
def test_every_bucket_is_that_of_our_histograms(tmp_path: Path, packed: bool) -> None:
    """At the edges of the powers of two too, in each of two jobs of a file whose name holds signs of patterns."""
    edges = [value for power in range(52) for value in ((1 << power) - 1, 1 << power, (1 << power) + 1)]
    values = [edges[ms % len(edges)] for ms in range(20_000)]
    lines = [f"{ms}, {value}, {ms % 3}, {512 << ms % 2}, 0, 0x0000\n" for ms, value in enumerate(values)]
    text = ("".join(lines) * 2).encode()
    path = tmp_path / "a[1]*_lat.log"
    path.write_bytes(gzip.compress(text) if packed else text)
    (run,) = importers.read((str(path),))
    assert len(run.phases) == 2
    for record in run.phases:
        for direction, op in enumerate(("read", "write", "trim")):
            own, times = values[direction::3], record.measurement.service(op)
            counts = Counter(map(bucket_index, own))
            assert dict(zip(times.index, times.count, strict=True)) == counts
            assert (times.sum_ns, times.sum_squares) == (sum(own), sum(each * each for each in own))
            assert (times.min_ns, times.max_ns) == (min(own), max(own))


@pytest.mark.parametrize("wrong", ["1.5", "-1", "1e3", "x", "", "9" * 30])
def test_a_large_log_with_a_damaged_line_is_refused_with_its_line(read_all: Reader, wrong: str) -> None:
    lines = [f"{ms}, 1000, 0, 4096, 0\n" for ms in range(60_000)]
    lines[50_000] = f"50000, {wrong}, 0, 4096, 0\n"
    with pytest.raises(SourceError, match=r"a_lat\.1\.log:50001: not all of these are whole numbers"):
        read_all(("a_lat.1.log", "".join(lines)))


def test_priorities_are_hexadecimal(fixtures: Path) -> None:
    """log_prio=1 writes 0x0000 behind each line."""
    (run,) = importers.read((str(fixtures / "logs" / "each_prio_lat.1.log"),))
    assert run.phases[0].measurement.ios == 12
    assert run.phases[0].measurement.bytes == 12 * 4096


def test_of_mean_and_largest_the_mean_is_kept(fixtures: Path) -> None:
    """log_window_value=both puts a column in between."""
    paths = [str(fixtures / "logs" / f"avg_largest_{kind}.1.log") for kind in ("lat", "iops")]
    (run,) = importers.read(tuple(paths))
    (record,) = run.phases
    means = [each.value for each in record.samples if each.metric == "lat_ns"]
    assert means == [93607, 139600, 137318, 151402]
    rates = [each.value for each in record.samples if each.metric == "ios_per_s"]
    assert rates == [10891, 6312, 7316, 6332]


def test_bins_of_several_sizes_do_not_say_what_was_moved(fixtures: Path, tmp_path: Path) -> None:
    """A line names the size of one I/O of its interval."""
    lines = (fixtures / "logs" / "avg_clat_hist.1.log").read_text().splitlines()
    cells = lines[0].split(", ")
    cells[2] = "16384" if cells[2] != "16384" else "8192"
    (tmp_path / "odd_clat_hist.1.log").write_text("\n".join([", ".join(cells), *lines[1:]]) + "\n")
    (run,) = importers.read((str(tmp_path / "odd_clat_hist.1.log"),))
    (record,) = run.phases
    (reads,) = (each for each in record.measurement.classes if each.op == "read")
    assert reads.ios > 0
    assert reads.bytes == 0
    assert "size" in record.unstated


def test_rates_that_are_not_stated_stay_blank(fixtures: Path) -> None:
    """A log of latencies only, or of bytes only, says nothing of I/Os a second: that is no rate of 0."""
    for kind in ("lat", "bw"):
        (run,) = importers.read((str(fixtures / "logs" / f"avg_{kind}.1.log"),))
        out = io.StringIO()
        json_report.render(card_report.card(run, examine(run)), out)
        (row,) = json.loads(out.getvalue())["rows"]
        assert row["rate_per_s"] is None


@pytest.mark.parametrize(("name", "size"), [("avg_bw", "4096"), ("each_bw", "0")])
def test_single_ios_and_means_are_not_mixed(fixtures: Path, tmp_path: Path, name: str, size: str) -> None:
    """One size among means made each of them an I/O."""
    lines = (fixtures / "logs" / f"{name}.1.log").read_text().splitlines()
    cells = lines[2].split(", ")
    lines[2] = ", ".join([*cells[:3], size, *cells[4:]])
    (tmp_path / "odd_bw.1.log").write_text("\n".join(lines) + "\n")
    with pytest.raises(SourceError) as refused:
        importers.read((str(tmp_path / "odd_bw.1.log"),))
    assert "odd_bw.1.log:3: interval means" in refused.value.message
