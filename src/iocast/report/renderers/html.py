"""Renders a report as one HTML page that needs nothing else: it opens from a file, prints, and works on a phone.

Charts are drawn beforehand (as SVG) and take their colours from the page, so that light, dark and paper need no
script; a short script adds tips, sorting and a choice of colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from markupsafe import Markup

from iocast import __version__
from iocast.model.codes import SectionCode
from iocast.model.report import Badge, Figure, Report, Section
from iocast.report.cells import with_unit
from iocast.report.charts import place_of
from iocast.report.renderers.page import policy, script, style
from iocast.report.renderers.page.page_tables import grade_html, table_html
from iocast.report.renderers.page.plots import charts_html
from iocast.report.renderers.safe_words import safe
from iocast.report.subjects import measured_when

# A reader of the page wants results first; what was tested, and what to keep in mind, stand at the end.
LAST: tuple[SectionCode, ...] = ("target", "remarks")


SHORT = 5  # columns of a table that half of a large screen has room for
FRAME = Markup(
    '<!doctype html>\n<html lang="en" class="no-script"><head><meta charset="utf-8">\n'
    '<meta name="generator" content="iocast {version}">\n'
    '<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<title>{title}</title>\n<style>{style}</style></head>\n<body>"
    '<a class="skip" href="#main">Skip to results</a>\n<div class="wrap">'
)
LINKS = Markup('<nav class="way" aria-label="iocast">{}</nav>')
LINK = Markup('<a href="{1}">{0}</a>')
HEADER = Markup(
    '<header><div class="top"><div><p class="kind">{kind}</p><h1>{title}</h1>{about}</div>'
    '<div class="tools"><button type="button" id="theme">Dark</button>{palette}'
    '<button type="button" id="print">Print</button></div></div>\n<p class="verdict">{verdict}</p>\n{heads}'
    "{conclusions}</header>\n"
)
PALETTE = Markup('<button type="button" id="palette">Classic colours</button>')
BADGE = Markup(
    '<li class="head badge">{grade}<span><span class="name">{badge.title}</span>'
    '<span class="says">{badge.says}</span></span></li>'
)
FIGURE = Markup(
    '<li class="head"><span class="name">{title}</span><span class="value">{value}'
    '<span class="unit"> {unit}</span></span>{says}</li>'
)
CONCLUSION = Markup("<div><dt>{0.title}</dt><dd>{0.says}</dd></div>")
SECTION = Markup('<section id="{id}"{half} aria-labelledby="{id}-h"><h2 id="{id}-h">{title}</h2>\n{body}</section>\n')
# The charts of rows of one kind: a phone shows their headings, which open; paper and larger screens all of them.
FOLDED = Markup(
    '<section id="{id}"{half} aria-labelledby="{id}-h"><details class="family" open><summary>'
    '<h2 id="{id}-h">{title}</h2>'
    "</summary>\n{body}</details></section>\n"
)
HINT = Markup('<p class="hint">{}</p>')
END = Markup(
    "</main>\n<footer>Made by iocast. This page loads nothing and sends nothing.</footer></div>\n"
    '<div id="tip" role="tooltip" hidden></div><div id="spoken" class="sr" aria-live="polite"></div>\n'
    "<script>{}</script></body></html>\n"
)


def render(report: Report, out: TextIO, *, colour: bool = True, width: int = 0) -> None:
    """Writes the page. `colour` and `width` mean nothing here."""
    report = safe(report)
    ordered = sorted(report.sections, key=lambda each: LAST.index(each.code) + 1 if each.code in LAST else 0)
    sections = [(_anchor(at, section), section) for at, section in enumerate(ordered)]
    out.write(FRAME.format(version=__version__, policy=policy(), title=report.title, style=Markup(style())))
    out.write(_head(report, classic=any(place_of(chart).legends for chart in report.charts)))
    out.write(_contents(sections))
    out.write('<main id="main">\n')
    for anchor, section in sections:
        out.write(_section(anchor, section))
    if report.next_steps:
        steps = Markup().join(map(Markup("<li>{}</li>").format, report.next_steps))
        out.write(Markup('<section id="next"><h2>Next</h2><ul class="steps">{}</ul></section>\n').format(steps))
    out.write(END.format(Markup(script())))


def with_links(page: str, links: Sequence[tuple[str, str]]) -> str:
    """A page that is served among others: with links to them, each its words and its address."""
    opening, wrap, rest = page.partition('<div class="wrap">')
    shown = LINKS.format(Markup(" ").join(LINK.format(*link) for link in links))
    return f"{opening}{wrap}{shown}{rest}"


def _head(report: Report, *, classic: bool) -> Markup:
    kind, _, title = report.title.partition(" · ")
    heads = Markup().join((*map(_badge, report.badges), *map(_figure, report.figures)))
    return HEADER.format(
        kind=kind,
        title=title or kind,
        palette=PALETTE if classic else "",
        about=Markup('<p class="about">{}</p>').format(about) if (about := measured_when(report)) else "",
        verdict=report.verdict,
        conclusions=_conclusions(report),
        heads=Markup('<ul class="heads">{}</ul>').format(heads) if heads else "",
    )


def _conclusions(report: Report) -> Markup:
    """The diagnosis, the worst finding and the bottleneck, in the head."""
    lines = Markup().join(CONCLUSION.format(each) for each in report.conclusions)
    return Markup('<dl class="conclusions">{}</dl>\n').format(lines) if lines else Markup()


def _badge(badge: Badge) -> Markup:
    return BADGE.format(badge=badge, grade=grade_html(badge.letter or "–"))


def _figure(figure: Figure) -> Markup:
    value, unit = with_unit(figure)
    says = Markup('<span class="says">{}</span>').format(figure.says) if figure.says else ""
    return FIGURE.format(title=figure.title, value=value, unit=unit, says=says)


def _contents(sections: list[tuple[str, Section]]) -> Markup:
    if len(sections) < 2:
        return Markup()
    link = Markup('<li><a href="#{}">{}</a></li>')
    links = Markup().join(link.format(anchor, section.title) for anchor, section in sections)
    return Markup('<nav class="toc" aria-label="Contents"><ol>{}</ol></nav>\n').format(links)


def _section(anchor: str, section: Section) -> Markup:
    parts = [Markup("<p>{}</p>").format(paragraph) for paragraph in section.paragraphs]
    for table in section.tables:
        shown = table_html(table, table.title or section.title, shown=bool(table.title))
        notes = Markup().join(map(HINT.format, table.notes))
        parts.append(Markup('<div class="card">{}{}</div>').format(shown, notes))
    if section.charts:
        parts.append(charts_html(section.charts))
    half = Markup(' class="half"') if _is_short(section) else ""
    shape = FOLDED if section.code == "family" else SECTION
    return shape.format(id=anchor, half=half, title=section.title, body=Markup("\n").join(parts))


def _is_short(section: Section) -> bool:
    """True for what leaves room beside it on a large screen: sentences and small tables."""
    return not section.charts and all(len(table.columns) <= SHORT for table in section.tables)


def _anchor(at: int, section: Section) -> str:
    return f"s{at}-{section.code.replace('_', '-')}"
