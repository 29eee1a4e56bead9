"""Starts a command that may lock only so many bytes of memory, as a small RLIMIT_MEMLOCK of a plain user has it."""

from __future__ import annotations

import ctypes
import os
import resource
import sys

PR_CAPBSET_DROP, CAP_IPC_LOCK = 24, 14


if __name__ == "__main__":
    size_bytes = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (size_bytes, size_bytes))
    # Root may lock what it likes; after the exec this one no longer may.
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0)
    os.execvp(sys.argv[2], sys.argv[2:])
