"""iocast size: how many disks or volumes a database needs, and what makes it that many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.showing import Into, deliver_report

if TYPE_CHECKING:
    from iocast.sessions.forecasting.sizing_request import SizeRequest


def _amount(_context: click.Context, param: click.Parameter, text: str | None) -> float | None:
    """A number of 0 or more: 30000, 30k."""
    from iocast.sessions.forecasting.model_inputs import rate

    return None if text is None else rate(param.opts[0], text)


@click.command()
@click.option("--capacity", metavar="SIZE", default="", help="Data to hold, e.g. 2TB.")
@click.option("--iops", metavar="NUMBER", callback=_amount, help="Reads and writes a second at peak.")
@click.option("--mbps", metavar="NUMBER", callback=_amount, help="MB/s (1000 x 1000) at peak: scans, loads, backups.")
@click.option("--read", metavar="PERCENT", default="", help="Share of reads; default 70%.")
@click.option("--size", metavar="SIZE", default="", help="I/O size; default 8k.")
@click.option("--slo", metavar="LIMIT", default="", help="Response time: 5ms (p99), p95=5ms, mean=2ms.")
@click.option("--raid", metavar="LEVEL", default="", help="10, 5, 6, 1 or 0; default 10, of cloud volumes 0.")
@click.option("--group", metavar="NUMBER", type=click.IntRange(0), help="Devices of a parity group, 0: one of all.")
@click.option(
    "--device",
    metavar="DEVICE",
    default="",
    help="hdd-15k, hdd-10k, hdd-7200, sata-ssd, nvme, gp2, gp3, io2, premium-ssd-v2, a device file (.toml), or a run "
    "folder, whose ladder is used; default: all of the library beside each other.",
)
@click.option("--device-capacity", metavar="SIZE", default="", help="What the device of a run folder holds.")
@click.option("--growth", metavar="PERCENT", default="", help="Growth a year, e.g. 20%/year, with --years.")
@click.option("--years", metavar="NUMBER", type=click.IntRange(0, 30), help="Years of growth.")
@click.option("--utilisation", metavar="PERCENT", default="", help="At most; default 60% of disks, 70% of others.")
@click.option("--spares", metavar="NUMBER", type=click.IntRange(0), default=0, help="Spare devices.")
@click.option("--price", metavar="AMOUNT", type=click.FloatRange(0), help="Price of one device, in any currency.")
@click.option("--interview", is_flag=True, help="Ask for what is missing, question by question.")
@filing
@presenting
def size(interview: bool, into: Into | None, form: str, **asked: Any) -> int:
    """Size storage: disks or volumes for capacity, IOPS, throughput, response time and a failure.

    `iocast size --capacity 2TB --iops 30000 --mbps 800 --read 70% --size 8k --slo 5ms --device sata-ssd`.
    Capacity alone is refused: it sizes nothing.
    """
    from iocast.sessions.forecasting.size_devices import size as sized
    from iocast.sessions.forecasting.sizing_request import SizeRequest

    request = SizeRequest(**asked)
    if interview:
        request = _interviewed(request)
    deliver_report(sized(request).report(charts=into is not None), form, into)
    return 0


def _interviewed(request: SizeRequest) -> SizeRequest:
    """Kolk's questions, asked on stderr so that stdout is the answer; what was given is not asked again."""
    from iocast.sessions.forecasting.sizing_interview import Interview

    interview = Interview(request)
    while (question := interview.question()) is not None:
        answer = click.prompt(question.text, default=question.usual, show_default=bool(question.usual), err=True)
        if said := interview.answer(str(answer)):
            click.echo(said, err=True)
    return interview.request()
