"""A process that hands plans to the core within 4 GiB and says what came of each: a core that aborts takes it along.

Standard input has a line of JSON a case: `kind` (plan or read_back), `text`, and `journal`, which is what the journal
of `journal_path` holds before, as hex. With `truncates` that journal is emptied while the plan is run.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

from iocast import _core

MEMORY_BYTES = 4 << 30


def outcome(case: dict[str, Any]) -> str:
    """`done`, or `refused` when the core says why."""
    if case.get("journal") is not None:
        Path(case["journal_path"]).write_bytes(bytes.fromhex(case["journal"]))
    ticks = iter((True,))

    def on_tick(elapsed_ns: int, *_: int) -> bool:
        if not case.get("truncates"):
            return next(ticks, False)
        if elapsed_ns:
            os.truncate(case["journal_path"], 0)
        return True

    try:
        if case["kind"] == "plan":
            ((result, _),) = _core.run_together([case["text"]], on_tick)
            assert json.loads(result)["ios"] >= 0
        else:
            assert json.loads(_core.read_back(case["text"], on_tick))["blocks"] >= 0
    except _core.CoreError as refused:
        message, hint, _ = refused.args
        assert message
        assert isinstance(hint, str)
        return "refused"
    except ValueError:
        return "refused"
    return "done"


def main() -> None:
    """All cases, each answered before the next begins."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for line in sys.stdin:
        print(outcome(json.loads(line)), flush=True)


if __name__ == "__main__":
    main()
