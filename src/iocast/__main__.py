"""The `iocast` command. `--version` is answered here, before anything is imported that takes time."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` is made of, without the time that takes
import os
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


# Ctrl-C while modules are imported would be a traceback that says nothing.
_leaving = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _leaving:
    _signal.signal(_signal.SIGINT, _leave)

_STACK_BYTES = 1 << 20  # of a thread of a library, which gets what the limit of this process says


def _require_stack() -> None:
    """With a small stack a thread ends in a segmentation fault: a limit that may be raised is, any other is refused."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if soft == resource.RLIM_INFINITY or soft >= _STACK_BYTES:
        return
    if hard == resource.RLIM_INFINITY or hard >= _STACK_BYTES:
        usual = 8 << 20
        resource.setrlimit(resource.RLIMIT_STACK, (usual if hard < 0 else min(usual, hard), hard))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # it counts from the start of a process
    os.write(2, f"error: the limit of the stack is {soft >> 10} kB; iocast needs 1024 kB\n\n".encode())
    os.write(2, b"hint: raise it with `ulimit -s 8192`, or LimitSTACK=8M in the systemd unit, and start again\n")
    sys.exit(2)


def main() -> None:
    """Runs the command line and leaves with its exit code."""
    _require_stack()
    if sys.argv[1:] in (["--version"], ["-V"]):
        from iocast import __version__

        print(f"iocast {__version__}")
        return
    import gc

    # A run is many small values and no circles: to look for those took a tenth of the time of `report`.
    gc.set_threshold(100_000)
    from iocast.commands import run_command_line
    from iocast.commands.shell.interrupts import raise_between_imports
    from iocast.commands.shell.streams import open_all

    open_all()
    if _leaving:
        raise_between_imports()
    code = run_command_line()
    if _leaving:  # all is done: an interpreter that ends knows no handlers, and would be killed
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        _signal.signal(_signal.SIGALRM, _signal.SIG_IGN)
    sys.exit(code)


if __name__ == "__main__":
    main()
