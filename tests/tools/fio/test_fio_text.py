"""fio's output for people: real output of fio 3.33, and hand-made jobs as fio 1.50, 2 and 3 print them."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from makers.fio_outputs import FIO_1_50

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.renderers.classic import render_run
from iocast.tools import importers
from iocast.tools.fio import fio_text
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


FIO_2 = """\
deep: (g=0): rw=randread, bs=1M-1M/1M-1M/1M-1M, ioengine=libaio, iodepth=4
...
fio-2.16
Starting 2 processes

deep: (groupid=0, jobs=2): err= 0: pid=7: Thu Mar  1 14:19:00 2018
  read : io=1000.0MB, bw=102400KB/s, iops=100, runt= 10000msec
    slat (msec): min=1, max=2, avg= 1.00, stdev= 0.10
    clat (usec): min=13, max=3733.6K, avg=79000.00, stdev=100.00
     lat (msec): min=2, max=3734, avg=80.00, stdev= 0.11
    clat percentiles (msec):
     |  1.00th=[   58], 50.00th=[   78],
     | 99.00th=[   99], 99.99th=[ 3720]
    lat (usec) : 20=0.11%
    lat (msec) : 100=99.79%, 2000=0.05%, >=2000=0.05%
     issued    : total=r=1000/w=0/d=0, short=r=0/w=0/d=0, drop=r=0/w=0/d=0
"""


def of(path: Path) -> Run:
    (run,) = importers.read((str(path),))
    return run


def classic(run: Run, **parts: bool) -> list[str]:
    out = io.StringIO()
    render_run(run, out, **parts)
    return out.getvalue().splitlines()[1:]


def test_it_is_known_by_its_job_lines() -> None:
    assert fio_text.sniff(Head("a", FIO_1_50))
    assert fio_text.sniff(Head("a", "<host> " + FIO_2))
    assert not fio_text.sniff(Head("a", "fio-2.16\nread : io=1\n"))


def test_v1_is_what_fioparse_prints_of_it(read_all: Reader) -> None:
    run = read_all(("v1.out", FIO_1_50))
    assert run.warnings == ()
    assert classic(run, percentiles=False, buckets=False) == [
        "    read  1   8K r   12.106    0.641    0.203   10.221    0.247    1549"
    ]
    (line,) = classic(run, percentiles=False)
    assert line[len("    read  1   8K r   12.106    0.641    0.203   10.221    0.247    1549") :].split() == [
        "92",
        "7",
        "0",
        "0",
    ]
    # No percentiles in 1.50: blank, not 0.000.
    assert classic(run, buckets=False)[0].endswith(",        " * 6)


def test_v1_keeps_what_fio_1_50_states(read_all: Reader) -> None:
    (record,) = read_all(("v1.out", FIO_1_50)).phases
    (part,) = record.measurement.classes
    assert (part.ios, part.bytes, part.size_bytes) == (25_600, 204_800 * 1024, 8192)
    assert record.measurement.elapsed_ns == 16_520_000_000
    assert part.service.stdev_ns == pytest.approx(246_750)
    assert part.service.quantile_bounds_ns(0.5) == (500_000, 750_000)
    assert {"direct", "sync", "arrival"} <= {*record.unstated}


def test_each_line_is_in_the_unit_it_says(read_all: Reader) -> None:
    run = read_all(("two.out", FIO_2))
    (record,) = run.phases
    times = record.measurement.service("read")
    assert (times.mean_ns, times.most_ns) == (80_000_000, 3_734_000_000)
    assert times.quantile_ns(0.9999) == 3_720_000_000
    assert record.measurement.asked_depth == 8
    assert run.warnings == ()
    assert times.coarse is not None
    assert times.coarse.buckets[0].high_ns == 20_000
    assert times.coarse.buckets[-1].high_ns is None


def test_a_line_in_another_unit_than_it_says_is_found(read_all: Reader) -> None:
    wrong = FIO_1_50.replace("lat (usec): min=203 ", "lat (msec): min=203 ")
    assert "in a different unit than it states" in "\n".join(read_all(("wrong.out", wrong)).warnings)


def test_text_and_json_of_one_run_agree(fixtures: Path, read_all: Reader) -> None:
    whole = (fixtures / "fio_all_formats.txt").read_text()
    text = whole[: whole.index("\n3;fio")] + whole[whole.index("\n}\n") + 2 :]
    (spoken,) = read_all(("normal.txt", text)).phases
    (exact,) = of(fixtures / "fio_all_formats.txt").phases
    assert (spoken.plan.users, spoken.plan.depth) == (exact.plan.users, exact.plan.depth)
    assert spoken.measurement.elapsed_ns == exact.measurement.elapsed_ns
    for one, two in zip(spoken.measurement.classes, exact.measurement.classes, strict=True):
        assert (one.op, one.ios, one.bytes) == (two.op, two.ios, two.bytes)
        assert one.service.mean_ns == pytest.approx(two.service.mean_ns, rel=1e-3)
        assert one.service.quantile_ns(0.95) == pytest.approx(two.service.quantile_ns(0.95), rel=0.01)


def test_a_client_puts_its_server_before_the_line(fixtures: Path) -> None:
    (record,) = of(fixtures / "fio_client.txt").phases
    assert (record.phase.name, record.phase.test) == ("remote", "randread")
    assert record.measurement.classes[0].size_bytes == 8192


def test_a_job_that_is_cut_is_left_out_and_named(read_all: Reader) -> None:
    cut = FIO_2.replace("deep", "other").partition("     issued")[0]
    run = read_all(("cut.out", FIO_2 + cut))
    assert [each.phase.name for each in run.phases] == ["deep"]
    assert "cut.out:" in run.warnings[0]
    assert "job other is truncated" in run.warnings[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (FIO_2.partition("     issued")[0], "bad.out:6: the job is truncated"),
        (FIO_2.partition("deep: (groupid")[0], "there is no result of a job in it"),
        (FIO_2.replace("iops=100", "iops=many"), 'bad.out:7: the rate is "many", not a number'),
        (FIO_2.replace("runt= 10000msec", ""), "bad.out:7: I/Os, bytes and run time are unreadable"),
        (FIO_2.replace("r=1000/", "r=x/"), 'a count of I/Os is "x"'),
        (FIO_2.replace("io=1000.0MB", "io=lots"), '"lots" is not an amount of data'),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(read_all: Reader, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.out", text))
    assert says in refused.value.message


def test_count_and_amount_that_differ_are_said(read_all: Reader) -> None:
    run = read_all(("odd.out", FIO_2.replace("io=1000.0MB", "io=500.0MB")))
    assert "are not the 524288000 bytes" in run.warnings[0]
    assert run.phases[0].measurement.bytes == 524_288_000


def test_two_states_of_one_job_count_once(read_all: Reader) -> None:
    block = FIO_2[FIO_2.index("deep: (groupid") :]
    run = read_all(("going.out", FIO_2 + block))
    assert len(run.phases) == 1
    assert "1 earlier states" in run.warnings[0]


def test_fio_1_tells_its_buckets_after_the_counts(read_all: Reader) -> None:
    run = read_all(("cut.out", FIO_1_50.partition("     lat (usec): 100")[0]))
    assert "truncated after the counts of read" in run.warnings[0]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("deep: (groupid=0", "deep: (group=0", "figures of a job whose first line"),
        ("clat percentiles (msec):", "clat percents:", "percentiles without their heading"),
        ("    lat (msec): min=2,", "    lat (msec): minimum 2,", "unreadable latencies"),
        ("lat (usec) : 20=0.11%", "lat (usec) : 20=lots", "unreadable latencies"),
        (
            "     issued ",
            FIO_2[FIO_2.index("  read :") : FIO_2.index("    slat")] + "     issued ",
            "reads after those of",
        ),
    ],
)
def test_a_damaged_line_does_not_give_its_figures_to_another(read_all: Reader, was: str, then: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.out", FIO_2.replace(was, then)))
    assert says in refused.value.message


def test_a_job_whose_first_line_is_lost_is_not_the_one_before(read_all: Reader) -> None:
    second = FIO_2[FIO_2.index("deep: (groupid") :].replace("deep: (groupid=0, jobs=2)", "lost")
    with pytest.raises(SourceError) as refused:
        read_all(("bad.out", FIO_2 + second))
    assert "reads after those of deep: the line that begins a job is damaged" in refused.value.message


def test_percentiles_of_a_priority_are_not_those_of_all(read_all: Reader) -> None:
    """fio 3 tells each priority's after those of all, where there are several."""
    own = "    clat prio 0/0 (5.0% of IOs) percentiles (msec):\n     | 50.00th=[  999], 99.00th=[ 9999]\n"
    one, other = (
        read_all(("a.out", FIO_2)),
        read_all(("a.out", FIO_2.replace("    lat (usec)", f"{own}    lat (usec)"))),
    )
    assert one.phases[0].measurement == other.phases[0].measurement


# fio 3.0 to 3.7 cut 24.989 GiB to whole ones.
CUT_3_7 = """\
a: (g=0): rw=read, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB, ioengine=libaio, iodepth=32
fio-3.7
Starting 1 process

a: (groupid=0, jobs=1): err= 0: pid=7: Thu Mar  1 14:19:00 2018
   read: IOPS=3411, BW=426MiB/s (447MB/s)(24.0GiB/60010msec)
     lat (usec): min=20, max=37340, avg=9375.00, stdev=100.11
   issued rwts: total=204711,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


def test_an_amount_that_fio_cut_is_count_times_size(read_all: Reader) -> None:
    run = read_all(("cut.out", CUT_3_7))
    (part,) = run.phases[0].measurement.classes
    assert (part.bytes, part.size_bytes) == (204_711 * 131_072, 131_072)
    assert run.warnings == ()


def test_an_amount_that_fio_cut_is_rate_times_time_where_the_size_is_unknown(read_all: Reader) -> None:
    (record,) = read_all(("cut.out", CUT_3_7.replace("(R) 128KiB-128KiB", "(R) 4096B-128KiB"))).phases
    assert record.measurement.bytes == round(426 * 1024**2 * 60.01)


def test_an_amount_that_does_not_agree_with_the_rate_is_named(read_all: Reader) -> None:
    """Sizes of another job: neither the amount nor the rate is theirs."""
    run = read_all(("odd.out", CUT_3_7.replace("(R) 128KiB-128KiB", "(R) 64.0KiB-64.0KiB")))
    (part,) = run.phases[0].measurement.classes
    assert (part.bytes, part.size_bytes) == (round(426 * 1024**2 * 60.01), 0)
    assert "are not the" in run.warnings[0]
    exact = read_all(("new.out", CUT_3_7.replace("24.0GiB", "25.0GiB").replace("fio-3.7", "fio-3.33")))
    assert exact.phases[0].measurement.bytes == 204_711 * 131_072
