"""The session of Spark: the one that is there, or one as `spark-defaults.conf` and the environment say."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from iocast.errors import AnalysisError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMEDY = 'pip install "iocast[spark]", and a Java of version 17 or newer; without --engine spark, DuckDB counts'


def spark_session(spill: Path) -> tuple[SparkSession, bool]:
    """The session, and whether it was started here: then the caller stops it. Raises AnalysisError."""
    try:
        import sqlglot  # noqa: F401
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as missing:
        raise AnalysisError(f"--engine spark needs {missing.name}, which is not installed", REMEDY) from missing
    if session := SparkSession.getActiveSession():
        return session, False
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
    started.sparkContext.setLogLevel("ERROR")
    return started, True


def for_spark(query: str) -> str:
    """A statement of ours in the language of Spark."""
    import sqlglot

    (translated,) = sqlglot.transpile(query, read="duckdb", write="spark")
    return translated
