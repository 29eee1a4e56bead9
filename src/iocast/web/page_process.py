"""The process in which pages are made: it ends when nobody asks, and what runs and drawings took in memory is free.

A page of 22 rows leaves 200 MB behind in the process that makes it. Where it dies, only its page is lost.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import threading
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from iocast.errors import IocastError, LoadError
from iocast.starting import starting
from iocast.web.folders import Folders

PAGES = ("page", "comparison", "group_page", "trend")  # of Folders
IDLE_S = 60.0  # then the process ends


class PageProcess:
    """Makes the pages of one directory, one at a time, in a process that is started when it is first needed."""

    def __init__(self, directory: str, idle_s: float = IDLE_S) -> None:
        self._directory, self._idle_s = directory, idle_s
        self._making = threading.Lock()  # each page takes the memory of a run and of its charts
        self._child: subprocess.Popen[bytes] | None = None
        self._asking: Connection | None = None
        self._over = False  # nothing is made any more

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over = True
        self.end()

    @property
    def pid(self) -> int | None:
        """The process that makes pages now."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def make(self, page: str, *arguments: Any) -> str:
        """The page, one of `PAGES`. Raises IocastError."""
        with self._making:
            page_text = self._answer(page, arguments)
            if page_text is None:  # it ended between two requests, because it was idle
                page_text = self._answer(page, arguments)
        if isinstance(page_text, Exception):
            raise page_text
        if page_text is None:
            raise LoadError("the page was not made: the process that makes it ended", "try again")
        return str(page_text)

    def _answer(self, page: str, arguments: tuple[Any, ...]) -> object:
        """What the process answers: a page or an exception; None where it had ended by itself."""
        if self._over:
            return None
        if self.pid is None:
            self.end()
        asking = self._asking or self._start()
        try:
            asking.send((page, arguments))
            return asking.recv()
        except (EOFError, OSError):
            code = self.end()
            return None if code == 0 else _died(code)

    def _start(self) -> Connection:
        own, other = socket.socketpair()
        with other:
            # -P: what stands in the directory is no module. A group of its own: Ctrl-C is not meant for it.
            command = [sys.executable, "-P", "-m", __name__, self._directory, str(other.fileno()), str(self._idle_s)]
            with starting():
                self._child = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=(other.fileno(),),
                    process_group=0,
                )
                # So that none is left dead.
                threading.Thread(target=self._child.wait, name="pages", daemon=True).start()
        self._asking = Connection(own.detach())
        return self._asking

    def end(self) -> int:
        """Ends the process, if there is one; returns its exit code."""
        asking, child, self._asking, self._child = self._asking, self._child, None, None
        if asking is None or child is None:
            return 0
        asking.close()
        try:
            return child.wait(timeout=0.5)  # it was idle, has died, or learns now that nobody asks
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()


def _died(code: int) -> LoadError:
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return LoadError(
        f"the page was not made: the process that makes it {how}",
        "where the kernel ended it, memory is short (`dmesg` says so); `iocast report FOLDER` shows the run as text",
    )


def serve_pages(directory: str, connection: Connection, idle_s: float) -> None:
    """Makes pages until nobody has asked for a while, or nobody can ask any more."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")  # rather it than a measurement
    with contextlib.suppress(EOFError, ConnectionError):
        while connection.poll(idle_s):
            connection.send(_page(directory, *connection.recv()))


def _page(directory: str, page: str, arguments: tuple[Any, ...]) -> object:
    try:
        assert page in PAGES, page
        return getattr(Folders(directory), page)(*arguments)  # a fresh listing: the server may have renamed a run
    except IocastError as error:
        return error
    except Exception:
        return RuntimeError(traceback.format_exc())  # as the server would have logged it


if __name__ == "__main__":
    serve_pages(sys.argv[1], Connection(int(sys.argv[2])), float(sys.argv[3]))
