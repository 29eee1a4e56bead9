"""Names that must differ."""

from __future__ import annotations

from iocast.report.unique_names import numbered


def test_what_comes_again_gets_a_number_that_is_free() -> None:
    assert numbered(("a", "b", "a", "a")) == ("a", "b", "a-2", "a-3")
    assert numbered(("a-2", "a", "a")) == ("a-2", "a", "a-3")
    assert numbered(()) == ()
