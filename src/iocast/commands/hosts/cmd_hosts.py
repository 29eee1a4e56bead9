"""iocast hosts: looks at hosts before they work together, and is what runs on each of them."""

from __future__ import annotations

import os
import sys

import rich_click as click

from iocast.commands.shell.options import json_option


@click.group()
def hosts() -> None:
    """Check hosts before `iocast run JOB PATH --hosts db[1-4]` works on all of them at once."""


@hosts.command()
@click.argument("nodes")
@click.argument("path", default=".")
@json_option
def check(nodes: str, path: str, as_json: bool) -> int:
    """Try every link of the chain to NODES, such as db[1-4]:/u01, and name the one that fails.

    PATH is that of hosts without one of their own (default: the current directory).

    Each host is asked alone, and then all that answer together: versions, engine, free space, whether they have
    storage of their own or the same, how far their clocks are apart. Nothing is written. Exit code 1: some host cannot
    take part.
    """
    from iocast.commands.shell.showing import present, print_json
    from iocast.model.results.answers import HostsChecked
    from iocast.report.hosts_check import hosts_check
    from iocast.sessions.hosts.host_check import check_hosts

    checked = check_hosts(nodes, path)
    if as_json:
        print_json(HostsChecked(hosts=checked))
    else:
        present(hosts_check(checked), "terminal")
    return int(any(host.problem for host in checked))


@hosts.command(hidden=True)
def rank() -> None:
    """Run as one of the ranks that the launcher of MPI starts; the first reads the request."""
    from iocast.commands.shell.interrupts import Interrupts
    from iocast.commands.shell.terminal_listener import lines_of
    from iocast.sessions.hosts.as_rank import run_launched_rank

    with Interrupts() as interrupts:
        run_launched_rank(lines_of, interrupts.stopped)
    sys.stderr.flush()
    os._exit(0)  # how it ended has been told; without MPI's own farewell, which waits for those that may have died
