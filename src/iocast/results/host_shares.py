"""What each of many hosts did in each row, beside the others."""

from __future__ import annotations

from typing import cast

from iocast.model.finding import Grade
from iocast.model.plan import Phase
from iocast.model.results.card import HostShareRow
from iocast.model.run import Run


def host_shares(run: Run) -> tuple[HostShareRow, ...]:
    """Every row of every host; () for a run of one host."""
    return tuple(each for record in run.measured for each in _of_row(run, record.phase))


def _of_row(run: Run, planned: Phase) -> list[HostShareRow]:
    phase = planned.name
    did = [(part, part.row(phase)) for part in run.hosts[: planned.hosts or len(run.hosts)]]
    ios = sum(row.ios for _, row in did if row is not None)
    return [
        HostShareRow(phase=phase, host=part.name)
        if row is None
        else HostShareRow(
            phase=phase,
            host=part.name,
            share=row.ios / ios if ios else None,
            throughput_bytes_per_s=row.bytes_per_s,
            response_mean_ns=row.mean_ns,
            response_p50_ns=row.p50_ns,
            response_p99_ns=row.p99_ns,
            rate_per_s=row.ios_per_s,
            began_ns=row.started_ns,
            outside_ios=row.outside_ios or None,
            trust=cast("Grade", row.trust) if row.trust else None,
        )
        for part, row in did
    ]
