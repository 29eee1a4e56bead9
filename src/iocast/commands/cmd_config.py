"""iocast config [VERB]: the defaults that files and the environment set, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import json_option
from iocast.commands.shell.showing import print_json, print_listed, put

if TYPE_CHECKING:
    from iocast.model.results.answers import OptionDefault


@click.command()
@click.argument("verb", required=False)
@json_option
def config(verb: str | None, as_json: bool) -> int:
    """Show the defaults of options that are set in files and in the environment; with VERB, all options of that verb.

    Read are, later ones first: IOCAST_CARD_TIME (of one verb), IOCAST_TIME (of all), `iocast.toml` in the current
    directory, `~/.config/iocast/config.toml`. What is given on the command line goes before all of them.
    """
    from iocast.commands.shell.defaults import HERE, users_file
    from iocast.model.results.answers import Defaults

    files = (HERE, str(users_file()))
    known = tuple(_of_verb(verb) if verb else _all_set())
    if as_json:
        print_json(Defaults(files=files, defaults=known))
    elif known:
        print_listed({f"{each.verb} --{each.option} {each.value}".rstrip(): each.source or "iocast" for each in known})
    else:
        put(f"nothing is set: neither in {files[0]}, nor in {files[1]}, nor by a variable such as IOCAST_TIME")
    return 0


def _all_set() -> Iterator[OptionDefault]:
    from iocast.commands import VERBS
    from iocast.commands.shell.defaults import all_set, read_documents
    from iocast.model.results.answers import OptionDefault

    for verb, option, default in all_set(_commands(VERBS), read_documents(VERBS)):
        yield OptionDefault(verb=verb, option=option, value=_shown(default.value), source=default.source)


def _of_verb(name: str) -> Iterator[OptionDefault]:
    """All options of a verb, or of each word of it. Raises SpecError."""
    from iocast.commands import VERBS
    from iocast.commands.shell.defaults import all_commands, named_options, read_documents, set_defaults
    from iocast.commands.shell.mistakes import near
    from iocast.errors import SpecError
    from iocast.model.results.answers import OptionDefault

    if name not in VERBS:
        raise SpecError(f'unknown command "{name}"{near(name, VERBS)}', "iocast --help lists the verbs")
    documents = read_documents(VERBS)
    for verb, command in all_commands(_commands((name,)).items()):
        defaults = set_defaults(command, verb, documents)
        for option, declared in named_options(command).items():
            value, source = defaults.get(option, (declared.to_info_dict()["default"], ""))
            yield OptionDefault(verb=verb, option=option, value=_shown(value), source=source)


def _commands(verbs: Iterable[str]) -> dict[str, click.Command]:
    """These verbs, and their first words that have options of their own."""
    from iocast.commands import WORDS, load_verb, load_word

    commands = {}
    for verb in verbs:
        commands[verb] = load_verb(verb)
        commands |= {f"{verb} {word}": load_word(verb, word) for word in WORDS.get(verb, ())}
    return commands


def _shown(value: object) -> str:
    """A default as it is typed; an option that is not given has none. A URL with a password, which is refused where it
    is used, is not shown."""
    from iocast.errors import SpecError
    from iocast.tools.database_address import parsed, scheme_of

    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    texts = [str(each) for each in (value if isinstance(value, tuple | list) else [value])]
    try:
        for url in filter(scheme_of, texts):
            parsed(url, "")
    except SpecError:
        return "(a URL with a password)"
    return " ".join(texts)
