"""How people give a field of a request: an option or an argument, its words, and what reads its text.

A request is a Struct. Its fields, with what is said of them here, are the options of a verb, in the order of help; the
parameters of the function of `iocast` itself; and what the session is handed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import UNSET, Meta, Struct
from msgspec.structs import fields, replace

R = TypeVar("R", bound=Struct)
# Of a text; the second text is what it is called in a SpecError. A ValueError says what is wrong without a hint.
Reader = Callable[[str, str], Any]


class Option(Struct, frozen=True):
    """An option; an argument where `spelt` is None.

    `usual` is what the command line takes where nothing is given, if that is not the field's default: its text, or
    what only a person at a terminal wants. A `quiet` default is not shown in help.
    """

    says: str
    metavar: str | None
    spelt: tuple[str, ...] | None
    read: Reader | None = None
    usual: Any = UNSET
    quiet: bool = False


def option(
    says: str,
    metavar: str | None = None,
    *,
    spelt: str = "",
    read: Reader | None = None,
    usual: Any = UNSET,
    quiet: bool = False,
) -> Meta:
    """For Annotated: the field is an option, called after the field unless it is spelt otherwise."""
    return Meta(extra={"option": Option(says, metavar, tuple(spelt.split()), read, usual, quiet)})


def argument(says: str = "", metavar: str | None = None) -> Meta:
    """For Annotated: the field is an argument; it may be left out where the field has a default. Help does not show
    what it `says`: that stands in the description of the verb."""
    return Meta(extra={"option": Option(says, metavar, None)})


def part(*names: str) -> Meta:
    """For Annotated: of the Struct that is this field, these fields are asked for, in this order."""
    return Meta(extra={"part": names})


class Field(NamedTuple):
    """A field of a request, or of a part of it. `option` is None where people do not give it, or in several options."""

    name: str
    option: Option | None
    kind: Any  # its type, without None
    bounds: Meta  # what a number may be
    default: Any  # NODEFAULT: it must be given

    @property
    def called(self) -> str:
        """What it is called in Python: as its option, which has no unit in its name."""
        spelt = self.option.spelt if self.option else None
        return max(spelt, key=len).partition("/")[0].strip("-").replace("-", "_") if spelt else self.name


def fields_of(request: type[Struct]) -> Iterator[Field]:
    """The fields of a request in the order of help, those of its parts among them."""
    hints = get_type_hints(request, include_extras=True)
    for each in fields(request):
        hint, (extra, bounds) = hints[each.name], _metas(hints[each.name])
        if "part" in extra:
            inside = {field.name: field for field in fields_of(hint.__origin__)}
            yield from (inside[name] for name in extra["part"])
            continue
        given: Option | None = extra.get("option")
        if given is not None and given.spelt == ():
            given = replace(given, spelt=("--" + each.name.replace("_", "-"),))
        yield Field(each.name, given, _kind(hint.__origin__ if given else hint), bounds, each.default)


def filled(request: type[R], values: Mapping[str, Any]) -> R:
    """The request with these values of its fields and of those of its parts; what is left out has its default."""
    hints, own = get_type_hints(request, include_extras=True), {}
    for name in request.__struct_fields__:
        part = _metas(hints[name])[0].get("part")
        if part is not None:
            own[name] = hints[name].__origin__(**{each: values[each] for each in part if each in values})
        elif name in values:
            own[name] = values[name]
    return request(**own)


def request_of(request: type[R], given: Mapping[str, Any]) -> R:
    """The request of a call in Python: values by the names of fields or of their options; texts are read.

    Raises SpecError, which names the parameter.
    """
    values = {}
    for field in fields_of(request):
        name = field.name if field.name in given else field.called
        if name in given:
            values[field.name] = _read(field, name, given[name])
    return filled(request, values)


def _read(field: Field, name: str, value: Any) -> Any:
    several = get_origin(field.kind) is tuple and not isinstance(value, str)
    if several and tuple(value) == field.default == ():
        return ()
    if field.option is not None and field.option.read is not None:
        text = ",".join(map(str, value)) if several else value
        return field.option.read(text, name) if isinstance(text, str) else text
    return tuple(value) if several else value


def _metas(hint: Any) -> tuple[dict[str, Any], Meta]:
    """What is said of a field here, and the bounds that are said beside it."""
    metas = [meta for meta in getattr(hint, "__metadata__", ()) if isinstance(meta, Meta)]
    extra = {name: value for meta in metas for name, value in (meta.extra or {}).items()}
    return extra, next((meta for meta in metas if not meta.extra), Meta())


def _kind(hint: Any) -> Any:
    """The type without None; text where it may be of several."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    left = [each for each in get_args(hint) if each is not NoneType]
    return left[0] if len(left) == 1 else str
