"""What the live screen costs: CPU time of `iocast top` in a terminal of 100x30, as a share of one processor.

    python bench/top_screen.py [SECONDS] [options of iocast top]

The process refreshes once a second and is left alone; the first five seconds, in which it is loaded, count for nothing.
The thread that follows the layers of the kernel is counted apart: what it costs depends on the I/O of the machine, and
is measured by `layer_watch.py`.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time
from pathlib import Path

WARM_S = 5.0
LAYERS = "iocast-layers"


def cpu_s(pid: int) -> tuple[float, float]:
    """User and system time so far: of the thread that follows the layers, and of all others."""
    layers = others = 0.0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        name, _, rest = (thread / "stat").read_text().partition(" (")[2].rpartition(") ")
        spent_s = sum(int(ticks) for ticks in rest.split()[11:13]) / os.sysconf("SC_CLK_TCK")
        if name == LAYERS:
            layers += spent_s
        else:
            others += spent_s
    return layers, others


def drain(terminal: int, until: float) -> int:
    """Reads what the screen writes, as a terminal would; returns how many bytes."""
    read = 0
    while (left := until - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            read += len(os.read(terminal, 1 << 16))
    return read


def main() -> None:
    """Prints the share, and what was written to the terminal."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    pid, terminal = pty.fork()
    if not pid:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-m", "iocast", "top", *sys.argv[2:]])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    os.kill(pid, signal.SIGWINCH)
    drain(terminal, time.monotonic() + WARM_S)
    before, begun = cpu_s(pid), time.monotonic()
    wrote = drain(terminal, begun + seconds)
    elapsed_s = time.monotonic() - begun
    layers, screen = ((now - then) / elapsed_s for now, then in zip(cpu_s(pid), before, strict=True))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print(f"{screen:.2%} of one processor, {wrote / seconds:,.0f} bytes a second to the terminal; layers {layers:.2%}")


if __name__ == "__main__":
    main()
