"""Latency records, by hand in their documented form."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools.latency_map import latency_map
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def dtrace(moment_us: int, few: int, many: int) -> str:
    return f"""\
   3  72639   :tick-10s
<begin record>
timestamp,microsec,{moment_us},2013 Aug 27 10:54:53
label, pread latency measured with DTrace
latencyunit, nanosec
  myhistogram
           value  ------------- Distribution ------------- count
          131072 |                                         0
          262144 |@@@@@@@@                                 {few}
          524288 |@@@@@@@@@@@@@@@@@@@@@@@@                 {many}

<end record>
"""


def pairs(source: str, first: int, label: str = "db file sequential read") -> str:
    return f"""\
<begin record>
timestamp,microsec,{first},x
latencyunit,microsec
label,{label}
datasource,{source}
512,{first}
1024,{2 * first}
<end record>
"""


def test_it_is_known_by_its_records() -> None:
    assert latency_map.sniff(Head("x", dtrace(1, 1, 1)))
    assert not latency_map.sniff(Head("x", "<begin record>\n"))


def test_counts_grow_and_bounds_of_dtrace_are_lower_edges(read_all: Reader) -> None:
    text = dtrace(5_000_000, 10, 30) + dtrace(15_000_000, 110, 130) + dtrace(25_000_000, 210, 330)
    (record,) = read_all(("a.txt", text)).phases
    times = record.measurement.service("read")
    assert times.total == 500
    assert record.measurement.elapsed_ns == 20_000_000_000
    assert times.share_up_to(524_288) == pytest.approx(0.4)
    assert times.quantile_bounds_ns(0.5) == (524_288, 1_048_576)
    assert times.mean_ns != times.mean_ns


@pytest.mark.parametrize(("source", "low"), [("oracle", 512_000), ("systemtap", 1_024_000), ("bpf", 1_024_000)])
def test_bounds_of_oracle_are_upper_edges(read_all: Reader, source: str, low: int) -> None:
    (record,) = read_all(("a.txt", pairs(source, 1) + pairs(source, 11))).phases
    assert record.measurement.service("read").quantile_bounds_ns(0.9) == (low, 2 * low)


def test_a_record_without_its_end_is_left_out(read_all: Reader) -> None:
    run = read_all(("a.txt", dtrace(5_000_000, 10, 30) + dtrace(15_000_000, 110, 130)[:-30]))
    assert run.phases[0].measurement.ios == 40
    assert "length" in run.phases[0].unstated
    assert "the last record is truncated" in run.warnings[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (dtrace(5, 10, 30)[:-30], "it has no complete record"),
        (dtrace(5, 10, 30) + dtrace(15, 9, 30), "the count of bucket 262144 fell"),
        (dtrace(5, 10, 30).replace("nanosec", "jiffies"), 'bad.txt:5: "jiffies" is not a unit'),
        (dtrace(5, 10, 30).replace("pread", "open"), "says neither read nor write"),
        (pairs("somewhere", 1), "its source is unknown"),
        (dtrace(5, 10, 30).replace("@ ", "@?", 1), "an unreadable bucket"),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.txt", text))
    assert says in refused.value.message


def cluster(first: int) -> str:
    """Two instances of gv$event_histogram, whose order changes from one record to the next."""
    one, other = f"1, {first}\n2, {10 * first}\n4, 5\n", "1, 1000\n2, 7\n"
    return f"""\
<begin record>
timestamp, musec, {first * 3_000_000},26-AUG-13 04.26.51.653754 PM +02:00
label,db file sequential read latency data from gv$event_histogram
latencyunit, millisec
{one + other if first % 2 else other + one}<end record>
"""


def test_equal_bounds_of_instances_are_added_up(read_all: Reader) -> None:
    """The last instance of a record took the place of the others: 1,237,243 waits were shown as 55."""
    (record,) = read_all(("rac.txt", cluster(1) + cluster(2) + cluster(3))).phases
    times = record.measurement.service("read")
    assert times.total == 2 + 20
    assert record.measurement.elapsed_ns == 6_000_000_000
    assert times.quantile_bounds_ns(0.5) == (1_000_000, 2_000_000)  # Oracle's bounds are upper edges
    assert times.share_up_to(1_000_000) == pytest.approx(2 / 22)


def test_each_label_of_a_file_is_a_row(read_all: Reader) -> None:
    """Only the label of the last record was read, and the counts of both were subtracted from each other."""
    reads, writes = "db file sequential read", "log file single write"
    text = pairs("oracle", 1) + pairs("oracle", 100, writes) + pairs("oracle", 11) + pairs("oracle", 150, writes)
    run = read_all(("a.txt", text))
    assert [(each.phase.name, each.measurement.ios) for each in run.phases] == [(reads, 30), (writes, 150)]


def test_midnight_is_between_two_records(read_all: Reader) -> None:
    """Oracle's scripts give the time since midnight: the file was refused."""
    late, early = 86_399_000_000, 2_000_000
    first = pairs("oracle", 1).replace("timestamp,microsec,1,", f"timestamp,microsec,{late},")
    then = pairs("oracle", 11).replace("timestamp,microsec,11,", f"timestamp,microsec,{early},")
    (record,) = read_all(("a.txt", first + then)).phases
    assert record.measurement.elapsed_ns == 3_000_000_000
