"""calibrate --repeat: the same calibration several times, and whether its maxima repeat."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.sessions.comparing import Repeats, group_folder, refuse_unfit, repeats_in
from iocast.sessions.events import AnswerReady, RunBegun
from iocast.sessions.forecasting.calibrate import NAME, calibration_asked, calibration_job
from iocast.sessions.job_run import run_job
from iocast.sessions.listener import Listener
from iocast.sessions.requests.calibrate import CalibrateRequest
from iocast.sessions.target_finding import find_target


def repeat_calibration(request: CalibrateRequest, times: int, listener: Listener) -> Repeats | None:
    """Calibrates several times, each with the next seed; None when it was stopped. Raises IocastError."""
    wanted, options = calibration_asked(request), request.options
    first = find_target(request.path)
    refuse_unfit(calibration_job(wanted, options, first), first, options)
    with group_folder(options.out, f"repeat-{NAME}") as folder:
        for number in range(1, times + 1):
            listener.tell(RunBegun(number, times))
            this = replace(options, seed=options.seed + number - 1, out=folder)
            target = find_target(request.path)
            done = run_job(calibration_job(wanted, options, target), target, this, listener)
            if done.told_or_error(listener).stopped:
                return None
        repeats = repeats_in(folder)
    listener.tell(AnswerReady(repeats.report()))
    return repeats
