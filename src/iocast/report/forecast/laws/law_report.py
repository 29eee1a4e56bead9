"""The report of a law: what it says, and its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from iocast.model.report import Report
from iocast.model.results.laws.model import AnyLaw, Model
from iocast.report.forecast.laws import closed, disks, links, queues, volumes
from iocast.report.forecast.laws.law_text import LawText
from iocast.report.wording import section

TOLD: dict[str, Callable[[Any], LawText]] = {  # by the names of the laws
    "disk": disks.disk,
    "disks": disks.disks_together,
    "controller": disks.controller,
    "raid": disks.raid,
    "stroke": disks.stroke,
    "zones": disks.zones,
    "mm1": queues.mm1,
    "mmc": queues.mmc,
    "mg1": queues.mg1,
    "ggc": queues.ggc,
    "percentiles": queues.percentiles,
    "samples": queues.samples,
    "knees": queues.knees,
    "mva": closed.mva,
    "bounds": closed.bounds,
    "usl": closed.usl,
    "volumes": volumes.all_volumes,
    "volume": volumes.volume,
    "volume_burst": volumes.burst_credits,
    "bucket": volumes.bucket,
    "burst": volumes.burst,
    "levels": volumes.levels,
    "mix": volumes.mix,
    "cache": volumes.cache,
    "link": links.link,
    "rules": links.rules,
}


def law_report(law: AnyLaw) -> Report:
    """A law with its verdict first."""
    law_text = TOLD[str(law.__struct_config__.tag)](law)
    return Report(
        title=f"Model · {law_text.title}",
        verdict=law_text.verdict,
        sections=(section("law", (f"Source: {law_text.source}",), law_text.tables),),
        kind="model",
        result=Model(law=law),
    )
