"""What the functions of `iocast` itself do with what they are given."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from iocast.errors import LoadError, SpecError
from iocast.model.database.database_load import DatabaseLoad, LoadRamp
from iocast.model.finding import Examination
from iocast.model.job import Job
from iocast.model.run import Run
from iocast.model.workload import Sync
from iocast.sessions.card import Card
from iocast.sessions.comparing import Comparison, compare
from iocast.sessions.forecasting.calibrate import Calibrated, CalibrateRequest, calibrate, calibration_asked
from iocast.sessions.forecasting.matrix import MatrixRequest, run_matrix
from iocast.sessions.inquire import DiagnoseRequest, budget_of, diagnose
from iocast.sessions.listener import Listener, Quiet
from iocast.sessions.measure import Measured, measure
from iocast.sessions.named_experiment import Answered, TrialRequest, experiment, trial_request
from iocast.sessions.requests import MeasureRequest, RunOptions, size_of_files, time_of_rows
from iocast.tools.orion.command_line import parse


def options(size: str | None, time: str | None, seed: int, out: str, destroy: str) -> RunOptions:
    """What is changed about a job. Raises SpecError, which names the argument."""
    size_bytes = None if size is None else size_of_files(size, "size")
    duration_ns = None if time is None else time_of_rows(time, "time")
    return RunOptions(size_bytes=size_bytes, duration_ns=duration_ns, seed=seed, out=out, destroy=destroy)


def measured(job: str | Job, path: str, options: RunOptions, listener: Listener | None) -> Card:
    """The card of a job on a path. Raises IocastError."""
    return _card_of(measure(MeasureRequest(job=job, path=path, options=options), listener or Quiet()), path)


def beside_server(job: str, path: str, server: str, options: RunOptions, listener: Listener | None) -> Card:
    """The card of a job on a path, with a database beside it. Raises IocastError."""
    from iocast.sessions.database.with_server import measure_with_server

    request = MeasureRequest(job=job, path=path, options=options)
    return _card_of(measure_with_server(request, server, listener or Quiet()), path)


def load_ramp(
    sessions: Sequence[int], time: str, load: DatabaseLoad | None, rate_per_s: float | None, until_steady: bool
) -> LoadRamp:
    """The load of a database. Raises SpecError for a time that is none."""
    return LoadRamp(
        load=load or DatabaseLoad(),
        sessions=tuple(sessions),
        seconds=time_of_rows(time, "time") / 1e9,
        rate_per_s=rate_per_s,
        until_steady=until_steady,
    )


def database_loaded(
    url: str, ramp: LoadRamp, options: RunOptions, beside_others: bool, listener: Listener | None
) -> Card:
    """The card of a load through a database. Raises IocastError."""
    from iocast.sessions.database.load_db import LoadRequest, run

    measure = MeasureRequest(job="", path=url, options=options)
    request = LoadRequest(url=url, beside_others=beside_others, load=ramp, measure=measure)
    return _card_of(run(request, listener or Quiet()), "load-db")


def _card_of(measured: Measured, name: str) -> Card:
    if measured.card is None:
        raise LoadError(f"{name}: nothing was measured", "the listener stopped it before the first row finished")
    return measured.card


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


def diagnosed(run: Card | str, budget: str, most_bytes: str, listener: Listener | None) -> Card:
    """The card of a run after its experiments. Raises IocastError."""
    allowed = budget_of(budget, most_bytes)
    card = diagnose(DiagnoseRequest(folder=_folder(run), budget=allowed), listener or Quiet())
    assert card is not None  # there is a run already
    return card


def trial(
    name: str,
    paths: tuple[str, ...],
    options: RunOptions,
    rounds: int | None,
    block: str | None,
    depth: int | None,
    streams: int | None,
    sync: Sync,
    sizes: Sequence[str],
) -> TrialRequest:
    """The request of a named experiment. Raises SpecError, which names the option."""
    changes = {"rounds": rounds, "depth": depth, "streams": streams, "sync": sync}
    return trial_request(name, block=block, sizes=",".join(sizes), paths=paths, options=options, **changes)


def answered(request: TrialRequest, listener: Listener | None) -> Answered:
    """What a named experiment found. Raises IocastError."""
    found = experiment(request, listener or Quiet())
    if found is None:
        raise LoadError(
            f"experiment {request.name}: nothing was measured", "the listener stopped it before the first row finished"
        )
    return found


def calibrated(
    path: str,
    options: RunOptions,
    max_latency: str,
    percentile: str,
    disks: int | None,
    block: str,
    listener: Listener | None,
) -> Calibrated:
    """What a calibration of a path came to. Raises IocastError."""
    row_seconds = None if options.duration_ns is None else options.duration_ns / 1e9
    asked = calibration_asked(max_latency, percentile, block, disks, row_seconds)
    found = calibrate(CalibrateRequest(path=path, asked=asked, options=options), listener or Quiet())
    if found is None:
        raise LoadError(f"{path}: nothing was measured", "the listener stopped it before the first row finished")
    return found


def matrix_request(
    command_line: str,
    paths: tuple[str, ...],
    luns: int | None,
    size: str | None,
    seed: int,
    destroy: Sequence[str],
    out: str,
    files: str,
) -> MatrixRequest:
    """The request of an ORION command line. Raises SpecError."""
    try:
        words = shlex.split(command_line)
    except ValueError as error:
        raise SpecError(f"{command_line}: {error}", "for example -run simple -num_disks 4") from None
    return MatrixRequest(
        settings=parse(words),
        paths=paths,
        luns=luns,
        destroy=tuple(destroy),
        options=options(size, None, seed, out, " ".join(destroy)),
        files=files,
    )


def points_measured(request: MatrixRequest, listener: Listener | None) -> Card:
    """The card of an ORION run. Raises IocastError."""
    card = run_matrix(request, listener or Quiet()).card
    if card is None:
        raise LoadError("no data point was measured", "the listener stopped it before the first one finished")
    return card


def _folder(run: Card | str) -> str:
    if isinstance(run, str):
        return run
    if not run.folder:
        raise SpecError("this run was not saved and has no folder", "open the card of a run folder instead")
    return run.folder
