"""ioh.sh: its screens, its raw file and the table alone become tapes, with the answers to its three questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.command_line import iocast

from iocast.errors import SourceError
from iocast.model.live.moment import Interval, intervals
from iocast.report.live import ioh_lines
from iocast.sessions.live.playing import Playing
from iocast.tools import importers, ioh
from iocast.tools.source_files import Head

# source-vectors V7, in the form of the slides.
SCREEN = (Path(__file__).parent / "fixtures" / "ioh.txt").read_text().replace("1335282287", "{}")
# The layers of a server whose file system and network lose time: no date, no count.
SLOW = """\
          |      MB/s|    avg_ms|  avg_sz_kb
----------|----------|----------|-----------
R |   io :|    88.480|      4.60|     17.648
R |  zfs :|    19.740|      8.51|     12.689
R |  nfs :|    16.562|     22.67|     30.394
"""
RAW = """\
date,1335282287000000000
hist_begin,hist_io
hist_end,hist_io
io_tm,R,24010
io_ct,R,1
io_sz,R,5016
zfs0_tm,R,51000
zfs0_ct,R,1020
zfs0_sz,R,8300555
zfs1_ct,W,3
nfs0_ct,C,7
tcp,tcpOutDataBytes,8500805
!
"""


def _interval(place: Path, text: str) -> Interval:
    (place / "ioh.out").write_text(text)
    (interval,) = intervals(Playing(str(place / "ioh.out")).moments(lambda: False))
    return interval


def test_a_screen_is_printed_again_to_three_decimals(tmp_path: Path) -> None:
    lines = [*ioh_lines.lines(_interval(tmp_path, SCREEN.format(1335282287)))]
    assert lines[0].startswith("date: 1335282287 ,")
    assert lines[1] == "TCP out:  8.107 MB/s, in:  5.239 MB/s, retrans:  MB/s, ip discards:"
    for row in (
        "R |      io:|     0.005 |    24.01 |    4.899 |        1",
        "R |     zfs:|     7.916 |     0.05 |    7.947 |     1020",
        "W |      io:|     9.921 |    11.26 |   32.562 |      312",
        "W | nfssync:|     5.215 |    19.94 |   11.410 |      468",
    ):
        assert row in lines
    assert not any("nfs_c" in line for line in lines)


def test_the_verdict_comes_from_the_file(tmp_path: Path) -> None:
    """io 4.60, file system 8.51, NFS 22.67 ms: the network or the client, and the file system."""
    (tmp_path / "slow.txt").write_text(SLOW)
    done = iocast("watch", "ioh", "--tape", "slow.txt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Is the storage slow? No, for a disk: a read takes 4.60 ms" in done.stdout
    assert (
        "Do the network or the client lose time? Yes: the client waits 22.7 ms, the server takes 8.51 ms."
        in done.stdout
    )
    assert "Does the file system lose time? Yes: a read of a file takes 8.51 ms, of the device 4.60 ms." in done.stdout
    imported = iocast("import", "slow.txt", cwd=tmp_path)
    assert "Does the file system lose time? Yes" in " ".join(imported.stdout.split())


def test_rates_of_a_cycle_are_those_of_its_length(tmp_path: Path) -> None:
    """Cycles of ten seconds; what is printed is a second's."""
    (tmp_path / "a.txt").write_text("".join(SCREEN.format(1335282287 + 10 * at) for at in range(3)))
    tape = Playing(str(tmp_path / "a.txt"))
    seen = [*intervals(tape.moments(lambda: False))]
    assert (tape.interval_ns, [each.elapsed_ns for each in seen]) == (10_000_000_000, [10_000_000_000] * 3)
    rows = {(row[0], row[1]): row[2:6] for row in ioh_lines.table(seen[2]).rows}
    assert rows["R", "zfs"] == pytest.approx((7.916, 0.05, 7.947, 1020), abs=5e-4)


def test_the_raw_file_has_the_same_figures(tmp_path: Path) -> None:
    lines = [*ioh_lines.lines(_interval(tmp_path, RAW))]
    assert lines[1].startswith("TCP out:  8.107 MB/s, in:")
    assert "R |      io:|     0.005 |    24.01 |    4.898 |        1" in lines
    assert "R |     zfs:|     7.916 |     0.05 |    7.947 |     1020" in lines
    assert any(line.startswith("C |   nfs_c:") for line in lines)
    assert any(line.startswith("W | zfssync:") for line in lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("            |       MB/s|    avg_ms| avg_sz_kb|     count\n", "no whole table"),
        (2 * SCREEN.format(1335282287), "its date is not after"),
        (SCREEN.format(1).replace("7.947", "7.9x7"), 'a figure is "7.9x7", not a number'),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad.txt").write_text(text)
    assert ioh.sniff(Head("bad.txt", text))
    with pytest.raises(SourceError, match=says):
        importers.read((str(tmp_path / "bad.txt"),))
