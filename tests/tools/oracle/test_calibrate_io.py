"""CALIBRATE_IO's printed values and its view, by hand in their documented form."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools.oracle import calibrate_io
from iocast.tools.source_files import Head

Reader = Callable[..., Run]

VIEW = """\
START_TIME                     MAX_IOPS   MAX_MBPS  MAX_PMBPS    LATENCY NUM_PHYSICAL_DISKS
---------------------------- ---------- ---------- ---------- ---------- ------------------
22-NOV-26 11.28.05.123456 AM      24002        175        186     10.868                  1
"""


@pytest.mark.parametrize("form", ["printed", "view"])
def test_the_maxima_are_two_rows(fixtures: Path, read_all: Reader, form: str) -> None:
    text = VIEW if form == "view" else (fixtures / "calibrate_io.txt").read_text()
    assert calibrate_io.sniff(Head("x", text))
    calibrated = read_all(("cal.txt", text))
    small, large = calibrated.phases
    assert small.measurement.rate_per_s == 24_002
    assert small.measurement.service("read").total == 0, "of which I/Os the latency is, Oracle does not say"
    (note,) = calibrated.source.notes
    assert note.startswith("A latency of 10.868 ms is stated beside 24,002 IOPS. It is unexplained")  # not the 11 below
    assert {"size", "users", "depth", "length", "ios"} <= {*small.unstated}
    assert large.measurement.bytes_per_s == 175 << 20
    assert large.measurement.service().total == 0


def test_a_failed_calibration_is_refused(read_all: Reader) -> None:
    with pytest.raises(SourceError, match="has no format that iocast knows"):
        read_all(("cal.txt", "max_iops = 24002\nlatency = 10\n"))
    with pytest.raises(SourceError, match="max_iops is"):
        read_all(("cal.txt", "max_iops = many\nmax_mbps = 4\n"))


def test_each_calibration_has_its_rows_and_a_latency_of_0_is_unknown(read_all: Reader) -> None:
    """Of three, the second and third were lost, and their reads took 0 ns."""
    said = "max_iops = {0}\nlatency = {1}\nmax_mbps = {2}\n"
    figures = ((154, 19, 18_579), (1_353_418, 0, 18_850), (1_351_136, 0, 18_738))
    text = "".join(said.format(*each) * 2 for each in figures)
    calibrated = read_all(("cal.txt", text))
    rows = calibrated.phases
    assert [row.measurement.ios for row in rows] == [154, 18_579, 1_353_418, 18_850, 1_351_136, 18_738]
    assert [row.measurement.service().total for row in rows[::2]] == [0, 0, 0]
    assert [note.split(" is stated")[0] for note in calibrated.source.notes] == ["A latency of 19 ms"]
