"""The `iocast` command. `--version` is answered here, before anything is imported that takes time."""

from __future__ import annotations

import gc
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def _leave(number: int, _frame: FrameType | None) -> None:
    try:  # noqa: SIM105, contextlib would be imported first
        os.write(2, b"stopped\n")
    except OSError:  # nobody reads it
        pass
    os._exit(128 + number)


# Ctrl-C while modules are imported, or the interpreter ends, would be a traceback that says nothing.
_leaving = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _leaving:
    signal.signal(signal.SIGINT, _leave)


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from iocast import __version__

        print(f"iocast {__version__}")
        return
    # A run is many small values and no circles: to look for those took a tenth of the time of `report`.
    gc.set_threshold(100_000)
    from iocast.commands import run_command_line
    from iocast.commands.shell.streams import open_all

    open_all()
    if _leaving:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = run_command_line()
    if _leaving:
        signal.signal(signal.SIGINT, _leave)
    sys.exit(code)


if __name__ == "__main__":
    main()
