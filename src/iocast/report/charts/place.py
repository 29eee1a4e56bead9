"""Where a chart stands, how wide it is, which legends it needs: what each chart's file declares as PLACE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from iocast.report.plot.legends import Legend
from iocast.report.plot.theme import Theme

# What a chart is made of, and so where it stands.
Stand = Literal[
    "glance",  # an ExaminedRun; beside the table of results
    "grade",  # a GradedRun; beside its letters
    "family",  # a Family; in its section
    "sizes",  # the Families of a run; in the section about sizes
    "device",  # an ExaminedRun; in the section about the device
    "compared results",  # a Comparison; beside the table of ratios
    "compared times",  # a Comparison; beside the response times of both sides
    "compared percentiles",  # a Comparison; beside the percentiles of both sides
    "forecast",  # an Answer; in the section of the forecast
    "trend",  # a FollowedFigure; in the section of its row
    "repeats",  # a Side of several runs; beside the table of repeats
    "sizing",  # a SizedNeed; beside the table of what binds
    "calibration",  # a Calibration; beside the table of its curve
    "replay",  # the PhaseRecord of a replay; in the section about it
    "profile",  # a Profile; in the section of its kind
    "copy",  # a CopyRun; beside the table of its ways
    "tape",  # a TapeSummary; in the section of its kind
]


class Place(Struct, frozen=True):
    """Where a chart stands and how it is shown there."""

    stand: Stand
    wide: bool = False  # it takes the whole width of a page
    classic: bool = False  # one of fio.r's, which stand under each other and have one picture together
    legends: tuple[Callable[[Theme], Legend], ...] = ()
