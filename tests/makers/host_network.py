"""Hosts to test with: network namespaces on a bridge, each with a name and an sshd of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

_PORT = 2222
_NET = "10.99.7"


class HostNetwork(Struct, frozen=True):
    """Addresses of the hosts, and the environment in which Hydra reaches them."""

    names: tuple[str, ...]
    environment: dict[str, str]

    def cut(self, number: int) -> None:
        """Cuts the cable of a host."""
        _run("ip", "link", "set", f"iov{number}", "down")

    def mend(self, number: int) -> None:
        """Mends it."""
        _run("ip", "link", "set", f"iov{number}", "up")


@contextlib.contextmanager
def host_network(room: Path, count: int, given: Mapping[str, str] = os.environ) -> Iterator[HostNetwork]:
    """`count` hosts that ssh lets in without a password, until it is left."""
    sshd = "/usr/sbin/sshd"
    _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(room / "key"))
    (room / "authorized").write_text((room / "key.pub").read_text())
    Path("/run/sshd").mkdir(exist_ok=True)
    config = room / "ssh_config"
    config.write_text(
        f"Host *\n Port {_PORT}\n IdentityFile {room / 'key'}\n UserKnownHostsFile {room / 'known'}\n"
        " StrictHostKeyChecking no\n LogLevel ERROR\n"
    )
    launcher = room / "sshw"
    launcher.write_text(f'#!/bin/sh\nexec ssh -F {config} "$@"\n')
    launcher.chmod(0o755)
    servers: list[subprocess.Popen[bytes]] = []
    names = tuple(f"{_NET}.{number + 11}" for number in range(count))
    try:
        _run("ip", "link", "add", "iobr0", "type", "bridge")
        _run("ip", "addr", "add", f"{_NET}.1/24", "dev", "iobr0")
        _run("ip", "link", "set", "iobr0", "up")
        for number, address in enumerate(names):
            space = f"iohost{number}"
            _run("ip", "netns", "add", space)
            _run("ip", "link", "add", f"iov{number}", "type", "veth", "peer", "name", "eth0", "netns", space)
            _run("ip", "link", "set", f"iov{number}", "master", "iobr0", "up")
            _run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
            _run("ip", "-n", space, "link", "set", "eth0", "up")
            _run("ip", "-n", space, "link", "set", "lo", "up")
            server = room / f"sshd{number}"
            server.write_text(
                f"Port {_PORT}\nListenAddress {address}\nHostKey {room / 'key'}\nUsePAM no\nPidFile none\n"
                f"AuthorizedKeysFile {room / 'authorized'}\nStrictModes no\nPermitRootLogin yes\n"
            )
            line = f"hostname db{number + 1}; exec {sshd} -D -f {server}"
            servers.append(subprocess.Popen(["ip", "netns", "exec", space, "unshare", "-u", "sh", "-c", line]))
        environment = {
            **given,
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": str(launcher),
            "HYDRA_IFACE": "iobr0",
        }
        for address in names:
            _wait_for(launcher, address)
        yield HostNetwork(names, environment)
    finally:
        for server_process in servers:
            server_process.terminate()
            server_process.wait()
        for number in range(count):
            subprocess.run(["ip", "netns", "del", f"iohost{number}"], stderr=subprocess.DEVNULL, check=False)
            subprocess.run(["ip", "link", "del", f"iov{number}"], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["ip", "link", "del", "iobr0"], stderr=subprocess.DEVNULL, check=False)


def _wait_for(launcher: Path, address: str) -> None:
    until_s = time.monotonic() + 10
    while subprocess.run([launcher, address, "true"], capture_output=True, check=False).returncode:
        assert time.monotonic() < until_s, f"no sshd on {address}"
        time.sleep(0.2)


def _run(*line: str) -> None:
    subprocess.run(line, check=True, capture_output=True)


def ranks_of(room: Path) -> list[int]:
    """The ranks whose launcher was started in this room."""
    ranks = []
    for rank in rank_processes():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{rank}/cwd").readlink() == room:
                ranks.append(rank)
    return ranks


def rank_processes() -> list[int]:
    """All ranks on this machine, in the order in which they were started."""
    ranks = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdecimal() else []
            if line[1:5] == [b"-m", b"iocast", b"hosts", b"rank"]:
                ranks.append(int(process.name))
    return sorted(ranks)
