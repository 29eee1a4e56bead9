"""ioping: real output of 1.3, in words and raw."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers, ioping
from iocast.tools.source_files import Head

Reader = Callable[..., Run]


def test_its_statistics_are_a_row(fixtures: Path) -> None:
    text = (fixtures / "ioping.txt").read_text()
    assert ioping.sniff(Head("x", text))
    (run,) = importers.read((str(fixtures / "ioping.txt"),))
    (record,) = run.phases
    (part,) = record.measurement.classes
    assert (part.op, part.ios, part.size_bytes, part.bytes) == ("read", 3, 4096, 3 * 4096)
    times = part.service.coarse
    assert times is not None
    assert (times.min_ns, times.mean_ns, times.max_ns) == (907_600, 1_370_000, 2_090_000)
    assert record.measurement.rate_per_s == pytest.approx(4 / 0.3013)
    assert "arrival" in record.unstated  # most of the time it waited
    assert record.plan.files[0].path


def test_raw_lines_are_nanoseconds(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "ioping_raw.txt"),))
    values = [int(word) for word in (fixtures / "ioping_raw.txt").read_text().split()]
    times = run.phases[0].measurement.classes[0].service.coarse
    assert times is not None
    assert (times.min_ns, times.mean_ns, times.max_ns) == tuple(values[4:7])
    assert "reads are assumed" in run.warnings[0]


def test_thousands_are_rounded(read_all: Reader) -> None:
    text = """\
--- /tmp (ext4 /dev/vda 252.0 GiB) ioping statistics ---
9.71 k requests completed in 959.8 ms, 37.9 MiB written, 10.1 k iops, 39.5 MiB/s
generated 9.71 k requests in 1.00 s, 37.9 MiB, 9.71 k iops, 37.9 MiB/s
min/avg/max/mdev = 39.1 us / 98.8 us / 8.66 ms / 422.5 us
"""
    (record,) = read_all(("i.txt", text)).phases
    assert record.measurement.classes[0].op == "write"
    assert record.measurement.rate_per_s == pytest.approx(9710)
    assert {"ios", "size"} <= {*record.unstated}


@pytest.mark.parametrize(
    ("cut", "was", "then", "says"),
    [
        ("\n---", "", "", "ioping was killed"),
        ("", "4.10 ms", "4.10 fortnights", "is no unit of ioping"),
        ("", "907.6 us /", "9.7.6 us /", "a value is"),
    ],
)
def test_what_cannot_be_read_is_refused(
    fixtures: Path, read_all: Reader, cut: str, was: str, then: str, says: str
) -> None:
    text = (fixtures / "ioping.txt").read_text()
    with pytest.raises(SourceError) as refused:
        read_all(("i.txt", (text.partition(cut)[0] if cut else text).replace(was, then)))
    assert says in refused.value.message
