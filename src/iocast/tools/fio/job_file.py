"""Reads the text of a fio job file: sections with their settings, inherited ones included, each with its line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from iocast.tools.fio.job_options import ALIASES

_HEADER = re.compile(r"\[([^\[\]]*)\]")
_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_COMMENT = re.compile("[;#]")
_SECTION = re.compile(r"^\[(.*)\]$")
_INCLUDE = re.compile(r"include\s")
# What an iocast job file may begin with by mistake; a fio job of that name says rw, without quotes.
_TABLES = ("files", "defaults", "tree", "database")
_HEADLESS = re.compile(r"^[^\S\n]*(?:rw|readwrite)[^\S\n]*=[^\S\n]*[a-z]", re.MULTILINE)  # TOML would have quotes
ONLY_JOB = "job"  # what a job without the head of a section is called


class Setting(NamedTuple):
    """A value as written, the key as written, and the line of both."""

    text: str
    key: str
    line: int


class Section(NamedTuple):
    """A job section: its name, its line, its settings (its own and those of [global] above it) by fio's own key."""

    name: str
    line: int
    settings: dict[str, Setting]


Fault = Callable[[int, str, str], None]  # is told the line, what is wrong, and the way out


def looks_like_fio(text: str) -> bool:
    """True when the first line that says anything is the header of a fio section, or no line is one and rw is set."""
    for line in text.splitlines():
        said = line.strip()
        if said and said[0] not in "#;":
            match = _HEADER.match(said)
            if match is not None:
                ours = match[1] in _TABLES and not _HEADLESS.search(text)
                return not said.startswith("[[") and not ours
            return is_headless(text) and bool(_HEADLESS.search(text))
    return False


def is_headless(text: str) -> bool:
    """True when it has settings, and no section: slides and mails often leave the head of the only job out."""
    said = [line for _, line in _lines(text)]
    return bool(said) and not any(line.startswith("[") for line in said)


def read_sections(text: str, environment: Mapping[str, str], fault: Fault) -> list[Section]:
    """The job sections in order; every [global] counts for the sections below it. Without any head it is one job."""
    shared: dict[str, Setting] = {}
    sections = [Section(ONLY_JOB, 1, {})] if is_headless(text) else []
    into = sections[0].settings if sections else None
    for line, said in _lines(text):
        if said.startswith("["):
            name = _section_name(said, line, fault)
            if name == "global":
                into = shared
            else:
                into = dict(shared)
                sections.append(Section(name, line, into))
            continue
        setting = _setting(said, line, environment, fault)
        if setting is None:
            continue
        key = ALIASES.get(setting.key, setting.key)
        if into is None:
            fault(line, f"{said}: it comes before the first section", "put it below [global]")
            continue
        into.pop(key, None)  # the order of a dict is the order in which fio takes the settings
        into[key] = setting
    return sections


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Every line that says anything, without its comment."""
    for number, line in enumerate(text.splitlines(), 1):
        said = _COMMENT.split(line, maxsplit=1)[0].strip()
        if said:
            yield number, said


def _section_name(said: str, line: int, fault: Fault) -> str:
    match = _SECTION.fullmatch(said)
    if match is None or not match[1].strip():
        fault(line, f"{said}: not the head of a section", "write [name]")
        return "?"
    return str(match[1]).strip()


def _setting(said: str, line: int, environment: Mapping[str, str], fault: Fault) -> Setting | None:
    if _INCLUDE.match(said):
        name = said.split(None, 1)[1]
        fault(line, f"{said}: include is not supported", f"put the lines of {name} in its place")
        return None
    key, equals, value = (part.strip() for part in said.partition("="))
    for name in dict.fromkeys(_VARIABLE.findall(value)):
        if not environment.get(name):
            says = f"{said}: the environment variable {name} is not set"
            fault(line, says, f"run it as {name}=... iocast run ...")
            return None
    value = _VARIABLE.sub(lambda match: environment[match[1]], value)
    if equals and not value:
        fault(line, f"{said}: it has no value", f"give one, or leave {key} out")
        return None
    return Setting(value if equals else "1", key, line)
