"""What is asked of `iocast forecast`: a load as people write it, and what is known of the storage."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.sessions.requests.option import option, part
from iocast.sessions.requests.run_options import RUNS, Out, WaitQuiet, seconds_of_rows, size_of_files


class LoadOptions(Struct, frozen=True, kw_only=True):
    """A load, as text."""

    iops: Annotated[float | str | None, option("IOPS of production at its peak, e.g. 4000 or 4k.", "RATE")] = None
    read: Annotated[str, option("Share of reads.", "PERCENT")] = "100%"
    size: Annotated[str, option("I/O size.", "SIZE")] = "8k"
    slo: Annotated[str, option("Service level: p99=5ms, mean=2ms.", "LEVEL")] = "p99=5ms"
    load: Annotated[
        str | None,
        option("A profile of `iocast profile`, instead of --iops, --read, --size, --cv2.", "PROFILE"),
    ] = None
    burst: Annotated[
        str | None,
        option("Bursts above --iops: 9000/s:30s/10m is 30 s in every 10 min.", "RATE:TIME/TIME"),
    ] = None
    rates: Annotated[str | None, option("CSV of seconds and IOPS, instead of --iops.", "FILE")] = None
    cv2: Annotated[
        float,
        option("Squared coefficient of variation of the time between I/Os: 1 random, above 1 bursty."),
        Meta(ge=0),
    ] = 1.0


class ForecastRequest(Struct, frozen=True, kw_only=True):
    """A load, and what is known of the storage: the folder of a run, or a path on which a ladder is to be measured."""

    folder: Annotated[
        str | None, option("The run to forecast from: its ladder of closed rows.", "RUN", spelt="--on")
    ] = None
    measure: Annotated[str | None, option("Measure a ladder of this mix on PATH first, instead of --on.", "PATH")] = (
        None
    )
    load: Annotated[LoadOptions, part("iops", "read", "size", "slo", "load", "burst", "rates", "cv2")]
    what_ifs: Annotated[
        tuple[str, ...], option("load*2, load+20%, cache=50%:200us, volume=gp3.", "CHANGE", spelt="--what-if")
    ] = ()
    verify: Annotated[
        str | None, option("Replay the load on PATH, open loop, at the peak and 1.2 times it.", "PATH")
    ] = None
    seconds: Annotated[
        float,
        option("Duration of each row of --measure.", "TIME", spelt="--time", read=seconds_of_rows, usual="30s"),
    ] = 30.0
    file_bytes: Annotated[
        int | None,
        option(
            "Size of the work file of --measure and --verify. Default: 2GiB.",
            "SIZE",
            spelt="--file-size",
            read=size_of_files,
        ),
    ] = None
    seed: int = 1
    out: Out = RUNS
    wait_quiet_ns: WaitQuiet = None
