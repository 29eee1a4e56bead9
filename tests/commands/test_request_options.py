"""Options are made of the fields of a request, and a call in Python makes the same request."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
import rich_click as click
from click.testing import CliRunner, Result
from msgspec import Meta, Struct

from iocast.commands.shell.request_options import asked_by, field_options
from iocast.errors import SpecError
from iocast.sessions.requests.option import argument, option, part, request_of


def _halves(text: str, name: str) -> int:
    if not text.isdecimal():
        raise SpecError(f"{name}: {text} is no number", "give 2")
    return int(text) // 2


def _even(text: str, _name: str) -> int:
    if int(text) % 2:
        raise ValueError(f"{text} is odd")
    return int(text)


class Inner(Struct, frozen=True, kw_only=True):
    half: Annotated[int, option("Half of it.", "NUMBER", spelt="-d --double", read=_halves, usual="8")] = 4
    unasked: Annotated[int, option("Never seen.")] = 1


class Request(Struct, frozen=True, kw_only=True):
    where: Annotated[str, argument("A place.")]
    more: Annotated[tuple[str, ...], argument("More of them.", "[MORE]...")] = ()
    count: Annotated[int | None, option("How many."), Meta(ge=1, le=9)] = None
    way: Annotated[Literal["up", "down"], option("Which way.")] = "up"
    quick: Annotated[bool, option("Hurry.")] = False
    page: Annotated[bool, option("Leave a page.", spelt="--page/--no-page", usual=True)] = False
    names: Annotated[tuple[str, ...], option("A name.", "NAME", spelt="--name")] = ()
    even: Annotated[int, option("An even number.", "NUMBER", read=_even, quiet=True)] = 2
    inner: Annotated[Inner, part("half")] = Inner()
    ours: int = 7


def _called(*words: str, without: tuple[str, ...] = ()) -> tuple[Result, list[Any]]:
    seen = list[Any]()
    own = click.option("--own", is_flag=True)

    @click.command()
    @asked_by(Request, without=without, way=(own,))
    def verb(request: Request, own: bool) -> None:
        seen.extend((request, own))

    return CliRunner().invoke(verb, words), seen


def test_what_is_not_given_has_its_default() -> None:
    _, seen = _called("here")
    assert seen == [Request(where="here", page=True), False]


def test_each_kind_of_field_is_read() -> None:
    words = "here a b --count 3 --way down --quick --no-page --name x --name y --even 4 -d 6 --own"
    _, seen = _called(*words.split())
    given = Request(
        where="here", more=("a", "b"), count=3, way="down", quick=True, names=("x", "y"), even=4, inner=Inner(half=3)
    )
    assert seen == [given, True]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "WHERE"),
        ("here --count 0", "1<=x<=9"),
        ("here --way left", "'left' is not one of"),
        ("here --even 3", "3 is odd"),
        ("here --unasked 1", "No such option"),
    ],
)
def test_what_does_not_fit_is_refused(words: str, said: str) -> None:
    done, seen = _called(*words.split())
    assert (done.exit_code, seen) == (2, [])
    assert said in done.output


def test_help_has_the_order_of_the_fields_and_shows_defaults_that_are_not_quiet() -> None:
    text = _called("--help")[0].output
    places = [text.index(word) for word in ("--count", "--own", "--way", "--quick", "--page", "--name", "--even", "-d")]
    assert places == sorted(places)
    assert text.count("default: ") == 3  # way, page, double
    assert "[default: 8]" in text
    assert "--quick" not in _called("--help", without=("quick",))[0].output


def test_a_call_in_python_makes_the_same_request() -> None:
    given = {"where": "here", "name": ["x"], "double": "6", "count": 3, "nonsense": 1}
    assert request_of(Request, given) == Request(where="here", names=("x",), count=3, inner=Inner(half=3))
    with pytest.raises(SpecError, match="double: six is no number"):
        request_of(Request, {"where": "here", "double": "six"})


def test_single_fields_are_handed_over_by_their_names() -> None:
    seen = list[Any]()

    @click.command()
    @field_options(Request, "count", "page")
    def verb(**given: Any) -> None:
        seen.append(given)

    CliRunner().invoke(verb, ["--count", "2"])
    assert seen == [{"count": 2, "page": True}]
