"""Reports of a job that ran again and again on one target, its rate handed in."""

from __future__ import annotations

from iocast.analyse.target_history import RowPoint, RunPoint, history
from iocast.model.report import Report
from iocast.model.workload import MixItem, Workload
from iocast.report.trend_report import trend_report

DAY_NS = 86_400 * 10**9
READ = Workload(mix=(MixItem(op="read", size_bytes=8192),))


def trend_of(*rates: float) -> Report:
    """A run a day: a row of random reads at these rates, and a scan that never changes."""
    runs = [
        RunPoint(
            name=f"run {day}",
            started_unix_ns=1_790_000_000_000_000_000 + day * DAY_NS,
            grade="A" if rate > 800 else "C",
            trust="F" if rate > 5000 else "B",
            rows=(
                RowPoint(row="randread", workload=READ, rate_per_s=rate, p99_ns=1e9 / rate),
                RowPoint(row="scan", workload=READ, rate_per_s=50.0, p99_ns=None),
            ),
        )
        for day, rate in enumerate(rates)
    ]
    return trend_report(history("/dev/sdx", "db01", "card quick", runs), charts=True)
