"""What the functions of `iocast` itself do with what they are called with: a request each, and its session."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import asdict

from iocast.errors import LoadError, SpecError
from iocast.model.database.database_load import DatabaseLoad
from iocast.model.finding import Examination
from iocast.model.run import Run
from iocast.sessions.card import Card
from iocast.sessions.comparing import Comparison, compare
from iocast.sessions.forecasting.calibrate import Calibrated, calibrate
from iocast.sessions.forecasting.forecast import Forecasted, forecast
from iocast.sessions.forecasting.matrix import run_matrix
from iocast.sessions.forecasting.size_devices import Sizing, size
from iocast.sessions.hosts.where_asked import measure_where_asked
from iocast.sessions.inquire import diagnose
from iocast.sessions.listener import Listener, Quiet
from iocast.sessions.measure import MeasuredJob
from iocast.sessions.named_experiment import Answered, experiment
from iocast.sessions.requests.calibrate import CalibrateRequest
from iocast.sessions.requests.capture import CaptureRequest
from iocast.sessions.requests.diagnose import DiagnoseRequest
from iocast.sessions.requests.experiment import TrialRequest
from iocast.sessions.requests.forecast import ForecastRequest
from iocast.sessions.requests.load_db import LoadRequest
from iocast.sessions.requests.matrix import MatrixRequest
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.option import request_of
from iocast.sessions.requests.profile import ProfileRequest
from iocast.sessions.requests.replay import ReplayRequest
from iocast.sessions.requests.size import SizeRequest
from iocast.tools.orion.command_line import parse

if TYPE_CHECKING:
    from iocast.sessions.profiling.profile_traces import Profiled
    from iocast.tools.traces import TraceReport

T = TypeVar("T")
Given = Mapping[str, Any]  # what a function was called with, by the names of its parameters


def measured(given: Given) -> Card:
    """The card of a job on a path. Raises IocastError."""
    done = measure_where_asked(request_of(MeasureRequest, given), _listener(given))
    if done is None:
        raise LoadError("this is not the first of the processes that MPI started", "only the first one has the card")
    return _card_of(done, given["path"])


def database_loaded(given: Given) -> Card:
    """The card of a load through a database. Raises IocastError."""
    from iocast.sessions.database.load_db import run

    load = asdict(given["load"] or DatabaseLoad())
    return _card_of(run(request_of(LoadRequest, {**given, **load}), _listener(given)), "load-db")


def examined(run: Run | Card | str) -> Examination:
    """What is thought of a run. Raises ArchiveError for a folder that cannot be read."""
    from iocast import archive
    from iocast.diagnose.examination import examine

    if isinstance(run, Card):
        return run.examination
    if isinstance(run, str):
        return examine(archive.load(run), archive.load_diagnosis(run))
    return examine(run)


def compared(runs: Sequence[Card | str]) -> Comparison:
    """Runs beside the first of them. Raises ArchiveError, SpecError."""
    if len(runs) < 2:
        raise SpecError("at least two runs are needed: the first is the baseline")
    return compare(tuple(_folder(each) for each in runs))


def diagnosed(given: Given) -> Card:
    """The card of a run after its experiments. Raises IocastError."""
    card = diagnose(request_of(DiagnoseRequest, {**given, "folder": _folder(given["run"])}), _listener(given))
    assert card is not None  # there is a run already
    return card


def answered(given: Given) -> Answered:
    """What a named experiment found. Raises IocastError."""
    return _result(experiment(request_of(TrialRequest, given), _listener(given)), f"experiment {given['name']}")


def sized(given: Given) -> Sizing:
    """What a need takes. Raises IocastError."""
    return size(request_of(SizeRequest, given))


def foretold(given: Given) -> Forecasted:
    """The forecast of a run's folder or card. Raises IocastError."""
    outcome = forecast(request_of(ForecastRequest, {**given, "folder": _folder(given["run"])}), _listener(given))
    if outcome is None:
        raise LoadError("the forecast was not verified", _STOPPED)
    return outcome


def calibrated(given: Given) -> Calibrated:
    """What a calibration of a path came to. Raises IocastError."""
    return _result(calibrate(request_of(CalibrateRequest, given), _listener(given)), given["path"])


def points_measured(given: Given) -> Card:
    """The card of an ORION command line. Raises IocastError."""
    line = given["command_line"]
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise SpecError(f"{line}: {error}", "for example -run simple -num_disks 4") from None
    request = request_of(MatrixRequest, {**given, "settings": parse(words)})
    card = run_matrix(request, _listener(given)).card
    if card is None:
        raise LoadError("no data point was measured", "the listener stopped it before the first one finished")
    return card


def profiled(given: Given) -> Profiled:
    """The profile of traces. Raises IocastError."""
    from iocast.sessions.profiling.profile_traces import profile_traces

    path = given["path"]
    traces = (path,) if isinstance(path, str) else tuple(path)
    if not traces:
        raise SpecError("no trace is given", 'for example iocast.profile("trace.csv.gz")')
    return profile_traces(request_of(ProfileRequest, {**given, "traces": traces}))


def replayed(given: Given) -> Card:
    """The card of a replay. Raises IocastError."""
    from iocast.sessions.tracing.replay_trace import replay

    pairs = tuple(f"{old}={new}" for old, new in (given["mapped"] or {}).items())
    card = replay(request_of(ReplayRequest, {**given, "mapped": pairs}), _listener(given)).card
    if card is None:
        raise LoadError(f"{given['path']}: nothing was measured", "the listener stopped it before the first I/O ended")
    return card


def captured(given: Given) -> TraceReport:
    """What became of every record of a capture. Raises IocastError."""
    from iocast.sessions.tracing.capture_trace import capture

    return capture(request_of(CaptureRequest, given), _listener(given))


_STOPPED = "the listener stopped it before the first row finished"


def _listener(given: Given) -> Listener:
    return given["listener"] or Quiet()


def _result(result: T | None, name: str) -> T:
    if result is None:
        raise LoadError(f"{name}: nothing was measured", _STOPPED)
    return result


def _card_of(measured: MeasuredJob, name: str) -> Card:
    return _result(measured.card, name)


def _folder(run: Card | str) -> str:
    if isinstance(run, str):
        return run
    if not run.folder:
        raise SpecError("this run was not saved and has no folder", "open the card of a run folder instead")
    return run.folder
