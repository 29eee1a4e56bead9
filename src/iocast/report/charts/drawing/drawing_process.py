"""The process in which vl-convert draws: a request a line, an answer each. Where it dies, only drawings are lost.

It is run as a script and imports nothing of iocast, so that it is warm soon.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

HEAD = struct.Struct("<Q?Q")  # of an answer: its number, whether it is a drawing or an error, its bytes
_configuring, _answering = threading.Lock(), threading.Lock()


def serve(workers: int) -> None:
    """Answers until nobody asks any more; what is being drawn then is left undone."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")  # rather it than the measurement
    answers = os.dup(1)
    os.dup2(2, 1)  # what the engine itself prints is no answer
    # Threads only wait, without Python's lock, until their drawings are done; one more than there are workers, so
    # that a worker has its next drawing at hand while others hold that lock.
    pool = ThreadPoolExecutor(workers + 1, "drawing")
    with os.fdopen(0, "rb") as requests:
        for line in requests:
            pool.submit(_answer, line, answers, workers)
    os.kill(os.getpid(), signal.SIGKILL)


def _answer(line: bytes, answers: int, workers: int) -> None:
    asked = json.loads(line)
    try:
        drawn = getattr(_engine(workers), asked["form"])(asked["spec"], **asked["options"])
        fine, data = True, drawn.encode() if isinstance(drawn, str) else bytes(drawn)
    except BaseException as error:  # a panic of the engine is no Exception
        fine, data = False, " ".join(str(error).split("\n")[:2]).encode()
    with _answering, open(answers, "wb", closefd=False) as out:
        out.write(HEAD.pack(asked["number"], fine, len(data)) + data)


def _engine(workers: int) -> Any:
    with _configuring:
        return _configured(workers)


@cache
def _configured(workers: int) -> Any:
    import vl_convert  # type: ignore[import-untyped]

    # Charts bring all of their data with them; nothing is fetched.
    vl_convert.configure(num_workers=workers, base_url=False, allowed_base_urls=[])
    return vl_convert


if __name__ == "__main__":
    serve(int(sys.argv[1]))
