"""Oracle's own rates and means of the last minute (GV$SYSMETRIC): the 21 that tell of I/O, instance by instance."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from iocast.analyse.live.database_views import observers_of
from iocast.model.live.readings import Readings


class SystemMetric(Struct, frozen=True):
    """`adds_up`: that of all instances is their sum. `latency`: Oracle calls it one; it is of synchronous reads."""

    name: str
    unit: str
    adds_up: bool = True
    latency: bool = False


METRICS: Final = (
    SystemMetric("Host CPU Utilization (%)", "% Busy/(Idle+Busy)", adds_up=False),
    SystemMetric("Current OS Load", "Number Of Processes", adds_up=False),
    SystemMetric("CPU Usage Per Sec", "CentiSeconds Per Second"),
    SystemMetric("Database CPU Time Ratio", "% Cpu/DB_Time", adds_up=False),
    SystemMetric("Average Active Sessions", "Active Sessions"),
    SystemMetric("Average Synchronous Single-Block Read Latency", "Milliseconds", adds_up=False, latency=True),
    SystemMetric("I/O Requests per Second", "Requests per Second"),
    SystemMetric("I/O Megabytes per Second", "Megabytes per Second"),
    SystemMetric("Physical Read Total IO Requests Per Sec", "Requests Per Second"),
    SystemMetric("Physical Read Total Bytes Per Sec", "Bytes Per Second"),
    SystemMetric("Physical Read IO Requests Per Sec", "Requests Per Second"),
    SystemMetric("Physical Read Bytes Per Sec", "Bytes Per Second"),
    SystemMetric("Physical Write Total IO Requests Per Sec", "Requests Per Second"),
    SystemMetric("Physical Write Total Bytes Per Sec", "Bytes Per Second"),
    SystemMetric("Physical Write IO Requests Per Sec", "Requests Per Second"),
    SystemMetric("Physical Write Bytes Per Sec", "Bytes Per Second"),
    SystemMetric("Redo Generated Per Sec", "Bytes Per Second"),
    SystemMetric("User Transaction Per Sec", "Transactions Per Second"),
    SystemMetric("DB Block Changes Per Sec", "Blocks Per Second"),
    SystemMetric("Network Traffic Volume Per Sec", "Bytes Per Second"),
    SystemMetric("Logons Per Sec", "Logons Per Second"),
)


class MetricRow(Struct, frozen=True):
    """A metric by instance, and of all together; that is unknown for what does not add up over several."""

    metric: SystemMetric
    by_instance: dict[str, float]
    instances: int  # that were seen

    @property
    def total(self) -> float | None:
        """Of all instances; None when one of them does not tell it."""
        known = len(self.by_instance) == self.instances and (self.metric.adds_up or self.instances == 1)
        return sum(self.by_instance.values()) if known else None


def metric_rows(readings: Readings) -> tuple[MetricRow, ...]:
    """Those that the server tells, in the order above."""
    by_metric: dict[str, dict[str, float]] = {}
    for observer in observers_of(readings, "oracle", "sysmetric"):
        for instance, values in readings.values(observer).items():
            if instance:
                by_metric[instance] = dict(values)
    rows = []
    for metric in METRICS:
        key = metric.name.lower()  # as samples have it
        by_instance = {instance: values[key] for instance, values in sorted(by_metric.items()) if key in values}
        if by_instance:
            rows.append(MetricRow(metric, by_instance, len(by_metric)))
    return tuple(rows)
