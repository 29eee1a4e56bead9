"""Storage whose rate fell for good within a row: neither a forecast nor a sizing stands on rows of both states."""

from __future__ import annotations

import pytest
from makers import planted

import iocast
from iocast import archive
from iocast.diagnose.examination import examine

# The credits of bytes run out in the middle of the last row: nothing else is wrong with it.
SPENT = "sim:nvme,byte_credits=200MB/s:6GiB"
ROWS = """\
name = "ladder"
[files]
size = "64GiB"
[defaults]
size = "8k"
pattern = "random"
time = "10s"
[[phase]]
test = "randread"
users = [1, 2, 4, 8]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A ladder whose last row met the storage with credits and without."""
    out = tmp_path_factory.mktemp("runs")
    planted.measured(SPENT, ROWS, out)
    (found,) = (each.parent for each in out.rglob("run.json"))
    assert [name for name, each in examine(archive.load(str(found))).excluded.items() if each.fell] == [
        "randread 8k 8x1"
    ]
    return str(found)


def test_a_forecast_leaves_out_the_row_in_which_the_rate_fell(folder: str) -> None:
    basis = next(each for each in iocast.forecast(folder, iops=20_000).report().sections if each.code == "basis")
    assert [row.cells["row"] for row in basis.tables[0].rows] == [f"randread 8k {users}x1" for users in (1, 2, 4)]
    assert any("Left out: randread 8k 8x1: two states in one row" in each for each in basis.paragraphs)


def test_a_sizing_leaves_it_out(folder: str) -> None:
    made = iocast.size(capacity="100GB", iops=5000, read="100%", device=folder, device_capacity="960GB").report()
    (source,) = (each for each in made.sections[0].paragraphs if "Source: rows randread" in each)
    assert "8k 4x1" in source
    assert "8k 8x1" not in source
