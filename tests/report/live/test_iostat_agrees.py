"""watch iostat beside the real `iostat -x`: both are shown the same two copies of the kernel's counters."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from makers.live_moments import BEGAN_NS, SECOND_NS

from iocast import metrics
from iocast.model.live.moment import Interval, moment_of
from iocast.model.run import Sample
from iocast.report.live.iostat_lines import table
from iocast.tools.kernel.disk_counters import parse_diskstats

BEFORE = "   8       0 sda 1000 200 80000 3000 500 100 40000 9000 3 6000 12000 70 5 9000 40 30 20\n"
AFTER = "   8       0 sda 3500 450 160000 6100 1700 310 95000 15250 2 6410 21350 95 9 12000 61 80 75\n"


def _by_iostat(place: Path) -> dict[str, float]:
    """The second report: what happened between the two copies."""
    shown = place / "block" / "sda" / "stat"
    shown.parent.mkdir(parents=True)
    shown.write_text(_figures(BEFORE))
    command = f"mount --bind {place / 'block'} /sys/block && LC_ALL=C S_COLORS=never exec iostat -x -d 2 2 sda"
    asked = subprocess.Popen(["unshare", "-m", "sh", "-c", command], stdout=subprocess.PIPE, text=True, bufsize=1)
    assert asked.stdout is not None
    lines = [next(asked.stdout) for _ in range(4)]  # the machine, a blank, the header, sda: the first copy was read
    shown.write_text(_figures(AFTER))
    lines += asked.stdout.readlines()
    assert asked.wait(timeout=20) == 0
    header, row = [line.split() for line in lines if line.startswith(("Device", "sda"))][-2:]
    return dict(zip(header[1:], map(float, row[1:]), strict=True))


def _figures(line: str) -> str:
    return " ".join(line.split()[3:]) + "\n"


def _by_us() -> dict[str, float]:
    moments = []
    for number, text in enumerate((BEFORE, AFTER)):
        at_ns = BEGAN_NS + number * 2 * SECOND_NS
        counters = parse_diskstats(text)["sda"]
        moments.append(
            moment_of(at_ns, [Sample(at_ns, metrics.DISKSTATS, "sda", *each) for each in counters.items()], number)
        )
    found = table(Interval(*moments))
    return {
        name: float(cell)
        for name, cell in zip(found.columns, found.rows[0], strict=True)
        if not isinstance(cell, str | None)
    }


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="a mount of its own needs root")
@pytest.mark.skipif(shutil.which("iostat") is None, reason="needs iostat (sysstat)")
def test_every_column_is_that_of_iostat(tmp_path: Path) -> None:
    theirs, ours = _by_iostat(tmp_path), _by_us()
    assert set(ours) == set(theirs)
    longer = ours["r/s"] / theirs["r/s"]  # its interval is by the clock, ours is two seconds
    assert 0.98 < longer < 1.5
    rates = {name for name in ours if name.endswith("/s")} | {"aqu-sz", "%util"}
    for name, theirs_was in theirs.items():
        scaled = theirs_was * longer if name in rates else theirs_was
        assert ours[name] == pytest.approx(scaled, rel=0.005, abs=0.006), name
