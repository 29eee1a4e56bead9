"""Two simulated devices measured, read and compared from Python; nothing is written but run folders."""

from __future__ import annotations

import sys
from tempfile import TemporaryDirectory

import iocast
from iocast.sessions.events import CardReady, Event, Planned
from iocast.sessions.listener import Quiet


class Telling(Quiet):
    """Says what is planned and what came of it."""

    def tell(self, event: Event) -> None:
        """One line for each event that matters here."""
        match event:
            case Planned(plan=plan):
                print(f"{plan.name} on {plan.target.path}: {len(plan.phases)} rows")
            case CardReady(card):
                print(f"trust {card.trust}, grade {card.grade}")


def main(out: str) -> None:
    """Measures both, looks at the rows of one, and compares."""
    disk = iocast.card("sim:hdd", out=out, listener=Telling())
    flash = iocast.card("sim:nvme", out=out)
    for record in disk.run.measured:
        response = record.measurement.classes[0].response
        print(f"{record.phase.name}: {record.measurement.rate_per_s:.0f}/s, p99 {response.quantile_ns(0.99):.0f} ns")
    for finding in iocast.examine(disk).findings:
        print(f"{finding.severity}: {finding.says}")
    print(iocast.compare(disk, flash).report().verdict)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else folder)
