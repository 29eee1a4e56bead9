"""Defaults of options that a person sets once: in files of the user and of the directory, and in the environment.

What is given on the command line goes before IOCAST_CARD_TIME, that before IOCAST_TIME, then `iocast.toml` in the
current directory, then `config.toml` of the user. What gives something up or names a file to write is on the command
line only.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import rich_click as click

from iocast.commands.shell.mistakes import near
from iocast.errors import SpecError

HERE = "iocast.toml"
ON_THE_LINE_ONLY = ("destroy", "force", "beside-others", "output", "to", "files")
_PREFIX = "IOCAST_"
_SEE = "see iocast config"
_YES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Document(NamedTuple):
    """A file of defaults and its settings; {} where there is no such file."""

    file: str
    settings: dict[str, Any]


class SetDefault(NamedTuple):
    """The default of an option, and what says so: "iocast.toml", "IOCAST_TIME"."""

    value: Any
    source: str


def users_file() -> Path:
    """Where a user has defaults of his own."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(home) if home.startswith("/") else Path(os.path.expanduser("~/.config"))
    return base / "iocast" / "config.toml"


def read_documents(verbs: Collection[str]) -> tuple[Document, ...]:
    """The files of defaults, those of the user before that of the directory, which goes before them.

    Raises SpecError for a file that cannot be read or belongs to another user, and for a section that is none of the
    `verbs`.
    """
    documents = tuple(Document(str(file), _settings_in(file)) for file in (users_file(), Path(HERE)))
    for file, settings in documents:
        for name, table in settings.items():
            if isinstance(table, dict) and name not in verbs:
                raise SpecError(f"{file}: iocast has no verb [{name}]{near(name, verbs)}", "iocast --help lists them")
    return documents


def set_defaults(command: click.Command, verb: str, documents: Iterable[Document]) -> dict[str, SetDefault]:
    """What the files and the environment set for the options of a verb ("card", "load-db run"), by their long names.

    Raises SpecError for an option that the verb does not have or that only the command line may give, and for a value
    that the option cannot have.
    """
    options = named_options(command)
    defaults: dict[str, SetDefault] = {}
    for file, settings in documents:
        section = _section(settings, verb)
        if unknown := [name for name, value in section.items() if name not in options and not isinstance(value, dict)]:
            raise SpecError(f"{file}: {verb} has no option {unknown[0]}{near(unknown[0], options)}", _SEE)
        if tables := [name for name, value in section.items() if name in options and isinstance(value, dict)]:
            said = f"{file}: [{verb.replace(' ', '.')}.{tables[0]}] is a table, and {tables[0]} an option"
            raise SpecError(said, f"below [{verb.replace(' ', '.')}]: {tables[0]} = VALUE")
        for name, value in (*settings.items(), *section.items()):
            if name in options and not isinstance(value, dict):
                defaults[name] = SetDefault(_value(options[name], value, f"{file}: {name}"), file)
    for prefix in (_PREFIX, f"{_PREFIX}{_variable(verb)}_"):
        for name, option in options.items():
            text = os.environ.get(variable := prefix + _variable(name))
            if text:  # an empty variable is none, as everywhere
                defaults[name] = SetDefault(_from_text(option, text, variable), variable)
    for name, default in defaults.items():
        if name in ON_THE_LINE_ONLY:
            raise SpecError(f"{default.source}: --{name} is given on the command line only", "remove it there")
    return defaults


def named_options(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by their long names, without short forms of others, such as --json."""
    return {
        max(each.opts, key=len).lstrip("-"): each
        for each in command.params
        if isinstance(each, click.Option) and not (each.is_flag and isinstance(each.flag_value, str))
    }


def default_map(command: click.Command, verb: str, documents: Sequence[Document]) -> dict[str, Any]:
    """What is set for a verb, as click takes it; of a group for each of its words."""
    if isinstance(command, click.Group):
        return {name: default_map(each, f"{verb} {name}", documents) for name, each in command.commands.items()}
    options = named_options(command)
    return {options[name].name or name: each.value for name, each in set_defaults(command, verb, documents).items()}


def is_anything_set() -> bool:
    """Whether there is a file of defaults, or a variable that may be one."""
    variables = any(name.startswith(_PREFIX) for name in os.environ)
    return variables or os.path.lexists(HERE) or os.path.lexists(users_file())


def _variable(name: str) -> str:
    return name.upper().replace("-", "_").replace(" ", "_")


def _settings_in(file: Path) -> dict[str, Any]:
    """A file's settings; nothing where it is not there. Raises SpecError."""
    import tomllib

    from iocast.archive.regular_file import UnfitFile, written_text

    try:
        owner = os.stat(file).st_uid
        text = written_text(str(file))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnfitFile, ValueError) as error:
        raise SpecError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}", _SEE) from None
    if owner not in (0, os.geteuid()):
        raise SpecError(
            f"{file} belongs to user {owner}: what another user wrote sets no defaults here",
            "give the options on the command line, work in another directory, or take the file over (chown)",
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: {error}", 'for example time = "10s", or a section [card]') from None


def _section(settings: Mapping[str, Any], verb: str) -> Mapping[str, Any]:
    """The table of a verb: [card], [load-db.run]."""
    table = settings
    for word in verb.split():
        inner = table.get(word)
        table = inner if isinstance(inner, dict) else {}
    return table


def _value(option: click.Option, value: Any, where: str) -> Any:
    """A value of a file as the text that an option takes. Raises SpecError."""
    if option.is_flag:
        if not isinstance(value, bool):
            raise SpecError(f"{where} is {value!r}", "it is true or false")
        return value
    if option.multiple:
        values = value if isinstance(value, list) else [value]
        return tuple(str(each) for each in values)
    if isinstance(value, bool | list):
        raise SpecError(f"{where} is {value!r}", f"it is a text: {option.metavar or 'VALUE'}")
    return str(value)


def _from_text(option: click.Option, text: str, where: str) -> Any:
    if option.is_flag:
        if text.lower() not in _YES:
            raise SpecError(f'{where} is "{text}"', "it is true or false")
        return _YES[text.lower()]
    return tuple(text.split()) if option.multiple else text


def all_commands(verbs: Iterable[tuple[str, click.Command]]) -> Iterator[tuple[str, click.Command]]:
    """Verbs, and in place of a group each of its words ("load-db run")."""
    for verb, command in verbs:
        if isinstance(command, click.Group):
            yield from all_commands((f"{verb} {name}", each) for name, each in command.commands.items())
        else:
            yield verb, command


def all_set(
    commands: Mapping[str, click.Command], documents: Sequence[Document]
) -> Iterator[tuple[str, str, SetDefault]]:
    """Verb, option and what is set for it, of all these. Raises SpecError; for a name that no verb has, too."""
    known: set[str] = set()
    for verb, command in all_commands(commands.items()):
        known |= named_options(command).keys()
        yield from ((verb, name, each) for name, each in sorted(set_defaults(command, verb, documents).items()))
    for file, settings in documents:
        for name, value in settings.items():
            if name not in known and not isinstance(value, dict):
                raise SpecError(f"{file}: no verb has an option {name}{near(name, known)}", "iocast VERB --help")
