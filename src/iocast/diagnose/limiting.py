"""Which rows are told first of what limited a run: those that a severe finding holds back for certain."""

from __future__ import annotations

from iocast.diagnose.pace import PACES
from iocast.model.finding import Examination


def held_back(examination: Examination) -> frozenset[str]:
    """The rows whose limit is a severe finding that is certain: where there is one, most rows do not outvote it."""
    codes = {
        PACES[each.code][0]
        for each in examination.findings
        if each.code in PACES and each.certain and each.severity == "severe"
    }
    return frozenset(name for name, bound in examination.bounds.items() if bound.by in codes)
