"""The report of `iocast hosts check`: a line for each host, and what it needs."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.report import Report
from iocast.model.results.answers import CheckedHost
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.text import counted


def hosts_check(hosts: Sequence[CheckedHost]) -> Report:
    """Who can take part in a run, who cannot, and who shares storage with whom."""
    table = result_table(CheckedHost, hosts, key="hosts", leave=_untold(hosts))
    return Report(title="Hosts", verdict=_verdict(hosts), sections=(section("hosts", tables=(table,)),), kind="listing")


def _verdict(hosts: Sequence[CheckedHost]) -> str:
    troubled = [host.host for host in hosts if host.problem]
    if troubled:
        able = len(hosts) - len(troubled)
        return f"{able} of {counted(len(hosts), 'host')} can take part; not {', '.join(troubled)}."
    alike = [host.host for host in hosts if host.storage and host.storage.startswith("that of")]
    shared = f" {', '.join(alike)} have storage that another has too: see the column." if alike else ""
    return f"All {len(hosts)} hosts can take part.{shared}"


def _untold(hosts: Sequence[CheckedHost]) -> tuple[str, ...]:
    return () if any(host.problem for host in hosts) else ("problem",)
