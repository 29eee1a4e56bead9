"""Sets of hosts as administrators write them: db[1-4,7]:/u01, a file of such lines.

Brackets are those of ClusterShell and Slurm: numbers and ranges with commas between them, zeros in front kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import product

from msgspec import Struct

from iocast.errors import SpecError

MOST_HOSTS = 1024
_EXAMPLE = "for example --hosts db[1-4]:/u01, --hosts db1:/u01,db2:/u02 or --hosts FILE with one on each line"
_NAME = re.compile(r"[A-Za-z0-9_.@-]+")


class HostPlace(Struct, frozen=True):
    """A host, and the path on it; "" where that is the PATH of the command."""

    host: str
    path: str = ""

    def at(self, path: str) -> HostPlace:
        """Itself, on this path where it has none; %h in it is the name of the host."""
        return HostPlace(self.host, (self.path or path).replace("%h", self.host))


def parse_hosts(text: str, name: str = "--hosts") -> tuple[HostPlace, ...]:
    """The hosts of a node set or of a file of them, in order; the places of one host are neighbours, as its ranks are.

    Raises SpecError.
    """
    if os.path.isfile(text):
        return _of_file(text, name)
    return _checked(_places(text, name), name)


def _of_file(path: str, name: str) -> tuple[HostPlace, ...]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read(1 << 20).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{name} {path}: cannot be read: {error}", _EXAMPLE) from error
    places: list[HostPlace] = []
    for number, line in enumerate(lines, 1):
        if said := line.partition("#")[0].strip():
            places += _places(said, f"{path}, line {number}")
    return _checked(places, f"{name} {path}")


def _checked(places: list[HostPlace], name: str) -> tuple[HostPlace, ...]:
    if not places:
        raise SpecError(f"{name} names no host", _EXAMPLE)
    if len(places) > MOST_HOSTS:
        raise SpecError(f"{name} names {len(places):,} hosts; at most {MOST_HOSTS:,} work at once", _EXAMPLE)
    twice = [place for number, place in enumerate(places) if place in places[:number]]
    if twice:
        raise SpecError(f"{name} names {twice[0].host} twice with one path", "give each host once")
    order = list(dict.fromkeys(place.host for place in places))
    return tuple(sorted(places, key=lambda place: order.index(place.host)))


def _places(text: str, name: str) -> list[HostPlace]:
    places: list[HostPlace] = []
    for part in _parts(text, name):
        hosts, colon, path = _split(part)
        if colon and not path:
            raise SpecError(f'{name}: "{part}" has no path behind the colon', _EXAMPLE)
        places += [HostPlace(host, path) for host in _expanded(hosts, name)]
    return places


def _split(part: str) -> tuple[str, str, str]:
    """Hosts and path: a colon within brackets belongs to neither."""
    hosts, colon, path = part.partition(":")
    return hosts.strip(), colon, path.strip()


def _parts(text: str, name: str) -> Iterator[str]:
    """What stands between commas outside brackets, and between blanks."""
    depth, part = 0, ""
    for sign in text:
        depth += (sign == "[") - (sign == "]")
        if depth not in (0, 1):
            break
        if depth == 0 and (sign == "," or sign.isspace()):
            if part:
                yield part
            part = ""
            continue
        part += sign
    if depth:
        raise SpecError(f'{name}: brackets do not match in "{text}"', _EXAMPLE)
    if part:
        yield part


def _expanded(hosts: str, name: str) -> Iterator[str]:
    pieces = re.split(r"\[([^\]]*)\]", hosts)
    choices = [_range(piece, hosts, name) if number % 2 else [piece] for number, piece in enumerate(pieces)]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST_HOSTS:
        raise SpecError(f"{name}: {hosts} is {count:,} hosts; at most {MOST_HOSTS:,} work at once", _EXAMPLE)
    for chosen in product(*choices):
        host = "".join(chosen)
        if not _NAME.fullmatch(host) or host.startswith("-"):
            raise SpecError(f'{name}: "{host}" is no name of a host', _EXAMPLE)
        yield host


def _range(text: str, hosts: str, name: str) -> list[str]:
    numbers: list[str] = []
    for part in text.split(","):
        ends = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", part)
        if ends is None:
            raise SpecError(f'{name}: "[{text}]" in {hosts} is no range of numbers', _EXAMPLE)
        first, last = ends[1], ends[2] or ends[1]
        low, high = parsed_number(first), parsed_number(last)
        if high < low or high - low >= MOST_HOSTS:
            raise SpecError(f'{name}: "{part}" in {hosts} goes from {first} to {last}', _EXAMPLE)
        numbers += [str(number).zfill(len(first)) for number in range(low, high + 1)]
    return numbers


def parsed_number(digits: str) -> int:
    """A number of at most nine ASCII digits."""
    return int(digits, 10)


def folded(names: tuple[str, ...]) -> str:
    """Names of hosts as one set: db[1-4], web2."""
    groups: dict[tuple[str, str], list[str]] = {}
    for host in dict.fromkeys(names):
        parts = re.fullmatch(r"(.*?)([0-9]{1,9})([^0-9]*)", host)
        key = (parts[1], parts[3]) if parts else (host, "")
        groups.setdefault(key, []).append(parts[2] if parts else "")
    return ",".join(_folded(key, numbers) for key, numbers in groups.items())


def _folded(around: tuple[str, str], numbers: list[str]) -> str:
    before, after = around
    if numbers == [""]:
        return before
    if len(numbers) == 1:
        return f"{before}{numbers[0]}{after}"
    runs: list[list[str]] = []
    for digits in sorted(numbers, key=lambda each: (len(each), parsed_number(each))):
        last = runs[-1][-1] if runs else None
        if last is not None and len(last) == len(digits) and parsed_number(digits) == parsed_number(last) + 1:
            runs[-1].append(digits)
        elif last is not None and not digits.startswith("0") and parsed_number(digits) == parsed_number(last) + 1:
            runs[-1].append(digits)  # 9, 10
        else:
            runs.append([digits])
    said = ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"{before}[{said}]{after}"


def names_of(places: Sequence[HostPlace]) -> list[str]:
    """A name for each host that no other has: a host that works in two places is two."""
    names: list[str] = []
    for place in places:
        name, number = place.host, 1
        while name in names:
            number += 1
            name = f"{place.host}.{number}"
        names.append(name)
    return names
