"""vdbench's pages, by hand in their documented form; the averages of vector V12."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Closed, Poisson, Sequential, Uniform
from iocast.tools import importers
from iocast.tools.source_files import Head
from iocast.tools.vdbench import vdbench

Reader = Callable[..., Run]

NAMES = [
    *("tod", "Run", "Interval", "reqrate", "rate", "MB/sec", "bytes/io", "read%", "resp", "read_resp", "write_resp"),
    *("resp_max", "resp_std", "xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "lunsize", "version"),
    "queue_depth",
]


def flat(name: str, rates: tuple[float, ...], *, read: float = 100.0, asked: float = 100.0, **cells: str) -> str:
    """Rows of one run: its intervals (a second apart), then its average without the first."""
    rows = []
    for number, rate in enumerate(rates, 1):
        rows.append(_row(f"10:00:{number:02}.000", name, str(number), rate, read, asked, cells))
    mean = sum(rates[1:]) / (len(rates) - 1)
    rows.append(_row(f"10:00:{len(rates):02}.010", name, f"avg_2-{len(rates)}", mean, read, asked, cells))
    return "".join(rows)


def _row(tod: str, name: str, interval: str, rate: float, read: float, asked: float, cells: dict[str, str]) -> str:
    row = dict.fromkeys(NAMES, "n/a") | {
        "tod": tod,
        "Run": name,
        "Interval": interval,
        "reqrate": f"{asked:.4f}",
        "rate": f"{rate:.4f}",
        "MB/sec": f"{rate * 8192 / 2**20:.4f}",
        "bytes/io": "8192",
        "read%": f"{read:.4f}",
        "resp": "5.0000",
        "resp_max": "40.0000",
        "resp_std": "2.5000",
        "xfersize": "8192",
        "threads": "4.0000",
        "seekpct": "100.0000",
    }
    return " ".join({**row, **cells}[key] for key in NAMES) + "\n"


HEAD = "<pre>\n*\n* Run : Name of run from RD=\n*\n" + " ".join(NAMES) + "\n"

SUMMARY = """\
<pre>
Vdbench summary report, created 10:00:00 Dec 01 2016 PST

<a name="_1"></a><i><b>10:00:00.000 Starting RD=rd1; I/O rate: 100; elapsed=5; For loops: threads=4</b></i>

Dec 01, 2016  interval        i/o   MB/sec   bytes   read     resp     read    write     resp     resp queue  cpu%  cpu%
                             rate  1024**2     i/o    pct     time     resp     resp      max   stddev depth sys+u   sys
10:00:01.000         1      99.00     0.77    8192  60.00    5.000    8.000    0.500   40.000    2.500   0.5   1.0   0.5
10:00:02.000         2     103.00     0.80    8192  60.00    5.000    8.000    0.500   40.000    2.500   0.5   1.0   0.5
10:00:05.010   avg_2-5     104.50     0.82    8192  60.00    5.000    8.000    0.500   40.000    2.500   0.5   1.0   0.5
"""

HISTOGRAM = """\
<pre>
Total response time histogram.

<a name="_1"></a><i><b>10:00:00.000 Starting RD=rd1; I/O rate: 100; elapsed=4 warmup=1; For loops: threads=4</b></i>

Reads and writes:
  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

    0.000 <       4.000        1,000  95.0000  95.0000
    4.000 <         max           50   5.0000 100.0000

Reads:
  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

    0.000 <       4.000          600  92.3077  92.3077
    4.000 <         max           50   7.6923 100.0000

Writes:
  min(ms) <     max(ms)        count       %%    cum%%  '+': Individual%; '+-': Cumulative%

    0.000 <       4.000          400 100.0000 100.0000
    4.000 <         max            0   0.0000 100.0000
"""


def test_it_is_known_by_its_headings() -> None:
    for text in (HEAD, SUMMARY, HISTOGRAM):
        assert vdbench.sniff(Head("x", text))
    assert not vdbench.sniff(Head("x", "<pre>\nsd=a,lun=b\n"))


def test_v12_the_average_leaves_the_first_interval_out(read_all: Reader) -> None:
    run = read_all(("flatfile.html", HEAD + flat("rd1", (90.0, 103.0, 103.0, 106.0, 106.0))))
    (record,) = run.phases
    assert record.measurement.rate_per_s == pytest.approx(104.5)
    assert record.measurement.elapsed_ns == 4_000_000_000
    assert [sample.value for sample in record.samples if sample.metric == "ios_per_s"] == [90, 103, 103, 106, 106]


def test_a_row_says_its_load(read_all: Reader) -> None:
    text = HEAD + flat("curve", (800.0,) * 5, asked=999_988.0) + flat("paced", (100.0,) * 5, seekpct="0.0000")
    first, second = read_all(("flatfile.html", text)).phases
    assert (first.plan.users, first.plan.depth) == (4, 1)
    assert (first.phase.workload.arrival, first.phase.workload.locality) == (Closed(), Uniform())
    assert (second.phase.workload.arrival, second.phase.workload.locality) == (Poisson(100.0), Sequential())
    assert first.measurement.response("read").mean_ns == 5_000_000
    assert second.measurement.response().total == 0
    assert second.measurement.service("read").mean_ns == 5_000_000
    assert "ios" in first.unstated


def test_reads_and_writes_have_their_own_means_only(read_all: Reader) -> None:
    text = HEAD + flat("mix", (100.0,) * 5, read=70.0, read_resp="7.0", write_resp="0.3333")
    (record,) = read_all(("flatfile.html", text)).phases
    reads, writes = record.measurement.classes
    assert (reads.ios, writes.ios) == (280, 120)
    assert (reads.service.mean_ns, writes.service.mean_ns) == (7_000_000, 333_300)
    assert reads.service.most_ns != reads.service.most_ns  # the largest is of both together


def test_an_old_layout_without_them_states_none(read_all: Reader) -> None:
    (record,) = read_all(("flatfile.html", HEAD + flat("mix", (100.0,) * 5, read=70.0))).phases
    mean = record.measurement.classes[0].service.mean_ns
    assert mean != mean


def test_a_csv_is_the_same(read_all: Reader) -> None:
    lines = (" ".join(NAMES) + "\n" + flat("rd1", (100.0,) * 5)).replace("tod", "date").splitlines()
    text = "\n".join(",".join(f'"{cell}"' for cell in line.split()) for line in lines) + "\n"
    (record,) = read_all(("flatfile.csv", text)).phases
    assert record.measurement.rate_per_s == pytest.approx(100)


def test_a_summary_names_its_columns_in_two_lines(read_all: Reader) -> None:
    (record,) = read_all(("summary.html", SUMMARY)).phases
    assert record.measurement.rate_per_s == pytest.approx(104.5)
    assert record.measurement.elapsed_ns == 4_000_000_000
    assert record.plan.users == 4
    reads, writes = record.measurement.classes
    assert (reads.service.mean_ns, writes.service.mean_ns) == (8_000_000, 500_000)


def test_flatfile_and_histogram_complete_each_other(read_all: Reader) -> None:
    text = HEAD + flat("rd1", (100.0,) * 5, read=60.0, read_resp="8.0", write_resp="0.5")
    run = read_all(("histogram.html", HISTOGRAM), ("flatfile.html", text))
    (record,) = run.phases
    reads, writes = record.measurement.classes
    assert reads.service.mean_ns == 8_000_000
    assert reads.service.quantile_bounds_ns(0.9) == (0, 4_000_000)
    assert writes.service.share_up_to(4_000_000) == 1
    assert "warm-up" in "".join(run.source.notes if run.source else ())


def test_a_histogram_alone_counts_the_warm_up(read_all: Reader) -> None:
    (record,) = read_all(("histogram.html", HISTOGRAM)).phases
    assert [part.ios for part in record.measurement.classes] == [650, 400]
    assert record.measurement.elapsed_ns == 5_000_000_000


def test_a_queue_that_cannot_be_is_said(read_all: Reader) -> None:
    run = read_all(("flatfile.html", HEAD + flat("rd1", (800.0,) * 5, queue_depth="9.0")))
    assert "rate x time gives 4 outstanding I/Os, its own queue depth says 9" in run.warnings[0]


def test_a_run_without_its_average_is_left_out(read_all: Reader) -> None:
    cut = flat("rd2", (100.0,) * 5).splitlines(keepends=True)[:3]
    run = read_all(("flatfile.html", HEAD + flat("rd1", (100.0,) * 5) + "".join(cut)))
    assert [record.phase.name for record in run.phases] == ["rd1"]
    assert "run rd2 has no average" in run.warnings[0]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("flatfile.html", HEAD + "".join(flat("rd1", (9.0,) * 3).splitlines(True)[:2]), "it has no average"),
        ("flatfile.html", HEAD + flat("a", (9.0,) * 3).replace("9.0000", "x", 1), 'flatfile.html:6: rate is "x"'),
        ("flatfile.html", HEAD + "10:00:01.000 rd1 1\n" + flat("a", (9.0,) * 3), "3 values under 22 headings"),
        ("histogram.html", HISTOGRAM[: HISTOGRAM.rindex("    4.000")], "truncated before its last bucket"),
        ("histogram.html", HISTOGRAM[: HISTOGRAM.index("Reads:\n")], "do not separate reads and writes"),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, name: str, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all((name, text))
    assert says in refused.value.message


def test_two_flatfiles_are_two_runs(read_all: Reader) -> None:
    text = HEAD + flat("rd1", (100.0,) * 5)
    with pytest.raises(SourceError, match="a second flatfile beside"):
        read_all(("one.html", text), ("two.html", text))


def test_a_run_whose_first_line_is_damaged_does_not_replace_the_one_before(read_all: Reader) -> None:
    second = SUMMARY.replace("Starting RD=rd1", "rd2")
    with pytest.raises(SourceError) as refused:
        read_all(("summary.html", SUMMARY + second))
    assert "the first line of the next run is damaged" in refused.value.message


def test_a_run_without_any_line_is_told(read_all: Reader) -> None:
    lines = SUMMARY.splitlines(keepends=True)
    start = next(line for line in lines if "Starting RD" in line)
    run = read_all(("summary.html", SUMMARY + start.replace("rd1", "rd9")))
    assert len(run.phases) == 1
    assert any("run rd9 has no average" in warning for warning in run.warnings)


def test_a_row_of_another_width_is_refused(read_all: Reader) -> None:
    at = next(line for line in SUMMARY.splitlines() if "avg_" in line)
    with pytest.raises(SourceError) as refused:
        read_all(("summary.html", SUMMARY.replace(at, at.rsplit(None, 1)[0])))
    assert "values under" in refused.value.message


def test_more_than_all_reads_are_refused(read_all: Reader) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("flatfile.html", HEAD + flat("one", (100, 100, 100), read=150.0)))
    assert "150 % of the I/Os are reads" in refused.value.message


def test_buckets_of_writes_are_never_taken_for_reads(read_all: Reader) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("histogram.html", HISTOGRAM.replace("Writes:", "Wrote:")))
    assert "buckets start again" in refused.value.message


def test_reads_and_writes_apart_are_all_of_them(read_all: Reader) -> None:
    cut = HISTOGRAM[: HISTOGRAM.index("Writes:")]
    with pytest.raises(SourceError) as refused:
        read_all(("histogram.html", cut))
    assert "do not add up to its I/Os" in refused.value.message


@pytest.mark.parametrize("span", ["avg_2-0", "avg_0-0", "avg_0-5"])
def test_an_average_of_no_interval_is_refused(read_all: Reader, span: str) -> None:
    """It was a division by zero."""
    stated = next(word for word in SUMMARY.split() if word.startswith("avg_"))
    with pytest.raises(SourceError) as refused:
        read_all(("summary.html", SUMMARY.replace(stated, span)))
    assert "is not a range of intervals" in refused.value.message


MIXED = {"xfersize": "4096", "bytes/io": "63488", "MB/sec": "232.0000"}  # xfersize=(4k,10,64k,...): the first of them


def test_of_mixed_sizes_the_bytes_are_those_it_states(read_all: Reader) -> None:
    """3832 I/Os a second of 63.5 kB were shown as 15 MB/s: the page names the first size of a mix."""
    (record,) = read_all(("flatfile.html", HEAD + flat("mix", (3831.7,) * 5, **MIXED))).phases
    assert record.measurement.bytes_per_s == pytest.approx(232 * 2**20)
    assert "size" in record.unstated


def test_of_mixed_sizes_the_division_of_bytes_is_told(read_all: Reader) -> None:
    run = read_all(("flatfile.html", HEAD + flat("mix", (3831.7,) * 5, read=60.0, **MIXED)))
    assert sum(part.bytes for part in run.phases[0].measurement.classes) == pytest.approx(232 * 2**20 * 4, rel=1e-6)
    assert "mix: sizes are mixed; its bytes are divided between reads and writes as its I/Os are" in run.warnings


def test_a_for_loop_repeats_the_name_of_its_run(read_all: Reader) -> None:
    """The second was refused as a damaged first."""
    flatfile = HEAD + flat("rd1", (100.0,) * 3) + flat("rd1", (200.0,) * 3, threads="8.0000")
    looped = SUMMARY + SUMMARY[SUMMARY.index("<a name") :].replace("threads=4", "threads=8").replace("104.50", "204.50")
    for page, rates in ((("flatfile.html", flatfile), [100, 200]), (("summary.html", looped), [104.5, 204.5])):
        run = read_all(page)
        assert [record.measurement.rate_per_s for record in run.phases] == pytest.approx(rates)
        assert [record.phase.name for record in run.phases] == ["rd1 4x1", "rd1 8x1"]


def test_threads_count_for_each_sd(read_all: Reader) -> None:
    """Ten SDs with two threads each were one load of two users."""
    run = read_all(("flatfile.html", HEAD + flat("rd1", (4000.0,) * 5, threads="2.0000", queue_depth="20.0")))
    assert "users" in run.phases[0].unstated


def test_words_that_are_numbers_below_0_are_words(read_all: Reader) -> None:
    """seekpct=seqnz is -2, threads that differ are -1: the page was refused."""
    text = HEAD + flat("rd1", (100.0,) * 5, seekpct="-2.0000", threads="-1.0000")
    (record,) = read_all(("flatfile.html", text)).phases
    assert record.phase.workload.locality == Sequential()
    assert "users" in record.unstated


# Version 5.04.07: maxima of reads and of writes, and a format run that ended in its first interval.
FIXTURES = Path(__file__).parents[1] / "fixtures"
NEW_SUMMARY = (FIXTURES / "vdbench_new_summary.html").read_text()
NEW_HISTOGRAM = (FIXTURES / "vdbench_new_histogram.html").read_text()
UNPARTED = NEW_HISTOGRAM[: NEW_HISTOGRAM.index("Reads:\n")]
FILES = (FIXTURES / "vdbench_files_summary.html").read_text()  # a file system run
FILES_FLAT = (FIXTURES / "vdbench_files_flatfile.html").read_text()


def test_a_format_run_without_an_average_does_not_refuse_the_others(read_all: Reader) -> None:
    run = read_all(("summary.html", NEW_SUMMARY))
    assert [record.phase.name for record in run.phases] == ["rd1"]
    assert "run SD_format ended before its second interval: left out" in run.warnings[0]
    reads, writes = run.phases[0].measurement.classes
    assert (reads.service.coarse.max_ns, writes.service.coarse.max_ns) == (100_000, 140_000)  # type: ignore[union-attr]


def test_a_newer_histogram_begins_after_the_first_interval(read_all: Reader) -> None:
    """420 I/Os of four seconds were shown over five."""
    (alone,) = read_all(("histogram.html", NEW_HISTOGRAM)).phases
    assert [part.ios for part in alone.measurement.classes] == [252, 168]
    assert "length" in alone.unstated
    run = read_all(("histogram.html", NEW_HISTOGRAM), ("summary.html", NEW_SUMMARY))
    assert "warm-up" not in "".join(run.source.notes if run.source else ())


@pytest.mark.parametrize(("share", "op"), [("100.00", "read"), ("0.00", "write")])
def test_a_histogram_of_pure_reads_or_writes_is_theirs(read_all: Reader, share: str, op: str) -> None:
    summary = NEW_SUMMARY.replace("60.00", share)
    (record,) = read_all(("histogram.html", UNPARTED), ("summary.html", summary)).phases
    (part,) = record.measurement.classes
    assert (part.op, part.service.share_up_to(20_000)) == (op, pytest.approx(0.6))
    stated = UNPARTED.replace("For loops: None", f"For loops: rdpct={share}")
    (record,) = read_all(("histogram.html", stated)).phases
    assert [part.op for part in record.measurement.classes] == [op]


def files(name: str, head: str) -> tuple[str, str]:
    """A page of the same figures: of the whole run, or of a part of it."""
    return f"{name}.html", FILES.replace("Vdbench summary report, created 11:46:26 Apr 11 2019 UTC", head)


def test_a_file_system_run_is_its_reads_and_writes(read_all: Reader) -> None:
    run = read_all(("summary.html", FILES))
    made, did = run.phases
    assert (made.phase.name, [part.op for part in made.measurement.classes]) == ("format_for_rd1", ["write"])
    reads, writes = did.measurement.classes
    assert (reads.ios, writes.ios) == (750 * 59, 250 * 59)
    assert (reads.service.mean_ns, writes.service.mean_ns) == (1_500_000, 3_000_000)
    assert (reads.bytes, writes.bytes) == (round(2.25 * 2**20 * 59), round(1.5 * 2**20 * 59))
    assert {"users", "size"} <= {*did.unstated}
    assert "rd1: file operations besides reads and writes are left out: open 42.8/s, close 42.8/s" in run.warnings
    assert [sample.value for sample in did.samples if sample.metric == "ios_per_s"] == [1600, 1000]


def test_the_flatfile_of_a_file_system_run_has_maxima_and_spread(read_all: Reader) -> None:
    (record,) = read_all(("flatfile.html", FILES_FLAT)).phases
    times = record.measurement.classes[0].service.coarse
    assert times is not None
    assert (times.mean_ns, times.stdev_ns, times.max_ns) == (1_500_000, 4_500_000, 86_500_000)
    assert record.measurement.rate_per_s == pytest.approx(1000)


def test_a_whole_output_folder_is_one_run(tmp_path: Path) -> None:
    """Pages of hosts and slaves repeat the figures of the whole run; the others have none."""
    pages = dict(
        [
            ("summary.html", FILES),
            files("totals", "Run totals"),
            files("localhost", "Host summary report(s) for host=localhost"),
            files("fwd1", "Report for fwd fwd1"),
            ("parmfile.html", "<title>Vdbench output/parmfile.html</title><pre>\nfsd=fsd1\n"),
        ]
    )
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "swat_mon.bin").write_bytes(b"\0\1")
    (run,) = importers.read((str(tmp_path),))
    assert [record.phase.name for record in run.phases] == ["format_for_rd1", "rd1"]
    assert (
        "Pages without results of the whole run are left out: parmfile.html, fwd1.html, localhost.html." in run.warnings
    )
    (part,) = importers.read((str(tmp_path / "fwd1.html"),))
    assert len(part.phases) == 2
    with pytest.raises(SourceError, match="no page of results"):
        importers.read((str(tmp_path / "parmfile.html"),))


def test_a_folder_without_known_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(SourceError, match="has no file of a format that iocast knows"):
        importers.read((str(tmp_path),))


@pytest.mark.parametrize("name", ["flatfile.html", "summary.html", "histogram.html"])
def test_a_decimal_comma_is_no_comma_of_thousands(tmp_path: Path, name: str) -> None:
    """0,348 ms were read as 348."""
    text = (Path(__file__).parents[1] / "examples" / f"vdbench_{name}").read_text()
    (tmp_path / name).write_text(re.sub(r"(?<=[\s<]\d)\.(?=\d)|(?<!:\d\d)(?<=\d\d)\.(?=\d+\s)", ",", text))
    with pytest.raises(SourceError, match=r'is "\d+,\d+", not a number'):
        importers.read((str(tmp_path / name),))
