"""iocast size: how many disks or volumes a database needs, and what makes it that many."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import Into, deliver_report
from iocast.commands.shell.streams import asking
from iocast.sessions.requests.size import SizeRequest


@click.command()
@asked_by(SizeRequest)
@click.option("--interview", is_flag=True, help="Ask for what is missing, question by question.")
@filing
@presenting
def size(request: SizeRequest, interview: bool, into: Into | None, form: str) -> int:
    """Size storage: disks or volumes for capacity, IOPS, throughput, response time and a failure.

    `iocast size --capacity 2TB --iops 30000 --mbps 800 --read 70% --size 8k --slo 5ms --device sata-ssd`.
    Capacity alone is refused: it sizes nothing.
    """
    from iocast.sessions.forecasting.size_devices import size as sized

    if interview:
        request = _interviewed(request)
    deliver_report(sized(request).report(charts=into is not None), form, into)
    return 0


def _interviewed(request: SizeRequest) -> SizeRequest:
    """Kolk's questions, asked on stderr so that stdout is the answer; what was given is not asked again."""
    from iocast.sessions.forecasting.sizing_interview import Interview

    interview = Interview(request)
    with asking():
        while (question := interview.question()) is not None:
            answer = click.prompt(question.text, default=question.usual, show_default=bool(question.usual), err=True)
            if said := interview.answer(str(answer)):
                click.echo(said, err=True)
    return interview.request()
