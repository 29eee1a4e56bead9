"""iocast forecast --on RUN --iops N --slo p99=5ms: will production be fine on this storage?"""

from __future__ import annotations

import rich_click as click
from msgspec.structs import replace

from iocast.commands.shell.options import fail_on, filing, presenting, within
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into, deliver_report
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.forecast import ForecastRequest

VERDICTS = ("marginal", "at-risk", "not-ok", "unknown")
_EXPLAIN = click.option("--explain", is_flag=True, help="Show the arithmetic step by step.")


@click.command()
@asked_by(ForecastRequest, verify=(_EXPLAIN,))
@within
@filing
@presenting
@fail_on(*VERDICTS)
def forecast(
    request: ForecastRequest, explain: bool, directory: str, into: Into | None, form: str, fail_on: frozenset[str]
) -> int:
    """Forecast the response time of a production load from a measured ladder.

    The verdict comes first: OK, MARGINAL, AT RISK, NOT OK, or UNKNOWN with the test to run. All figures have 95%
    intervals. Rows with trust D or F are not used.
    """
    from iocast.archive.catalogue import find_run
    from iocast.sessions.forecasting.forecast import forecast as foretell

    if request.folder is not None:
        request = replace(request, folder=find_run(directory, request.folder))
    listener = TerminalListener(form)
    forecasted = foretell(request, listener)
    if forecasted is not None:
        deliver_report(forecasted.report(charts=into is not None, explain=explain), form, into)
    failed = forecasted is not None and forecasted.verdict.replace("_", "-") in fail_on
    return listener.exit_code or int(failed)
