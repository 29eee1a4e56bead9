"""A price per GB and per IOPS where a price was given, and nothing where none was (source row G4)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers import card_runs
from makers.command_line import iocast, run_folder
from msgspec.structs import replace

from iocast.diagnose.comparable import side
from iocast.model.run import Run
from iocast.report.comparison_report import compare
from iocast.report.prices import price_of

GB, MS = 1_000_000_000, 1_000_000


def _disk(price: float | None, mean_ms: float) -> Run:
    """A disk of 1000 GB, and its random 8k reads one at a time (V6)."""
    times = card_runs.histogram((mean_ms * MS, 1000))
    reads = card_runs.reads("1000G", times=times, elapsed_ns=round(1000 * mean_ms * MS))
    scan = card_runs.reads("scan", times=card_runs.histogram((MS, 1000)), sequential=True)
    target = replace(card_runs.TARGET, kind="block", size_bytes=1000 * GB, price=price)
    return card_runs.run(reads, scan, target=target)


def test_sata_costs_less_per_gb_and_sas_less_than_its_ratio_per_iops() -> None:
    sata, sas, unknown = _disk(150, 12.5), _disk(250, 7.0), _disk(None, 7.0)
    found = price_of(sata)
    assert found is not None
    assert (found.per_gb, found.row) == (0.15, "1000G")  # a scan does no random I/O
    assert found.per_iops == pytest.approx(150 / 80)
    assert price_of(unknown) is None
    assert price_of(sata, void={"1000G"}).per_iops is None  # type: ignore[union-attr]
    report = compare([side("SATA", (sata,)), side("SAS", (sas,)), side("other", (unknown,))])
    (table,) = (each for section in report.sections for each in section.tables if each.key == "prices")
    cells = [tuple(row.cells.get(key) for key in ("price", "price_per_gb", "price_per_iops")) for row in table.rows]
    assert cells == [
        (150, 0.15, pytest.approx(1.875)),
        (250, 0.25, pytest.approx(1.75)),
        (None, None, None),
    ]
    plain = compare([side("SAS", (unknown,)), side("other", (unknown,))])
    assert not any(section.code == "prices" for section in plain.sections)


def test_the_price_is_an_option_of_a_run(tmp_path: Path) -> None:
    words = ("card", "sim:hdd,size=1000GB", "--preset", "quick", "--no-page", "--out", "runs", "--json")
    made = iocast(*words, "--price", "150", cwd=tmp_path)
    about = json.loads(made.stdout)
    assert (about["price"], about["price_per_gb"]) == (150, 0.15)
    assert about["price_per_iops"] > 0
    again = iocast("report", str(run_folder(tmp_path / "runs")), cwd=tmp_path)
    assert "Price 150: 0.15 per GB, " in again.stdout
    refused = iocast(*words, "--price", "0", cwd=tmp_path)
    assert refused.returncode == 2
