"""The counts of a table of events by Spark, for tables that outgrow one machine: the same statements, translated.

What depends on order stays one pass of the core over the file, and copies in order are DuckDB's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iocast.analyse.profiling.event_queries import EventTable, unreadable
from iocast.analyse.spark_session import for_spark, spark_session

VIEW = "events"


class SparkTable(EventTable):
    """A table of events that Spark is asked about."""

    def __init__(self, path: str, spill: Path) -> None:
        super().__init__(path, spill)
        self._started = False
        try:
            self._spark, self._started = spark_session(spill)
            self._spark.read.parquet(str(Path(path).resolve())).createOrReplaceTempView(VIEW)
        except BaseException:
            self.close()
            raise

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
