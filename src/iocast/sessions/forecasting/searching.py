"""The script of a calibration: the runner's, with what the study says of the rows so far."""

from __future__ import annotations

from iocast.analyse.facts import Facts
from iocast.diagnose.trust.row_trust import judge
from iocast.forecast.limit_search import Chooser
from iocast.model.calibration_request import CalibrationRequest
from iocast.model.plan import Plan
from iocast.model.run import PhaseRecord, Run
from iocast.model.script import Script
from iocast.observe.host import describe_host
from iocast.results.calibration import REFUSED, trust_of
from iocast.runner.scripts.calibrating import Calibrating, bench_of


def search_script(plan: Plan, request: CalibrationRequest, data_bytes: int) -> Script:
    """Chooses the rows of a calibration of so much data."""
    return Calibrating(request, bench_of(plan, data_bytes), Chooser(request, Doubts(plan, request).refused))


class Doubts:
    """What trust refuses of a row by itself, while the run goes on; detectors may refuse more when it is over."""

    def __init__(self, plan: Plan, request: CalibrationRequest) -> None:
        self._plan, self._request, self._host = plan, request, describe_host()

    def refused(self, record: PhaseRecord) -> bool:
        """True for a row of trust D or F."""
        alone = Run(plan=self._plan, host=self._host, started_unix_ns=0, status="running", phases=(record,))
        return trust_of(self._request, judge(Facts(alone).row(record), ())).grade in REFUSED
