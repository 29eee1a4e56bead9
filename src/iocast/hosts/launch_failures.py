"""Why iocast did not start on a host, from what ssh, Hydra and Python said, and the command that mends it."""

from __future__ import annotations

import os
import re
import shlex
import sys

from msgspec import Struct

from iocast import __version__
from iocast.hosts.launched_ranks import EXTRA


class Failure(Struct, frozen=True):
    """The link of the chain that failed, and the way out."""

    why: str
    mend: str


def failure_of(host: str, said: str) -> Failure:
    """What failed on a host; its last words where nothing else is known of them."""
    for pattern, why, mend in _KNOWN:
        if re.search(pattern, said, re.IGNORECASE):
            words = {"host": host, "python": shlex.quote(sys.executable), "bin": os.path.dirname(sys.executable)}
            return Failure(why.format(**words), mend.format(**words))
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "it said nothing")
    return Failure(
        f"iocast did not start: {last.strip()}", f"try it by hand: ssh {host} {shlex.quote(sys.executable)} -m iocast"
    )


_INSTALL = (
    f"install iocast {__version__} with its extra `hosts` there under the same path as here ({{bin}}), as MPI needs it"
)
_KNOWN = (
    (
        r"could not resolve hostname|name or service not known|unable to resolve|gethostbyname",
        "its name is not known here",
        "add {host} to DNS, /etc/hosts or ~/.ssh/config",
    ),
    (r"host key verification failed", "its host key is not known here", "ssh {host} once, and accept its key"),
    (r"permission denied \(", "ssh does not let this user in without a password", "ssh-copy-id {host}"),
    (
        r"connection refused|no route to host|timed out|network is unreachable|host is down",
        "it does not answer ssh",
        "see that {host} is up and runs sshd: ssh {host} true",
    ),
    (r"no module named '?iocast", "iocast is not installed there", _INSTALL),
    (r"MPI for Python cannot be used", "MPI is not installed there", f"on {{host}}: {EXTRA}"),
    (r"no such command '?hosts|unknown command", "its iocast is older than this one", _INSTALL),
    (r"no such file or directory|not found|cannot execute", "iocast is not installed there", _INSTALL),
)
