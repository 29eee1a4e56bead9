"""Starts a command under a seccomp profile in the form of container runtimes, in another root and as another user.

    with_seccomp_profile.py [--profile FILE] [--refuse CALL,…] [--root DIR --user NUMBER --at DIR] COMMAND …

It knows what such profiles of a denying kind have: calls that are allowed unless a rule names them, and rules of one
argument. The numbers of calls are those of x86-64, from the headers of the kernel.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import struct
from pathlib import Path
from typing import Any

HEADERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"), Path("/usr/include/asm/unistd_64.h")
X86_64 = 0xC000003E
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, AND, EQUAL, RETURN = 0x20, 0x54, 0x15, 0x06
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # where they lie in what a filter is shown
WORD = 0xFFFFFFFF

Step = tuple[int, int, int, int]


def numbers() -> dict[str, int]:
    """Numbers of system calls by name, as the headers of this machine have them; none without headers."""
    text = next((path.read_text() for path in HEADERS if path.exists()), "")
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", text)}


def program(profile: dict[str, Any], known: dict[str, int]) -> list[Step]:
    """The filter of a profile: what no rule refuses is allowed, and another architecture's calls kill."""
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert profile["architectures"] == ["SCMP_ARCH_X86_64"]
    steps: list[Step] = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, X86_64), (RETURN, 0, 0, KILL)]
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ERRNO"
        refused = [*_arguments(rule.get("args", [])), (RETURN, 0, 0, REFUSE | rule["errnoRet"])]
        for name in rule["names"]:
            steps += [(LOAD, 0, 0, NUMBER), (EQUAL, 0, len(refused), known[name]), *refused]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def _arguments(rules: list[dict[str, Any]]) -> list[Step]:
    """Steps that go on only if an argument is what the rule says; otherwise past the refusal, which is one step."""
    if not rules:
        return []
    (rule,) = rules
    masked = rule["op"] == "SCMP_CMP_MASKED_EQ"
    assert masked or rule["op"] == "SCMP_CMP_EQ"
    mask, value = (rule["value"], rule["valueTwo"]) if masked else (WORD << 32 | WORD, rule["value"])
    at = ARGUMENTS + 8 * rule["index"]
    words = [(at, mask & WORD, value & WORD), (at + 4, mask >> 32, value >> 32)]  # the low one first
    steps: list[Step] = []
    for left, (offset, bits, wanted) in enumerate(words):
        past = 1 + 3 * (len(words) - 1 - left)
        steps += [(LOAD, 0, 0, offset), (AND, 0, 0, bits), (EQUAL, 0, past, wanted)]
    return steps


def install(steps: list[Step]) -> None:
    """Puts this process and what it starts under a filter."""
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(PR_SET_SECCOMP, FILTER, header, 0, 0) == 0, os.strerror(ctypes.get_errno())


def enter(root: str, user: int, at: str) -> None:
    """As runtimes do: another root, a user without groups."""
    os.chroot(root)
    os.chdir(at)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def main() -> None:
    """Does what is asked, and becomes the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--refuse", default="", help="calls that the profile lets through")
    parser.add_argument("--root")
    parser.add_argument("--user", type=int, default=65532)
    parser.add_argument("--at", default="/")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    steps = []
    if options.profile:
        profile = json.loads(options.profile.read_text())
        names = [name for name in options.refuse.split(",") if name]
        profile["syscalls"] += [{"names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]
        steps = program(profile, numbers())
    if options.root:
        enter(options.root, options.user, options.at)
    if steps:
        install(steps)
    os.execvp(options.command[0], options.command)


if __name__ == "__main__":
    main()
