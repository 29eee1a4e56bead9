"""iocast import FILE...: results of other tools become run folders."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import showing
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.run_options import RUNS


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--out", "-o", default=RUNS, show_default=True, metavar="DIR", help="Directory for run folders.")
@showing
def import_(files: tuple[str, ...], out: str, form: str) -> int:
    """Import result FILES of other tools (or folders of them) as run folders and show them.

    fio, fioparse, ORION, CALIBRATE_IO, vdbench, diskspd, CrystalDiskMark, ioping, iozone, IOR, mdtest, elbencho,
    kbench, iostat, sar, dstat, collectl, /proc/diskstats, strace and LatencyMap are known. Files of one format become
    the rows of one run. Figures missing from a file stay blank; unreadable lines are refused with file and line.
    """
    from iocast.sessions.import_results import import_results

    import_results(files, out, TerminalListener(form))
    return 0
