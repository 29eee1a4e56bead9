"""Hydra, the launcher of MPICH: starts one rank a host by ssh, Slurm, PBS or fork, and ends them.

It hands SIGINT and SIGTERM on to every rank, tells the others by SIGUSR1 when one has died, and when it is killed
itself its proxies kill their ranks at once.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from iocast.archive.writing.held_folder import HeldFolder
from iocast.errors import LoadError
from iocast.hosts.launched_ranks import EXTRA
from iocast.hosts.node_sets import HostPlace
from iocast.starting import ending_with_us

_FILE = "rank-%r"
_SAID_BYTES = 4000  # of what ssh and Hydra said: their last words say why
_NOISE = re.compile(r"===|=   |YOUR APPLICATION TERMINATED|This typically refers|Please see the FAQ|.*Ctrl-C")


def find_launcher() -> str:
    """Hydra beside this Python, else on the PATH. Raises LoadError."""
    beside = Path(sys.executable).parent / "mpiexec"
    program = str(beside) if os.access(beside, os.X_OK) else shutil.which("mpiexec.hydra")
    if program is None:
        raise LoadError("mpiexec of MPICH is not there: it starts iocast on other hosts", EXTRA)
    return program


def command(program: str, places: Sequence[HostPlace], room: str, words: Sequence[str]) -> list[str]:
    """The call of Hydra: a rank for each place, in their order, the output of each in a file of its own in `room`."""
    counts = Counter(place.host for place in places)
    named = ",".join(f"{host}:{count}" for host, count in counts.items())
    ranks = ("-n", str(len(places)), "-hosts", named)
    return [program, "-disable-auto-cleanup", f"-outfile-pattern={room}/{_FILE}", *ranks, *words]


class Launched:
    """Ranks that were started, and what they have said."""

    def __init__(self, line: Sequence[str], request: bytes, room: HeldFolder, count: int) -> None:
        """Raises LoadError where they cannot be started."""
        self._said = os.fdopen(room.create("said"), "r+b")
        self.files = tuple(room.path / _FILE.replace("%r", str(number)) for number in range(count))
        try:
            self._process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                env=_environment(os.environ),
                start_new_session=True,  # a signal of the terminal comes from us, once
                preexec_fn=ending_with_us(signal.SIGKILL),  # and with Hydra all ranks: no load goes on alone
            )
        except OSError as error:
            self._said.close()
            raise LoadError(f"cannot start {line[0]}: {error.strerror}", EXTRA) from error
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(request)
            self._process.stdin.close()
        except BrokenPipeError:
            pass  # why it ended is in what it said

    @property
    def ended(self) -> bool:
        """Whether all ranks have ended."""
        return self._process.poll() is not None

    @property
    def exit_code(self) -> int:
        """Of the launcher; 0 while it runs."""
        return self._process.poll() or 0

    def said(self) -> str:
        """The last words of ssh, Hydra and the ranks, without Hydra's own frame around the death of one."""
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - _SAID_BYTES))
        lines = self._said.read().decode(errors="replace").splitlines()
        kept = [line.strip() for line in lines if line.strip() and not _NOISE.match(line)]
        return "\n".join(kept[-8:])

    def stop(self) -> None:
        """Asks all ranks to end well."""
        if not self.ended:
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """Ends all ranks now, stopped ones too."""
        if not self.ended:
            self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Nothing is left running."""
        self.kill()
        self._said.close()


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """That of this process, without what would make a rank believe that it is one of another launch. ssh never asks
    for a password, which nobody would see."""
    kept = {name: value for name, value in given.items() if not name.startswith(("PMI_", "PMIX_", "OMPI_"))}
    if kept.get("HYDRA_LAUNCHER", "ssh") == "ssh":
        kept.setdefault("HYDRA_LAUNCHER_EXTRA_ARGS", "-o BatchMode=yes -o ConnectTimeout=10")
    return kept
