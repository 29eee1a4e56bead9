"""forecast: will production be fine on this storage? From a run folder, or from a ladder that is measured for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from iocast import archive
from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.excluded_rows import met_another_state
from iocast.diagnose.stalled_rows import row_stops, stall_caution, stalled_rows
from iocast.errors import LoadError, SpecError
from iocast.forecast.answer import Answer, answer
from iocast.forecast.outlook import Verdict
from iocast.forecast.what_if import WhatIf, parse_change, what_if
from iocast.model.finding import Grade
from iocast.model.report import Report, Subject
from iocast.report.forecast.forecast_report import forecast_report
from iocast.report.subjects import subject
from iocast.sessions.forecasting.asked_load import command_options, question_of
from iocast.sessions.forecasting.load_runs import PEAKS, Limits, measure_ladder, replay
from iocast.sessions.in_notebook import InNotebook
from iocast.sessions.listener import Listener
from iocast.sessions.requests.forecast import ForecastRequest

if TYPE_CHECKING:
    from iocast.model.finding import Examination


class Forecasted(Struct, InNotebook, frozen=True):
    """An answer with the runs that it stands on."""

    answer: Answer
    folder: str
    subjects: tuple[Subject, ...]
    trust: dict[str, Grade]
    what_ifs: tuple[WhatIf, ...]
    options: str
    caution: str = ""  # of a run that the figures do not show whole

    @property
    def verdict(self) -> Verdict:
        """ok, marginal, at_risk, not_ok or unknown."""
        return self.answer.verdict

    def report(self, *, charts: bool = False, explain: bool = False) -> Report:
        """The forecast as sections and tables; with `explain` the arithmetic behind it."""
        return forecast_report(
            self.answer,
            self.subjects,
            self.trust,
            what_ifs=self.what_ifs,
            options=self.options,
            caution=self.caution,
            explain=explain,
            charts=charts,
        )


def forecast(request: ForecastRequest, listener: Listener) -> Forecasted | None:
    """Measures where that is asked for, then answers; None when it was stopped before. Raises IocastError."""
    question = question_of(request.load)
    changes = [(each, parse_change(each)) for each in request.what_ifs]
    if (request.folder is None) == (request.measure is None):
        raise SpecError("give either --on RUN or --measure PATH", "for example --on last, or --measure /mnt/db")
    folder = request.folder
    if request.measure is not None:
        peaks = PEAKS if request.verify is None else ()
        folder = measure_ladder(request.measure, question, _limits(request), listener, peaks)
    if folder is None:
        return None
    known = _Known(folder)
    probe = None
    if request.verify is not None:
        answered = answer(question, known.facts, known.refused, known.unsure, known.not_storage, stops=known.stops)
        replayed = replay(request.verify, question, answered, _limits(request), listener)
        if replayed is None:
            return None
        probe = _Known(replayed)
    probed, not_probed = (None, None) if probe is None else (probe.facts, probe.not_storage)
    given = answer(
        question,
        known.facts,
        known.refused,
        known.unsure,
        known.not_storage,
        probe=probed,
        not_probed=not_probed,
        stops=known.stops,
    )
    return Forecasted(
        answer=given,
        folder=folder,
        subjects=(known.subject,),
        trust=known.trust,
        what_ifs=tuple(what_if(says, change, given) for says, change in changes),
        options=command_options(request.load),
        caution=known.caution,
    )


def _limits(request: ForecastRequest) -> Limits:
    return Limits(request.seconds, request.file_bytes, request.seed, request.out, request.wait_quiet_ns)


class _Known:
    """A run with what is thought of its rows."""

    def __init__(self, folder: str) -> None:
        run = archive.load(folder)
        if not run.measured:
            raise LoadError(
                f"{folder}: nothing was measured", "name a run with finished rows; `iocast runs` lists them"
            )
        self.facts: Facts = Facts(run)
        examined: Examination = examine(self.facts, archive.load_diagnosis(folder))
        # How well chance lets a percentile be known is in the interval of the forecast.
        trusted = {name: each.without("precision") for name, each in examined.trust.items()}
        self.trust: dict[str, Grade] = {name: each.grade for name, each in trusted.items()}
        self.refused = {
            name: f"trust {each.grade}: {each.reason}".rstrip()
            for name, each in trusted.items()
            if each.void or each.grade in ("D", "F")
        }
        # Rows whose times are not those of the storage; what overloads it costs an open-loop row its trust as well.
        self.not_storage = {
            name: each.reason
            for name, each in examined.trust.items()
            if each.void or examined.bounds[name].by in ("generator", "kernel")
        }
        self.refused |= met_another_state(self.facts) | stalled_rows(examined)
        self.caution, self.stops = stall_caution(examined), row_stops(self.facts, examined)
        self.unsure = {name: each.reason for name, each in trusted.items() if each.grade == "C"}
        self.subject = subject(run, folder)
