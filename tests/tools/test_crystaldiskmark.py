"""CrystalDiskMark's text, by hand in the form of its versions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.tools import crystaldiskmark, importers
from iocast.tools.source_files import Head

Reader = Callable[..., Run]

OLD = """\
CrystalDiskMark 3.0.1 (C) 2007-2010 hiyohiyo
* MB/s = 1,000,000 byte/s [SATA/300 = 300,000,000 byte/s]

           Sequential Read :   505.825 MB/s
        Random Write 512KB :   190.461 MB/s
    Random Read 4KB (QD=32) :   268.435 MB/s [ 65536.0 IOPS]
"""


def test_each_line_is_a_row(fixtures: Path) -> None:
    text = (fixtures / "crystaldiskmark.txt").read_text()
    assert crystaldiskmark.sniff(Head("x", text))
    (run,) = importers.read((str(fixtures / "crystaldiskmark.txt"),))
    large, small, _, _, mix = run.phases
    assert large.measurement.bytes_per_s == pytest.approx(7340.032e6)
    assert (large.plan.users, large.plan.depth, large.measurement.classes[0].size_bytes) == (1, 8, 1 << 20)
    assert large.phase.workload.locality == Sequential()
    assert (small.plan.users, small.plan.depth) == (16, 32)
    assert small.measurement.rate_per_s == pytest.approx(1e6)
    assert small.measurement.service("read").mean_ns == 511_500
    assert small.phase.workload.locality == Uniform()
    names = [each.phase.name for each in run.phases]
    assert (names[0], names[1], names[-1]) == ("read 1m", "randread 4k", "randrw 4k"), "as iocast names its own rows"
    assert [part.ios for part in mix.measurement.classes] == [35_000, 15_000]
    assert mix.measurement.service().total == 0  # one mean for both is neither's
    assert run.source is not None
    assert run.source.version == "8.0.4"


def test_older_versions_say_the_operation_in_the_line(read_all: Reader) -> None:
    sequential, half, queued = read_all(("cdm.txt", OLD)).phases
    assert sequential.measurement.bytes_per_s == pytest.approx(505.825e6)
    assert {"size", "ios", "users", "length"} <= {*sequential.unstated}
    assert [part.op for part in half.measurement.classes] == ["write"]
    assert (queued.plan.depth, queued.measurement.rate_per_s) == (32, pytest.approx(65536))


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("505.825 MB/s", "505 GB", "is no result in MB/s"),
        ("505.825", "5.0.5", "MB/s is"),
        ("Sequential Read", "SEQ 1MiB", "neither"),
    ],
)
def test_what_cannot_be_read_is_refused(read_all: Reader, was: str, then: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("cdm.txt", OLD.replace(was, then)))
    assert says in refused.value.message
