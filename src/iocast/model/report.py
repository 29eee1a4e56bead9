"""Report: sections, tables and text that say what is to be told, not how it looks."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast.model.codes import BadgeCode, ConclusionCode, FindingCode, ReportCode, SectionCode, VerdictCode
from iocast.model.finding import FailedDetector, Finding
from iocast.model.grading import Letter

Kind = Literal[
    "code",  # what programs go by; people are shown its words
    "text",  # words; the last text column of a table takes the room that is left and wraps
    "names",  # a tuple of words
    "load",  # (users, depth): "4x1", "4x16"
    "bytes",
    "decimal_bytes",  # as disks are sold: 2 TB
    "bytes_per_s",
    "rate",  # per second
    "duration",  # ns
    "milliseconds",  # ns, shown in ms with the decimals that documents print: 2.000, 257.1
    "count",
    "strip",  # shares of the I/Os over the buckets of `LATENCY_EDGES_NS`
    "grade",
    "decimal",
    "figures",  # a plain number with five figures: 140.85, 3076.9
    "ratio",  # how many times: with three figures, however small
    "share",  # of one: 0.25 is 25 %
    "exact_share",  # the same with two decimals: 57.14 %
    "tenth_share",  # with one decimal, of whatever sign: -3.2 %
    "whole_share",  # with none: 45 %
    "percentile",  # of one: 0.999 is p99.9
    "instant",  # ns since 1970: a date and a time
    "p_value",  # of a test, two digits
    "relative",  # of one, how much of another's performance is kept: within a tenth of it is as good
    "counts",  # how many, over buckets that the table's notes or another table name
]

WORDS: frozenset[Kind] = frozenset(
    {"text", "code", "names", "strip", "grade", "instant", "percentile", "decimal_bytes"}
)  # from the left

SAME = 0.10  # a "relative" cell this near to 1 is as good

# The buckets of a latency strip: up to each edge, and above the last one. Fine where flash drives live, coarse
# where only a stall gets.
LATENCY_EDGES_NS = (
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    1_000_000_000,
)


class Column(Struct, frozen=True):
    """A table column: `kind` tells the renderer how to format raw values (ns, bytes, per second).

    `spare` is 0 for a column that must stay; where room is short, the one with the highest goes first.
    A title may be cut into two lines with a line feed.
    """

    key: str
    title: str
    kind: Kind = "text"
    explain: str = ""
    spare: int = 0


Cell = str | bool | float | int | tuple[float, ...] | tuple[str, ...] | None


class Row(Struct, frozen=True):
    """One table row: cells by column key; `void` rows are shown struck out with the reason in `note`.

    A `part` row says more about the row above it.
    """

    cells: dict[str, Cell]
    note: str = ""
    void: bool = False
    part: bool = False
    record: Struct | None = None  # that the cells are made of: what CSV writes, field by field


class Table(Struct, frozen=True):
    """A table of raw values. `key` names it for machines; `notes` stand under it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    key: str = ""
    notes: tuple[str, ...] = ()


class Chart(Struct, frozen=True, kw_only=True):
    """What a chart tells, not how it looks: the sentence for who cannot see it, and the points that it shows.

    Each kind is a Struct of its own in report/charts, with a field for each list of its points: the first holds the
    figures themselves and is what a reader without the picture is given as a table, but for the columns of `leave`;
    the others hold what is marked in it (modes, knees, findings). `kind` is the name of its file, `key` names it for
    machines and files; `family` is the key of the rows that it shows, where several charts show the same.
    """

    kind: str
    key: str
    title: str
    summary: str
    notes: tuple[str, ...] = ()
    family: str = ""
    leave: tuple[str, ...] = ()

    @property
    def point_lists(self) -> dict[str, tuple[Struct, ...]]:
        """All lists of its points, by the names of their fields."""
        head = Chart.__struct_fields__
        return {name: getattr(self, name) for name in self.__struct_fields__ if name not in head}


class Section(Struct, frozen=True):
    """A heading, paragraphs, tables, charts. `of` says whose it is where a report has several of one code."""

    code: SectionCode
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    of: tuple[str, ...] = ()


class Badge(Struct, frozen=True):
    """A letter that stands at the head of a report: what it is for, and in a few words why."""

    code: BadgeCode
    title: str
    letter: Letter | Literal[""]  # "" where there is none to give
    says: str = ""


class Figure(Struct, frozen=True):
    """A figure worth a large print at the head of a report."""

    title: str
    value: Cell
    kind: Kind
    says: str = ""


class Conclusion(Struct, frozen=True):
    """What a card comes to, in a line: the worst finding, the bottleneck, what a diagnosis decided."""

    code: ConclusionCode
    title: str
    says: str


class Subject(Struct, frozen=True, kw_only=True):
    """A run that a report speaks of. `side` is the label of its side where sides are compared."""

    job: str
    target: str
    host: str
    started_unix_ns: int  # 0 where the source of an imported run does not say
    seed: int | None  # None of an imported run
    iocast_version: str
    run_id: str = ""
    folder: str = ""  # where it is kept, "" where that is not known
    side: str = ""
    price: float | None = None
    price_per_gb: float | None = None
    price_per_iops: float | None = None


class Report(Struct, frozen=True):
    """A whole report: the verdict in a sentence first, the next steps last."""

    title: str
    verdict: str
    sections: tuple[Section, ...]
    next_steps: tuple[str, ...] = ()
    badges: tuple[Badge, ...] = ()
    figures: tuple[Figure, ...] = ()
    kind: ReportCode = "card"
    answer: VerdictCode | None = None  # of an experiment
    subjects: tuple[Subject, ...] = ()
    findings: tuple[Finding, ...] = ()  # all, those that an experiment rejected too
    untestable: frozenset[FindingCode] = frozenset()  # suspicions that no experiment here can decide
    conclusions: tuple[Conclusion, ...] = ()
    failed: tuple[FailedDetector, ...] = ()  # detectors whose findings are missing
    result: Struct | None = None  # of model/results: what JSON says beside the head

    def brief(self) -> Report:
        """Its head alone: what, where, when, the verdict, the figures, the worst finding, the next steps."""
        return replace(self, sections=())

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the order in which they are shown."""
        return tuple(chart for section in self.sections for chart in section.charts)
