"""A wall clock that a test sets while programs run, in place of the machine's: a library that is loaded before libc."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

_LIBRARY = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *ahead_ns;

__attribute__((constructor)) static void find(void) {
    const char *path = getenv("SET_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *at = mmap(NULL, sizeof *ahead_ns, PROT_READ, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) ahead_ns = at;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && ahead_ns && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec + *ahead_ns;
        now->tv_sec = ns / 1000000000;
        now->tv_nsec = ns % 1000000000;
    }
    return (int)failed;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
"""


class SetClock:
    """The clock of all programs that are started with its `environment`."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("cc") is None:
            pytest.skip("needs cc")
        source, library, self._ahead = folder / "clock.c", folder / "clock.so", folder / "ahead"
        source.write_text(_LIBRARY)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        self._ahead.write_bytes(bytes(8))
        self.environment = {"LD_PRELOAD": str(library), "SET_CLOCK": str(self._ahead)}

    def put(self, ahead_s: float) -> None:
        """Sets the clock so much ahead of that of the machine."""
        with self._ahead.open("r+b") as file:
            file.write(struct.pack("=q", round(ahead_s * 1e9)))
