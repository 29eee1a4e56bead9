"""Fleets made by code: folders of runs whose figures are drawn, with slow hosts, busy ones, or none that stands out."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from iocast.model.codes import DifferenceCode
from iocast.model.summary import Figures, RowFigures

START_UNIX_NS = 1_790_000_000 * 10**9
HOUR_NS = 3600 * 10**9
ROWS = {"randread 8k 1x1": 90e3, "randread 8k 8x1": 160e3, "commit 8k 1x1": 40e3, "read 1M 1x1": 380e3}  # mean ns
SETTING: dict[DifferenceCode, str] = {"kernel": "6.1.0-13", "firmware": "GDC5602Q", "scheduler": "none"}
BETWEEN, WITHIN = 0.03, 0.03  # scatter of hosts, and of the runs of one


def planted_fleet(
    place: Path,
    seed: int,
    *,
    hosts: int = 10,
    runs: int = 3,
    slow: Mapping[int, float] | None = None,
    busy: Mapping[int, float] | None = None,
    settings: Mapping[int, dict[DifferenceCode, str]] | None = None,
    rows: Mapping[str, float] | None = None,
    job: str = "card quick",
    model: str | None = "SAMSUNG MZQL2",
) -> Path:
    """Hosts whose latency is so many times that of the others (`slow`), or whose devices do so much for others beside
    the row, in terms of its rate (`busy`), which makes them as much slower."""
    drawn = random.Random(seed)
    for host in range(hosts):
        own = drawn.gauss(0, BETWEEN)
        for run in range(runs):
            factor = math.exp(own + drawn.gauss(0, WITHIN)) * (slow or {}).get(host, 1.0)
            others = (busy or {}).get(host, 0.0)
            write_run(
                place / f"db{host:02}-{run:02}",
                host=f"db{host:02}",
                started_unix_ns=START_UNIX_NS + run * HOUR_NS + host,
                job=job,
                figures=Figures(
                    setting={**SETTING, **(settings or {}).get(host, {})},
                    model=model,
                    rows=tuple(
                        _row(name, mean_ns * factor * math.exp(drawn.gauss(0, WITHIN)), others)
                        for name, mean_ns in (rows or ROWS).items()
                    ),
                ),
            )
    return place


def _row(name: str, mean_ns: float, others: float) -> RowFigures:
    """A closed row of one user: its rate follows from its latency."""
    mean_ns *= 1 + others
    return RowFigures(
        row=name,
        load=f"{sum(map(ord, name)):016x}",
        rate_per_s=1e9 / mean_ns,
        mean_ns=mean_ns,
        p99_ns=2 * mean_ns,
        busy_per_s=others * (1 + others) * 1e9 / mean_ns,
    )


def write_run(folder: Path, *, figures: Figures | None, **line: Any) -> None:
    """A run folder of which only the line can be read."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}")
    known = {
        "name": line["job"],
        "target": line.get("target", "/mnt/db"),
        "host": line["host"],
        "started_unix_ns": line["started_unix_ns"],
        "status": line.get("status", "done"),
        "rows": len(figures.rows) if figures else 0,
        "planned": len(figures.rows) if figures else 0,
        "run_id": line.get("run_id", folder.name),
    }
    (folder / "summary.json").write_bytes(msgspec.json.encode({**known, "figures": figures}))
