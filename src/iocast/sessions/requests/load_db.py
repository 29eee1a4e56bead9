"""What is asked of `iocast load-db run` and `iocast load-db commit`: a database, and its load or its commits."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.errors import SpecError
from iocast.model.database.database_load import (
    CommitRamp,
    DatabaseLoad,
    Driver,
    HotSpot,
    LoadRamp,
    Redo,
    Think,
)
from iocast.model.database.load_texts import parse_hot, parse_think
from iocast.model.grading import GradeRequest
from iocast.sessions.requests.option import argument, option, part
from iocast.sessions.requests.run_options import RUNS, Out, Page, Seed
from iocast.tools.database_address import AskPassword
from iocast.units import parse_duration, parse_rate


def _numbers(text: str, _name: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise SpecError(f'--sessions "{text}" is not a list of numbers', "for example --sessions 1,4,8,16") from None


def _seconds(text: str, _name: str) -> float:
    return parse_duration(text) / 1e9


BesideOthers = Annotated[bool, option("Although sessions of others are active, or cannot be judged.")]
Percent = Meta(ge=0, le=100)


class LoadOptions(Struct, frozen=True, kw_only=True):
    """A load at rising numbers of sessions; the fields are those of a LoadRamp and of its DatabaseLoad."""

    sessions: Annotated[tuple[int, ...], option("A row for each.", "N,...", read=_numbers, usual="1,4,8,16")] = (
        1, 4, 8, 16,
    )  # fmt: skip
    seconds: Annotated[float, option("Of each row.", "TIME", spelt="--time", read=_seconds, usual="10s")] = 10.0
    until_steady: Annotated[bool, option("End a row as soon as it is steady, --time at the latest.")] = False
    driver: Annotated[
        Driver,
        option("Statements come from a loop on the server, or one by one from here, as those of an application."),
    ] = "server"
    update_pct: Annotated[int, option("Share of updates."), Percent] = 0
    scan_pct: Annotated[int, option("Of the others: scans."), Percent] = 0
    scan_blocks: Annotated[int, option("Blocks of a scan."), Meta(ge=1)] = 128
    work_unit: Annotated[int, option("Blocks of a statement."), Meta(ge=1)] = 1
    hot: Annotated[
        HotSpot | None,
        option(
            "Every EVERY-th statement goes to this part.",
            "SIZE[@OFFSET][:EVERY]",
            read=lambda text, _name: parse_hot(text),
        ),
    ] = None
    zipf_theta: Annotated[
        float | None, option("Some keys come more often: 0.99 is usual.", "THETA", spelt="--zipf")
    ] = None
    think: Annotated[
        Think | None,
        option(
            "A pause before every EVERY-th statement.", "MIN[..MAX][:EVERY]", read=lambda text, _name: parse_think(text)
        ),
    ] = None
    redo: Annotated[Redo, option("What updates write.")] = "lite"
    rate_per_s: Annotated[
        float | None,
        option(
            "Open loop: statements of all sessions, e.g. 2000/s.",
            "RATE",
            spelt="--rate",
            read=lambda text, _name: parse_rate(text),
        ),
    ] = None

    def ramp(self) -> LoadRamp:
        """The load that it is."""
        load = DatabaseLoad(**{name: getattr(self, name) for name in DatabaseLoad.__struct_fields__})
        return LoadRamp(
            load=load,
            sessions=self.sessions,
            seconds=self.seconds,
            rate_per_s=self.rate_per_s,
            until_steady=self.until_steady,
        )


LOAD = part(*LoadOptions.__struct_fields__)


class CommitOptions(Struct, frozen=True, kw_only=True):
    """A commit test at rising numbers of sessions; the fields are those of a CommitRamp."""

    sessions: Annotated[tuple[int, ...], option("Two rows for each.", "N,...", read=_numbers, usual="1,4,8")] = (
        1,
        4,
        8,
    )
    seconds: Annotated[float, option("Of each row.", "TIME", spelt="--time", read=_seconds, usual="5s")] = 5.0
    row_bytes: Annotated[int, option("Inserted by a commit."), Meta(ge=1)] = 200
    floor: Annotated[bool, option("Also without waiting for the log.", spelt="--floor/--no-floor")] = True

    def ramp(self) -> CommitRamp:
        """The test that it is."""
        return CommitRamp(sessions=self.sessions, seconds=self.seconds, row_bytes=self.row_bytes, floor=self.floor)


class LoadRequest(Struct, frozen=True, kw_only=True):
    """The load to run on the data set of a database. `ramp` stands instead of `load`; `ask`: for a password."""

    url: Annotated[str, argument("The URL of the database, without a password.")]
    load: Annotated[LoadOptions, LOAD] = LoadOptions()
    seed: Seed = 1
    beside_others: BesideOthers = False
    out: Out = RUNS
    page: Page = False
    grade_request: GradeRequest = GradeRequest()
    ramp: LoadRamp | None = None
    ask: AskPassword | None = None


class CommitRequest(Struct, frozen=True, kw_only=True):
    """The commit test to run in a database. `ask`: for a password."""

    url: Annotated[str, argument()]
    commits: Annotated[CommitOptions, part("sessions", "seconds", "row_bytes", "floor")] = CommitOptions()
    anchor: Annotated[bool, option("Run pg_test_fsync first, in the server's folder, and show it beside.")] = False
    seed: Seed = 1
    beside_others: BesideOthers = False
    out: Out = RUNS
    page: Page = False
    grade_request: GradeRequest = GradeRequest()
    ask: AskPassword | None = None
