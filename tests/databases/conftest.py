"""What several tests of servers need."""

from __future__ import annotations

import pytest

from iocast.databases.postgresql.server_programs import ServerPrograms, find_programs
from iocast.errors import DatabaseError


@pytest.fixture
def some() -> ServerPrograms:
    """Whatever can be had here."""
    try:
        return find_programs()
    except DatabaseError as why:
        pytest.skip(str(why))
