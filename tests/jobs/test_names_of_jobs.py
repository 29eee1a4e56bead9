"""Each name that the room of jobs has is there when it is asked for, and no other."""

from __future__ import annotations

import pytest

from iocast import jobs


def test_every_name_is_found_where_it_is_said_to_be() -> None:
    assert sorted(jobs.__all__) == sorted([*jobs._MODULES, "phases"])
    for name in jobs.__all__:
        assert getattr(jobs, name).__name__ == name


def test_another_name_is_none_of_its() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = jobs.nothing
