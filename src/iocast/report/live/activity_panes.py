"""What sessions of a database do: top waits, statements and sessions side by side, as MOATS has them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from iocast.analyse.live.session_shares import Activity, Share
from iocast.report.live.styled_lines import Line, Piece, line

_GAP = "  "
_LEAST = 24  # of a pane
_TEXT_LINES = 2  # of the busiest statement, as MOATS has them


def activity_panes(activity: Activity, texts: Mapping[str, str], width: int, most: int = 5) -> Iterator[Line]:
    """As many panes as fit beside each other: waits, then statements, then sessions."""
    panes = (
        ("top waits", activity.waits, ""),
        ("top statements", activity.statements, "sql|"),
        ("top sessions", activity.sessions, "session|"),
    )
    fitting = max(1, min(len(panes), (width + len(_GAP)) // (_LEAST + len(_GAP))))
    each = (width - len(_GAP) * (fitting - 1)) // fitting
    yield line(f"Active sessions: {activity.active_mean:.1f} on average ({activity.polls} samples)", "strong")
    if classes := activity.wait_classes:
        shown = (f"{each.subject} {100 * each.share:.0f}% ({each.active_mean:.1f})" for each in classes)
        said = f"Wait classes (sessions): {', '.join(shown)}"
        yield from map(line, textwrap.wrap(said, width, subsequent_indent=" " * 4))
    nobody = "not reported" if activity.waits else "none was active"
    columns = [list(_pane(title, shares, _named(texts, kind), most, nobody)) for title, shares, kind in panes[:fitting]]
    for at in range(max(len(column) for column in columns)):
        pieces: list[Piece] = []
        for column in columns:
            text, is_head = column[at] if at < len(column) else ("", False)
            pieces += [Piece(f"{text:<{each}.{each}}", "head" if is_head else "plain"), Piece(_GAP)]
        yield tuple(pieces[:-1])
    yield from _top_statement(activity, texts, width)


def _top_statement(activity: Activity, texts: Mapping[str, str], width: int) -> Iterator[Line]:
    """The text of the busiest statement, which its pane cuts off; nothing where the pane shows all of it."""
    text = " ".join(texts.get(f"sql|{activity.statements[0].subject}", "").split()) if activity.statements else ""
    if len(text) > _LEAST:
        said = f"{100 * activity.statements[0].share:.0f}% {text}"
        yield from map(
            line, textwrap.wrap(said, width, max_lines=_TEXT_LINES, subsequent_indent=" " * 4, placeholder=" …")
        )


def _named(texts: Mapping[str, str], kind: str) -> Callable[[str], str]:
    """The text of a subject; databases keep those of statements and sessions apart by a prefix.

    Sessions of one program have the same text: their own name stands before it.
    """
    own = kind == "session|"
    return lambda subject: " ".join((f"{subject} " * own + texts.get(f"{kind}{subject}", "")).split())


def _pane(
    title: str, shares: Sequence[Share], text_of: Callable[[str], str], most: int, nobody: str
) -> Iterator[tuple[str, bool]]:
    yield title, True
    for share in shares[:most]:
        yield f"{100 * share.share:>3.0f}% {text_of(share.subject) or waited_for(share.subject)}", False
    if not shares:
        yield nobody, False


def waited_for(subject: str) -> str:
    """A wait as `event (type)`; others as they are."""
    kind, _, event = subject.partition("|")
    return f"{event} ({kind})" if event else subject
