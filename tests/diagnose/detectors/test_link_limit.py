"""A link that is full: one kind of I/O at two loads, one row where no device is known, and when none is guessed."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import link_limit
from iocast.diagnose.experiments.next_step import refined
from iocast.model.experiment import Outcome
from iocast.model.finding import Finding
from iocast.model.run import PhaseRecord, Source
from iocast.model.target import Target
from iocast.tools import importers

# 117,042 kB/s of cached reads by four asynchronous I/Os, as fio tells it.
V11 = """\
cached: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, ioengine=libaio, iodepth=4
fio-3.7
Starting 1 process

cached: (groupid=0, jobs=1): err= 0: pid=4711: Tue Aug 18 10:39:23 2020
   read: IOPS=111, BW=112MiB/s (117MB/s)(1117MiB/10007msec)
    lat (usec): min=8120, max=91833, avg=35832.10, stdev=901.00
     issued rwt: total=1117,0,0, short=0,0,0, dropped=0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=4
"""


def _scan(bytes_per_s: float, users: int) -> PhaseRecord:
    each_ns = users * (1 << 20) * 1e9 / bytes_per_s
    times = card_runs.histogram((each_ns, 2_000))
    return card_runs.reads(f"read 1M {users}x1", size_bytes=1 << 20, sequential=True, users=users, times=times)


def test_one_kind_of_io_fills_a_link_at_two_loads() -> None:
    """Cached reads of 117,042 kB/s: 99.5 % of gigabit Ethernet, in the virtualisation study."""
    target = replace(card_runs.TARGET, layers=())
    run = card_runs.run(_scan(117.042e6, 4), _scan(116.721e6, 8), target=target)
    found, other = link_limit.detect(Facts(run))
    assert "2 rows of 1 kind of I/O level off at the same 117 MB/s" in found.says
    assert [found.phase, other.phase] == ["read 1M 8x1", "read 1M 4x1"], "every row that it holds for"
    assert found.says == other.says
    assert "gigabit Ethernet" in found.says
    assert list(link_limit.detect(Facts(card_runs.run(_scan(117.042e6, 4), _scan(140e6, 8), target=target)))) == []


def test_a_suspected_link_is_not_reported_as_one_before_it_is_confirmed() -> None:
    target = replace(card_runs.TARGET, layers=())
    found, _ = link_limit.detect(Facts(card_runs.run(_scan(117.042e6, 4), _scan(116.721e6, 8), target=target)))
    assert found.remedy == "Check the speed of the link: if it is full, report these rows as link-bound, and add paths."
    confirmed = refined(found, Outcome(verdict="confirmed", says="The same throughput."))
    assert confirmed.remedy == "Report these rows as link-bound; add paths or use a faster link."
    assert refined(found, Outcome(verdict="rejected", says="More.")).remedy == found.remedy
    (alone,) = _links((117.042e6, 4), target=replace(target, filesystem="nfs4"))
    assert "report the row as link-bound" in alone.remedy


def _links(*scans: tuple[float, int], target: Target, imported: bool = False) -> list[Finding]:
    source = Source(tool="fio") if imported else None
    run = card_runs.run(*(_scan(rate, users) for rate, users in scans), target=target, source=source)
    return list(link_limit.detect(Facts(run)))


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize(
    ("bytes_per_s", "link"),
    [
        (117.042e6, "gigabit Ethernet"),  # the virtualisation study, if its kB are of 1,000 bytes
        (119.851e6, "gigabit Ethernet"),  # if they are of 1,024
        (116.580e6, "gigabit Ethernet"),  # its slowest guest
        (1.2e9, "10-gigabit Ethernet"),
        (112e6, ""),
        (130e6, ""),
        (550e6, ""),
    ],
)
def test_one_row_fills_a_link_where_no_device_is_known(bytes_per_s: float, link: str, imported: bool) -> None:
    nowhere = replace(card_runs.TARGET, layers=(), filesystem=None if imported else "nfs4")
    found = _links((bytes_per_s, 4), target=nowhere, imported=imported)
    assert [each.hypothesis for each in found] == ([f"{link} is full"] if link else [])
    for each in found:
        assert (each.state, each.severity, each.evidence["rows"]) == ("suggested", "note", 1)
    assert _links((bytes_per_s, 4), (2e9, 8), target=nowhere, imported=imported) == []  # another row moves more


def test_one_row_fills_a_link_that_is_known_and_no_other_link_is_guessed_above_a_device() -> None:
    known = card_runs.TARGET
    speed = next(each.link_bytes_per_s for each in known.layers if each.link_bytes_per_s)
    (found,) = _links((0.95 * speed, 4), target=known)
    assert found.says.endswith("95% of what its link carries.")
    assert found.evidence["guessed"] == 0
    assert _links((0.5 * speed, 4), target=known) == []
    unknown = replace(known, layers=tuple(replace(each, link_bytes_per_s=None) for each in known.layers))
    assert _links((117.042e6, 4), target=unknown) == []


def test_no_link_is_guessed_from_one_row_of_what_is_on_this_machine() -> None:
    """A device over FUSE has no layers, and no network: one of seventeen rates is that of some kind of link."""
    for filesystem in ("fuse", "fuse.lab", "ext4"):
        target = replace(card_runs.TARGET, layers=(), filesystem=filesystem)
        assert _links((848e6, 4), target=target) == []
    assert _links((848e6, 4), target=replace(card_runs.TARGET, layers=(), filesystem="cifs"))


def test_a_short_import_of_the_virtualisation_study_names_the_link(tmp_path: Path) -> None:
    (tmp_path / "cached.txt").write_text(V11)
    (run,) = importers.read((str(tmp_path / "cached.txt"),))
    (found,) = link_limit.detect(Facts(run))
    assert found.says.startswith("117 MB/s is as much as gigabit Ethernet carries")
