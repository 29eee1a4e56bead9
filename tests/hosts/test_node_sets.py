"""Sets of hosts, as administrators write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.errors import SpecError
from iocast.hosts.node_sets import HostPlace, folded, names_of, parse_hosts


def test_brackets_are_numbers_and_ranges_with_their_zeros_kept() -> None:
    assert [each.host for each in parse_hosts("db[1-3,7],web[08-10]x")] == [
        *("db1", "db2", "db3", "db7"),
        *("web08x", "web09x", "web10x"),
    ]


def test_a_path_may_differ_from_host_to_host() -> None:
    places = parse_hosts("db[1-2]:/u01 db3:/u02/%h,db4")
    assert places == (*(HostPlace(f"db{n}", "/u01") for n in (1, 2)), HostPlace("db3", "/u02/%h"), HostPlace("db4"))
    assert [place.at("/data").path for place in places] == ["/u01", "/u01", "/u02/db3", "/data"]


def test_a_file_has_a_set_on_each_line(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("# the cluster\ndb[1-2]:/u01  # two of them\n\nweb1\n")
    assert [each.host for each in parse_hosts(str(tmp_path / "nodes"))] == ["db1", "db2", "web1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "names no host"),
        ("db[1-2", "brackets do not match"),
        ("db1]", "brackets do not match"),
        ("db[2-1]", "goes from 2 to 1"),
        ("db[a-b]", "no range of numbers"),
        ("db[1-100000]", "goes from"),
        ("a[0-99]b[0-99]", "10,000 hosts"),
        ("db1:", "no path behind the colon"),
        ("db1,db1", "twice"),
        ("-oProxyCommand=x", "no name of a host"),
        ("db;reboot", "no name of a host"),
    ],
)
def test_what_is_no_set_is_refused_with_the_place(text: str, says: str) -> None:
    with pytest.raises(SpecError, match="--hosts") as refused:
        parse_hosts(text)
    assert says in refused.value.message
    assert refused.value.hint


@given(st.lists(st.integers(0, 999), min_size=1, max_size=30, unique=True), st.booleans())
def test_what_is_folded_unfolds_to_the_same_hosts(numbers: list[int], padded: bool) -> None:
    names = tuple(f"db{number:03}.x" if padded else f"db{number}.x" for number in numbers)
    assert {each.host for each in parse_hosts(folded(names))} == set(names)


def test_a_host_that_works_in_two_places_is_two() -> None:
    assert names_of([HostPlace("a", "/1"), HostPlace("a", "/2"), HostPlace("b")]) == ["a", "a.2", "b"]


def test_the_places_of_one_host_are_neighbours_as_its_ranks_are() -> None:
    places = parse_hosts("db1:/a,db2:/a,db1:/b")
    assert places == (HostPlace("db1", "/a"), HostPlace("db1", "/b"), HostPlace("db2", "/a"))
