"""iocast note RUN: what people say about a run, kept in its folder."""

from __future__ import annotations

import rich_click as click

from iocast import archive
from iocast.archive.catalogue import find_run
from iocast.commands.shell.options import json_option, within
from iocast.commands.shell.showing import print_json, put, say


@click.command()
@click.argument("run")
@click.argument("text", required=False)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Add a tag: one word; repeat the option for more.")
@click.option("--untag", "untags", metavar="TAG", multiple=True, help="Remove a tag.")
@within
@json_option
def note(
    run: str, text: str | None, tags: tuple[str, ...], untags: tuple[str, ...], directory: str, as_json: bool
) -> int:
    """Show or change the note and the tags of RUN: a folder, the start of a folder's name in DIR, or `last`.

    TEXT replaces the note; an empty TEXT removes it. The measurement is not changed.
    """
    kept = archive.change_notes(find_run(directory, run), text, add=tags, remove=untags)
    if as_json:
        print_json(kept)
        return 0
    if kept.note:
        put(kept.note)
    if kept.tags:
        put(f"Tags: {', '.join(kept.tags)}")
    if not kept:
        say(f"no note: `iocast note {run} TEXT --tag TAG` adds one")
    return 0
