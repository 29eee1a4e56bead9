"""The rows of many runs as one table, which DuckDB or Spark adds up by the same statements: what is left is one line
for each host and row, however many runs there are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from iocast.analyse.spark_session import for_spark, spark_session
from iocast.errors import AnalysisError
from iocast.model.codes import CountingEngine

_ROW = {
    "row": "VARCHAR",
    "load": "VARCHAR",
    "rate_per_s": "DOUBLE",
    "mean_ns": "DOUBLE",
    "p99_ns": "DOUBLE",
    "busy_per_s": "DOUBLE",
    "is_open": "BOOLEAN",
}
ENTRIES = """
SELECT subject, run, model, entry."row" AS row_name, entry.load AS load, entry.rate_per_s AS rate_per_s,
    entry.mean_ns AS mean_ns, entry.p99_ns AS p99_ns, entry.busy_per_s AS busy_per_s,
    coalesce(entry.is_open, FALSE) AS is_open
FROM (SELECT subject, run, model, unnest(rows) AS entry FROM lines)
WHERE entry.mean_ns > 0
"""
# Medians over runs: one bad hour does not make a host slow.
BY_HOST = """
SELECT model, row_name, load, subject, count(*), median(ln(mean_ns)), var_samp(ln(mean_ns)), median(busy_per_s),
    median(rate_per_s), median(p99_ns), bool_or(is_open)
FROM entries GROUP BY model, row_name, load, subject ORDER BY model, row_name, load, subject
"""
# The speed of a run is the mean over its rows, each relative to the median of all hosts that have the row. An open loop
# is as fast as its rate says, so open loops count only where there is nothing else.
BY_RUN = """
WITH speeds AS (
    SELECT subject, run, row_name, load, CASE WHEN is_open THEN -ln(mean_ns) ELSE ln(rate_per_s) END AS speed
    FROM entries WHERE is_open = (SELECT bool_and(is_open) FROM entries) AND (is_open OR rate_per_s > 0)
), usual AS (
    SELECT row_name, load, subject, median(speed) AS speed FROM speeds GROUP BY row_name, load, subject
), typical AS (
    SELECT row_name, load, median(speed) AS middle FROM usual GROUP BY row_name, load HAVING count(*) > 1
), of_run AS (
    SELECT speeds.subject, speeds.run, avg(speeds.speed - typical.middle) AS score, count(*) AS compared
    FROM speeds JOIN typical ON speeds.row_name = typical.row_name AND speeds.load = typical.load
    GROUP BY speeds.subject, speeds.run
)
SELECT subject, count(*), avg(score), var_samp(score), max(compared) FROM of_run GROUP BY subject ORDER BY subject
"""
OF_HOST = """
SELECT model, row_name, load, subject, run, mean_ns FROM entries WHERE subject IN ({subjects})
ORDER BY subject, model, row_name, load, run
"""


class HostMedians(Struct, frozen=True):
    """A row of a host over its runs: medians, latency as its logarithm, whose variance is None of a single run."""

    model: str
    row: str
    load: str
    subject: int
    runs: int
    log_ns: float
    variance: float | None
    busy_per_s: float | None
    rate_per_s: float | None
    p99_ns: float | None
    is_open: bool


class HostScore(Struct, frozen=True):
    """How fast a host is against the typical one of each row, as a logarithm: the mean of its runs."""

    subject: int
    runs: int
    score: float
    variance: float | None
    rows: int


class HostEntry(Struct, frozen=True):
    """A row of one run of a host."""

    model: str
    row: str
    load: str
    subject: int
    run: int
    mean_ns: float


class FleetTable:
    """The rows of runs, from a file with a line of JSON for each run; DuckDB is asked."""

    def __init__(self, path: Path, spill: Path) -> None:
        import duckdb

        fields = ", ".join(f'"{name}" {kind}' for name, kind in _ROW.items())
        columns = f"{{'run': 'BIGINT', 'subject': 'BIGINT', 'model': 'VARCHAR', 'rows': 'STRUCT({fields})[]'}}"
        self._database = duckdb.connect(config={"temp_directory": str(spill)})
        file = str(path).replace("'", "''")
        lines = f"read_json('{file}', format = 'newline_delimited', columns = {columns})"
        self._errors: tuple[type[Exception], ...] = (duckdb.Error,)
        self.rows(f"CREATE TEMP TABLE entries AS {ENTRIES.replace('lines', lines)}")

    def __enter__(self) -> FleetTable:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the table."""
        self._database.close()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The answer to a query over `entries`. Raises AnalysisError."""
        return self._answer(lambda: self._database.execute(query).fetchall())

    def _answer(self, ask: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
        try:
            return ask()
        except self._errors as error:
            reason = str(error).partition("\n")[0]
            raise AnalysisError(
                f"the figures of the runs cannot be added up: {reason}",
                "a summary.json is damaged: remove it, and it is made anew from its run",
            ) from error


class SparkFleetTable(FleetTable):
    """The same, and Spark is asked."""

    def __init__(self, path: Path, spill: Path) -> None:
        self._spark, self._started = spark_session(spill)
        try:
            from pyspark.errors import PySparkException

            self._errors = (PySparkException,)
            kinds = {"VARCHAR": "STRING"}
            fields = ", ".join(f"`{name}`: {kinds.get(kind, kind)}" for name, kind in _ROW.items())
            schema = f"run BIGINT, subject BIGINT, model STRING, rows ARRAY<STRUCT<{fields}>>"
            self._spark.read.schema(schema).json(str(path)).createOrReplaceTempView("lines")
            self._spark.sql(for_spark(ENTRIES)).createOrReplaceTempView("entries")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Lets go of the table, and ends a session that was made for it."""
        if self._started:
            self._started = False
            self._spark.stop()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The answer of Spark to a query over `entries`. Raises AnalysisError."""
        return self._answer(lambda: [tuple(row) for row in self._spark.sql(for_spark(query)).collect()])


def fleet_table(path: Path, spill: Path, engine: CountingEngine) -> FleetTable:
    """The rows of the runs in a file, for that engine. Raises AnalysisError."""
    return FleetTable(path, spill) if engine == "duckdb" else SparkFleetTable(path, spill)


def host_rows(table: FleetTable) -> list[HostMedians]:
    """A line for each row of each host, in the order of model, row, load and host."""
    return [HostMedians(*row) for row in table.rows(BY_HOST)]


def host_scores(table: FleetTable) -> list[HostScore]:
    """A line for each host that shares a row with another."""
    return [HostScore(*row) for row in table.rows(BY_RUN)]


def entries_of(table: FleetTable, subjects: set[int]) -> list[HostEntry]:
    """Every row of every run of some hosts."""
    if not subjects:
        return []
    listed = ", ".join(map(str, sorted(subjects)))
    return [HostEntry(*row) for row in table.rows(OF_HOST.format(subjects=listed))]
