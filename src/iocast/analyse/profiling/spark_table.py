"""The counts of a table of events by Spark, for tables that outgrow one machine: the same statements, translated.

What depends on order stays one pass of the core over the file, and copies in order are DuckDB's. The session is the one
that is there, or one as `spark-defaults.conf` and the environment say (all processors of this machine without them).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iocast.analyse.profiling.event_queries import EventTable, unreadable
from iocast.errors import AnalysisError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "events"
REMEDY = 'pip install "iocast[spark]", and a Java of version 17 or newer; without --engine spark, DuckDB counts'


class SparkTable(EventTable):
    """A table of events that Spark is asked about."""

    def __init__(self, path: str, spill: Path) -> None:
        super().__init__(path, spill)
        self._started = False
        try:
            self._spark = self._session(spill)
            self._spark.read.parquet(str(Path(path).resolve())).createOrReplaceTempView(VIEW)
        except BaseException:
            self.close()
            raise

    def _session(self, spill: Path) -> SparkSession:
        """The session that is there, or a new one. Raises AnalysisError where a part is missing."""
        try:
            import sqlglot  # noqa: F401
            from pyspark.errors import PySparkException
            from pyspark.sql import SparkSession
        except ImportError as missing:
            raise AnalysisError(f"--engine spark needs {missing.name}, which is not installed", REMEDY) from missing
        if session := SparkSession.getActiveSession():
            return session
        if shutil.which("java") is None:
            raise AnalysisError("--engine spark needs Java, which is not installed", REMEDY)
        try:
            started = (
                SparkSession.builder.appName("iocast")
                .config("spark.ui.enabled", "false")
                .config("spark.local.dir", str(spill))
                .config("spark.sql.warehouse.dir", str(spill))
                .getOrCreate()
            )
        except (PySparkException, OSError, RuntimeError) as error:
            raise AnalysisError(f"Spark does not start: {str(error).partition(chr(10))[0]}", REMEDY) from error
        self._started = True
        started.sparkContext.setLogLevel("ERROR")
        return started

    def close(self) -> None:
        """Lets go of the table, and ends a session that was made for it."""
        super().close()
        if getattr(self, "_started", False):
            self._started = False
            self._spark.stop()

    def rows(self, query: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """The answer of Spark to a query over `events`. Raises AnalysisError."""
        from pyspark.errors import PySparkException

        try:
            return [tuple(row) for row in self._spark.sql(for_spark(query), args=parameters).collect()]
        except PySparkException as error:
            raise unreadable(self.path, error) from error


def for_spark(query: str) -> str:
    """A statement of ours in the language of Spark."""
    import sqlglot

    (translated,) = sqlglot.transpile(query, read="duckdb", write="spark")
    return translated
