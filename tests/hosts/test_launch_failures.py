"""What ssh, Hydra and Python say when iocast does not start, as a cause and a way out."""

from __future__ import annotations

import pytest

from iocast.hosts.launch_failures import failure_of


@pytest.mark.parametrize(
    ("said", "why", "mend"),
    [
        ("ssh: Could not resolve hostname db9: Name or service not known", "its name is not known", "DNS"),
        ("root@db9: Permission denied (publickey,password).", "without a password", "ssh-copy-id db9"),
        ("ssh: connect to host db9 port 22: Connection refused", "does not answer ssh", "ssh db9 true"),
        ("ssh: connect to host db9 port 22: Connection timed out", "does not answer ssh", "ssh db9 true"),
        ("Host key verification failed.", "host key", "accept its key"),
        ("bash: /opt/iocast/bin/hydra_pmi_proxy: No such file or directory", "not installed", "same path"),
        ("/opt/py/bin/python: No module named iocast", "not installed", "same path"),
        ("error: MPI for Python cannot be used: No module named 'mpi4py'", "MPI is not installed", "iocast[hosts]"),
        ("a rare complaint", "a rare complaint", "by hand: ssh db9"),
        ("", "it said nothing", "by hand: ssh db9"),
    ],
)
def test_the_link_that_failed_is_named(said: str, why: str, mend: str) -> None:
    failure = failure_of("db9", said)
    assert why in failure.why
    assert mend in failure.mend
