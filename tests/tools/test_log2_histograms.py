"""Printed histograms in powers of two, by hand in the form of each tool."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers, log2_histograms
from iocast.tools.source_files import Head

Reader = Callable[..., Run]
BANNER = "Tracing block device I/O... Hit Ctrl-C to end.\n"
BCC = "     usecs : count     distribution\n 4 -> 7 : 3 |***|\n\n"
FTRACE = """
  >=(ms) .. <(ms)   : I/O      |Distribution                          |
       0 -> 1       : 0        |                                      |
       4 -> 8       : 3        |######################################|

"""


def rows(run: Run) -> list[tuple[str, str, int]]:
    return [(each.phase.name, each.measurement.classes[0].op, each.measurement.ios) for each in run.phases]


def test_flags_of_biolatency_are_rows_with_their_mean(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "log2_bcc.txt"),))
    assert rows(run) == [("Read 09:30:01", "read", 40), ("Sync-Write 09:30:01", "write", 5)]
    times = run.phases[0].measurement.service("read")
    assert times.mean_ns == 110_500
    assert times.quantile_bounds_ns(0.5) == (64_000, 128_000)
    assert times.quantile_bounds_ns(0.99) == (256_000, 512_000)
    assert {"length", "size", "users", "depth"} <= {*run.phases[0].unstated}
    assert "left out: 1 of 3 histograms" in run.warnings[0]


def test_iolatency_of_the_slides_has_its_rate(read_all: Reader) -> None:
    """source-vectors V18: 4,012 I/Os in 10 s, most of them between 4 and 8 ms."""
    counts = (95, 74, 475, 2035, 1245, 37, 11, 7, 23, 10)
    bounds = [0, *(1 << power for power in range(len(counts)))]
    lines = "".join(
        f"{low:8d} -> {high:<8d}: {count:<8d} |{'#' * math.ceil(38 * count / max(counts)):<38}|\n"
        for (low, high), count in zip(pairwise(bounds), counts, strict=True)
    )
    head = "Tracing block I/O. Output every 10 seconds. Ctrl-C to end.\n\n" + FTRACE.splitlines(keepends=True)[1]
    (record,) = read_all(("a.txt", f"{head}{lines}\n")).phases
    assert (record.measurement.ios, record.ios_per_s) == (4012, pytest.approx(401.2))
    assert record.measurement.service("io").quantile_bounds_ns(0.5) == (4_000_000, 8_000_000)


def test_maps_of_bpftrace_have_letters_for_powers_of_1024(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "log2_bpftrace.txt"),))
    assert rows(run) == [("@read_usecs", "read", 25), ("@write_usecs", "write", 7)]
    reads = run.phases[0].measurement.service("read")
    assert reads.quantile_bounds_ns(0.1) == (0, 1_000)
    assert reads.quantile_bounds_ns(0.99) == (1_024_000, 2_048_000)
    bounds = run.phases[1].measurement.service("write").quantile_bounds_ns(0.5)
    assert bounds == ((4 << 20) * 1_000, (8 << 20) * 1_000)


def test_quantize_and_hist_log_have_the_unit_in_the_line_above(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "log2_dtrace.txt"),))
    assert rows(run) == [("sda read ns", "read", 20), ("sda write ns", "write", 4)]
    assert run.phases[0].measurement.service("read").quantile_bounds_ns(0.2) == (32_768, 65_536)
    (tap,) = importers.read((str(fixtures / "log2_systemtap.txt"),))
    assert rows(tap) == [("pread latency us", "read", 51)]
    assert tap.phases[0].measurement.service("read").quantile_bounds_ns(0.99) == (1_024_000, 2_048_000)


def test_what_was_printed_again_may_hold_what_came_before(read_all: Reader) -> None:
    text = "@read_us:\n[1, 2)  7 |@@@|\n\n"
    assert log2_histograms.CUMULATIVE in read_all(("a.txt", 2 * text)).warnings
    assert log2_histograms.CUMULATIVE not in read_all(("a.txt", text)).warnings


def test_a_cut_histogram_is_left_out(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "log2_bpftrace.txt").read_text()
    run = read_all(("a.txt", text[: text.rindex("|")]))
    assert rows(run) == [("@read_usecs", "read", 25)]
    assert any("cut: left out" in each for each in run.warnings)
    drawn = (fixtures / "log2_dtrace.txt").read_text()
    run = read_all(("b.txt", drawn[: drawn.rindex("               1 |")]))
    assert rows(run) == [("sda read ns", "read", 20)]
    assert any("no empty last bucket: it was cut" in each for each in run.warnings)


@pytest.mark.parametrize(
    ("text", "says", "way_out"),
    [
        ("@usecs:\n[1, 2)  7 |@@@|\n\n", "do not say whether they count reads or writes", "biolatency -F"),
        (f"Tracing run queue latency... Hit Ctrl-C to end.\n{BCC}", "do not say whether they count", "biolatency -F"),
        (f"flags = Flush\n{BCC}", "do not say whether they count reads or writes", "biolatency -F"),
        ("@read:\n[1, 2)  7 |@@@|\n\n", 'bad.txt:1: the histogram "@read" does not state its unit', "@read_us"),
        ("flags = Read\n Kbytes : count distribution\n 4 -> 7 : 3 |***|\n\n", '"Kbytes" is not a unit of time', ""),
        ("@read_us:\n[1, 3)  7 |@@@|\n\n", "bad.txt:2: a bucket from 1 that is not one of powers", "hist()"),
        ("@read_us:\n[4, 8)  7 |@@@|\n[2, 4)  7 |@@@|\n\n", "does not lie after the one before", ""),
        ("@read_us:\n[4, 8)  7 |@@@|\n[8, 16)  x |@@@|\n\n", "bad.txt:3: an unreadable bucket", ""),
        ("read us\n value ----- Distribution ----- count\n < 0 | 0\n 0 |@@ 5\n 10 | 0\n\n", "an unreadable bucket", ""),
        (" usecs : count distribution\n 0 : 12 |***|\n\n", "an unreadable bucket", ""),
        (
            "flags = Read\n usecs : count distribution\n 4 -> 7 : 3 |***|\navg = 5 usecs, total: 15 usecs, count: 4\n",
            "its buckets hold 3 I/Os, the line under them says 4",
            "",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, text: str, says: str, way_out: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.txt", text))
    assert says in refused.value.message
    assert way_out in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("head", "names", "unit_ns"),
    [
        (f"{BANNER}^C\n{BCC}", ["all I/O"], 1_000),
        (f"{BANNER}\n06:20:16\n{BCC}\n06:20:17\n{BCC}", ["all I/O 06:20:16", "all I/O 06:20:17"], 1_000),
        (BCC.replace("usecs", "msecs"), ["all I/O"], 1_000_000),
        (f"{BANNER}\ndisk = b'sda'\n{BCC}\nBucket disk = 'sdb'\n{BCC}", ["sda", "sdb"], 1_000),
        (f"Attaching 3 probes...\n{BANNER}\n@usecs:\n[4, 8)  3 |@@@|\n\n", ["@usecs"], 1_000),
        (f"Tracing block I/O. Output every 1 seconds. Ctrl-C to end.\n{FTRACE}", ["all I/O"], 1_000_000),
    ],
)
def test_i_os_of_an_unknown_direction_are_rows(read_all: Reader, head: str, names: list[str], unit_ns: int) -> None:
    """What biolatency, biolatency.bt and iolatency print without options: no reads and no writes, but I/Os."""
    run = read_all(("a.txt", head))
    assert rows(run) == [(name, "io", 3) for name in names]
    assert run.phases[0].measurement.service("io").quantile_bounds_ns(0.5) == (4 * unit_ns, 8 * unit_ns)
    assert log2_histograms.EITHER in run.warnings
    assert run.phases[0].measurement.service("read").total == 0


def test_one_histogram_has_the_mean_of_the_line_below_it(read_all: Reader) -> None:
    (record,) = read_all(("a.txt", f"{BANNER}{BCC}\navg = 5 usecs, total: 15 usecs, count: 3\n")).phases
    assert record.measurement.service("io").mean_ns == 5_000


def test_the_way_out_for_bcc_works(read_all: Reader) -> None:
    assert rows(read_all(("a.txt", f"operation = 'read'\n{BCC}"))) == [("read", "read", 3)]


def test_words_that_look_like_a_heading_are_no_histogram() -> None:
    for text in ("@someone:\nhello\n", "usecs : count distribution\n", "value ---- Distribution ---- count\nnone\n"):
        assert not log2_histograms.sniff(Head("x", text))


def test_lines_of_biolatency_j_are_histograms(fixtures: Path) -> None:
    """By hand in the form of bcc: it needs root and a kernel with headers."""
    (run,) = importers.read((str(fixtures / "log2_bcc_json.txt"),))
    assert rows(run) == [("Read 09:30:01", "read", 40), ("Sync-Write 09:30:01", "write", 5)]
    assert run.phases[0].measurement.service("read").quantile_bounds_ns(0.5) == (4_000, 8_000)
    assert {"length", "size"} <= {*run.phases[0].unstated}


def test_lines_of_biolatency_j_of_disks_count_both(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "log2_bcc_json.txt").read_text().replace("'flags': '", "'disk': b'")
    run = read_all(("x.txt", text))
    assert log2_histograms.EITHER in run.warnings
    assert [each.plan.files[0].path for each in run.phases] == ["Read", "Sync-Write"]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("'interval-end': 3,", "'interval-end': 4,", "not one of powers of two"),
        ("], 'flags': 'Read'}", "], 'fla", r"x\.txt:2: a line of JSON"),
        ("usecs", "kbytes", '"kbytes" is not a unit of time'),
    ],
)
def test_other_lines_of_json_are_refused(was: str, then: str, says: str, read_all: Reader, fixtures: Path) -> None:
    with pytest.raises(SourceError, match=says):
        read_all(("x.txt", (fixtures / "log2_bcc_json.txt").read_text().replace(was, then)))
