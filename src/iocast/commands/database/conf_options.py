"""--conf FILE: the settings of SLOB or pgio, under the options that are given beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.showing import say
from iocast.errors import SpecError

if TYPE_CHECKING:
    from iocast.model.database.database_load import DataSet, LoadRamp
    from iocast.sessions.database.load_by_conf import ConfLoad

conf_option = click.option(
    "--conf",
    metavar="FILE",
    default="",
    help="A slob.conf or pgio.conf; options beside it override what it says.",
)


def read(conf: str) -> ConfLoad:
    """The settings; what does nothing here is said. Raises SpecError."""
    from iocast.sessions.database.load_by_conf import read_conf

    conf_file = read_conf(conf)
    for note in conf_file.notes:
        say(f"note: {conf}: {note}")
    return conf_file


def data_set_of(conf: str, size: str | None, tables: int | None, filling: Any, seed: int) -> DataSet:
    """What is to be built, by the file and by the options. Raises SpecError."""
    from msgspec.structs import replace

    from iocast.model.database.database_load import DataSet
    from iocast.units import parse_size

    if conf:
        wanted = replace(read(conf).data_set(tables, seed), filling=filling)
        return wanted if size is None else replace(wanted, size_bytes=parse_size(size))
    if size is None:
        raise SpecError("the size of the data set is missing", "give --size 64GiB, or --conf FILE")
    return DataSet(size_bytes=parse_size(size), tables=tables or 1, filling=filling, seed=seed)


def ramp_with_conf(conf: str, url: str, ask: Any, options: LoadRamp) -> LoadRamp:
    """The load of a file on the data set at a URL, changed by the options that were given. Raises IocastError."""
    from iocast.sessions.database.load_by_conf import ramp_on

    return changed(ramp_on(read(conf), url, ask), options)


def ramp_of_conf(conf: str, tables: int, options: LoadRamp) -> LoadRamp:
    """The same for a data set of so many tables that is not built yet. Raises IocastError."""
    from iocast.sessions.database.load_by_conf import read_conf

    return changed(read_conf(conf).ramp(tables), options)


def changed(ramp: LoadRamp, options: LoadRamp) -> LoadRamp:
    """A ramp with what the command line itself says."""
    from msgspec.structs import replace

    from iocast.model.database.database_load import DatabaseLoad
    from iocast.sessions.requests.load_db import LoadOptions

    given = [name for name in LoadOptions.__struct_fields__ if _is_given(name)]
    given_fields = {name: getattr(options.load, name) for name in given if name in DatabaseLoad.__struct_fields__}
    own = {name: getattr(options, name) for name in given if name not in given_fields}
    return replace(ramp, load=replace(ramp.load, **given_fields), **own)


def _is_given(name: str) -> bool:
    context = click.get_current_context()
    source = context.get_parameter_source(name) if context else None
    return source is not None and source.name == "COMMANDLINE"
