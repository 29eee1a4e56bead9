"""The `iocast` command. `--version` is answered here, before anything is imported that takes time."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from iocast import __version__

        print(f"iocast {__version__}")
        return
    # A run is many small values and no circles: to look for those took a tenth of the time of `report`.
    gc.set_threshold(100_000)
    from iocast.commands import run_command_line

    sys.exit(run_command_line())


if __name__ == "__main__":
    main()
