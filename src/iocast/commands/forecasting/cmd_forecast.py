"""iocast forecast --on RUN --iops N --slo p99=5ms: will production be fine on this storage?"""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting, within
from iocast.commands.shell.showing import Into, deliver_report
from iocast.commands.shell.terminal_listener import TerminalListener


@click.command()
@click.option("--on", "folder", metavar="RUN", help="The run to forecast from: its ladder of closed rows.")
@click.option("--measure", metavar="PATH", help="Measure a ladder of this mix on PATH first, instead of --on.")
@click.option("--iops", metavar="RATE", help="IOPS of production at its peak, e.g. 4000 or 4k.")
@click.option("--read", default="100%", show_default=True, metavar="PERCENT", help="Share of reads.")
@click.option("--size", default="8k", show_default=True, metavar="SIZE", help="I/O size.")
@click.option("--slo", default="p99=5ms", show_default=True, metavar="LEVEL", help="Service level: p99=5ms, mean=2ms.")
@click.option(
    "--load", metavar="PROFILE", help="A profile of `iocast profile`, instead of --iops, --read, --size, --cv2."
)
@click.option("--burst", metavar="RATE:TIME/TIME", help="Bursts above --iops: 9000/s:30s/10m is 30 s in every 10 min.")
@click.option("--rates", metavar="FILE", help="CSV of seconds and IOPS, instead of --iops.")
@click.option(
    "--cv2",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="Squared coefficient of variation of the time between I/Os: 1 random, above 1 bursty.",
)
@click.option(
    "--what-if", "what_ifs", multiple=True, metavar="CHANGE", help="load*2, load+20%, cache=50%:200us, volume=gp3."
)
@click.option("--explain", is_flag=True, help="Show the arithmetic step by step.")
@click.option("--verify", metavar="PATH", help="Replay the load on PATH, open loop, at the peak and 1.2 times it.")
@click.option("--time", default="30s", show_default=True, metavar="TIME", help="Duration of each row of --measure.")
@click.option("--file-size", metavar="SIZE", help="Size of the work file of --measure and --verify. Default: 2GiB.")
@click.option("--out", default="iocast-runs", show_default=True, metavar="DIR", help="Directory for run folders.")
@within
@filing
@presenting
def forecast(
    folder: str | None,
    measure: str | None,
    what_ifs: tuple[str, ...],
    explain: bool,
    verify: str | None,
    time: str,
    file_size: str | None,
    out: str,
    directory: str,
    into: Into | None,
    form: str,
    **load: object,
) -> int:
    """Forecast the response time of a production load from a measured ladder.

    The verdict comes first: OK, MARGINAL, AT RISK, NOT OK, or UNKNOWN with the test to run. All figures have 95%
    intervals. Rows with trust D or F are not used.
    """
    from iocast.archive.catalogue import find_run
    from iocast.sessions.forecasting.asked_load import LoadOptions
    from iocast.sessions.forecasting.forecast import ForecastRequest
    from iocast.sessions.forecasting.forecast import forecast as foretell
    from iocast.sessions.requests.run_options import size_of_files, time_of_rows

    listener = TerminalListener(form)
    request = ForecastRequest(
        load=LoadOptions(**load),  # type: ignore[arg-type]
        folder=None if folder is None else find_run(directory, folder),
        measure=measure,
        verify=verify,
        what_ifs=what_ifs,
        seconds=time_of_rows(time) / 1e9,
        file_bytes=None if file_size is None else size_of_files(file_size, "--file-size"),
        out=out,
    )
    found = foretell(request, listener)
    if found is not None:
        deliver_report(found.report(charts=into is not None, explain=explain), form, into)
    return listener.exit_code
