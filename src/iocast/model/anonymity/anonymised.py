"""A value without names: every text of a structure becomes what stands in its place; figures and times stay."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from msgspec import Struct, structs

from iocast.metrics import PART
from iocast.model.anonymity.name_fields import FIELDS, SUBJECTS, TEXTS
from iocast.model.anonymity.name_kinds import pseudonym
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.run import Sample, Tape

T = TypeVar("T")
UNDECLARED = "text"  # the kind of what `FIELDS` does not have


def anonymised(value: T, names: Pseudonyms) -> T:
    """The same structure, all of its texts by their kinds."""
    return typing.cast("T", _walked(value, names, UNDECLARED))


def anonymised_fields(owner: str, fields: Mapping[str, Any], names: Pseudonyms) -> dict[str, Any]:
    """The same of a structure that was decoded as a plain mapping."""
    return {name: _walked(each, names, FIELDS.get(f"{owner}.{name}", UNDECLARED)) for name, each in fields.items()}


def _walked(value: Any, names: Pseudonyms, kind: str | tuple[str, str]) -> Any:
    match value:
        case str():
            return pseudonym(names, kind if isinstance(kind, str) else kind[1], value)
        case Sample():
            return structs.replace(value, subject=subject(names, value.observer, value.subject))
        case Struct():
            owner = type(value).__name__
            fresh = {
                name: _walked(getattr(value, name), names, FIELDS.get(f"{owner}.{name}", UNDECLARED))
                for name in fields_with_text(type(value))
            }
            if isinstance(value, Tape):
                fresh["texts"] = texts(names, value.texts)
            return structs.replace(value, **fresh) if fresh else value
        case tuple() | list() | frozenset():
            return type(value)(_walked(each, names, kind) for each in value)
        case dict():
            of_keys = kind[0] if isinstance(kind, tuple) else kind
            return {_walked(key, names, of_keys): _walked(each, names, kind) for key, each in value.items()}
        case _:
            return value


@lru_cache(65_536)  # a tape has each of them in every interval
def subject(names: Pseudonyms, observer: str, text: str) -> str:
    """The subject of a sample, part by part: what is more than the parts that are known belongs to the first name."""
    kinds = SUBJECTS.get(observer)
    if not text:
        return text
    if kinds is None:
        return PART.join(names.named("name", part) for part in text.split(PART))
    parts = text.split(PART)
    if (more := len(parts) - len(kinds)) > 0:
        at = next((at for at, kind in enumerate(kinds) if kind != "kept"), 0)
        parts[at : at + more + 1] = [PART.join(parts[at : at + more + 1])]
    return PART.join(pseudonym(names, kind, part) for kind, part in zip(kinds, parts, strict=False))


def texts(names: Pseudonyms, by_name: Mapping[str, str]) -> dict[str, str]:
    """The texts of a tape, by subjects that are called as in its samples; a statement is called by its number."""
    fresh = {}
    for key, text in by_name.items():
        what, part, name = key.partition(PART)
        of_name, of_text = TEXTS.get(what, (UNDECLARED, UNDECLARED))
        hidden = pseudonym(names, of_name, name)
        fresh[f"{what}{part}{hidden}"] = hidden if of_name == of_text else pseudonym(names, of_text, text)
    return fresh


@lru_cache(1024)
def fields_with_text(kind: type[Struct]) -> tuple[str, ...]:
    """The fields of a structure in which any text may be that is no code of its own type."""
    hints = typing.get_type_hints(kind)
    return tuple(each.name for each in structs.fields(kind) if _may_hold_text(hints[each.name]))


def _may_hold_text(hint: Any, inside: frozenset[type] = frozenset()) -> bool:
    """Whether a value of this type may have a text anywhere; what is inside of itself adds nothing."""
    if typing.get_origin(hint) is typing.Literal or hint in inside:
        return False
    if isinstance(hint, type) and issubclass(hint, Struct):
        inner = tuple(typing.get_type_hints(hint).values())
        return any(_may_hold_text(each, inside | {hint}) for each in inner)
    if parts := typing.get_args(hint):
        return any(_may_hold_text(each, inside) for each in parts)
    return hint not in (int, float, bool, type(None), ..., bytes)
