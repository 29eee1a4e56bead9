"""A run as the calibration that it is: the study of its rows, without those that trust refuses or that stalled."""

from __future__ import annotations

from iocast.analyse.facts import Facts
from iocast.diagnose.stalled_rows import stalled_rows
from iocast.forecast.calibration import Calibration, calibration
from iocast.model.finding import Examination

REFUSED = ("D", "F")  # trust that no answer can rest on


def calibrated(facts: Facts, examination: Examination) -> Calibration | None:
    """What a calibration comes to; None for any other run, and for one without a row."""
    asked = facts.run.plan.calibration
    if asked is None or not facts.run.measured:
        return None
    refused = {
        row.name: trust.reason or f"Its trust is {trust.grade}."
        for row in facts.rows
        if (trust := examination.trust[row.name]).grade in REFUSED or trust.void
    } | stalled_rows(examination)
    found: Calibration = facts.keep(
        ("calibration", tuple(sorted(refused))), lambda: calibration(asked, facts.rows, refused)
    )
    return found
