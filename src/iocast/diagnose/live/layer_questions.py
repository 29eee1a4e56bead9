"""The three questions of ioh: is the storage slow, do network or client lose time, does the file system?

Its rules of thumb are those of disks behind a file system and NFS: random reads of 8k take 3 to 12 ms, 7.5 ms are
typical, and 2 ms between server and client are too many.
"""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.live.layer_times import LayerTimes
from iocast.diagnose.live.layers_verdict import is_gap
from iocast.model.codes import LayerCode, LayerQuestionCode
from iocast.text import duration

USUAL_READ_NS = (3_000_000, 12_000_000)
CLIENT_GAP_NS = 2_000_000


class LayerAnswer(Struct, frozen=True, kw_only=True):
    """The answer to one question; `yes` is None where a layer that it needs was not seen."""

    question: LayerQuestionCode
    yes: bool | None
    says: str


def answers(times: LayerTimes) -> tuple[LayerAnswer, ...]:
    """The answers to all three, in ioh's order."""
    return (_storage(times), _network_or_client(times), _file_system(times))


def _first(times: LayerTimes, *layers: LayerCode) -> float | None:
    return next((mean for layer in layers if (mean := times.mean_ns(layer)) is not None), None)


def _storage(times: LayerTimes) -> LayerAnswer:
    io_ns = _first(times, "request_read", "bio_read", "driver_read")
    low, high = USUAL_READ_NS
    if io_ns is None:
        return LayerAnswer(
            question="storage_slow", yes=None, says="Is the storage slow? Unknown: no reads of a device."
        )
    if io_ns < low:
        said = f"No: a read takes {duration(io_ns)}, less than a disk does"
    elif io_ns <= high:
        said = f"No, for a disk: a read takes {duration(io_ns)}; {duration(low)} to {duration(high)} are usual"
    else:
        said = f"Yes: a read takes {duration(io_ns)}; even of a disk {duration(high)} are slow"
    return LayerAnswer(question="storage_slow", yes=io_ns > high, says=f"Is the storage slow? {said}.")


def _network_or_client(times: LayerTimes) -> LayerAnswer:
    question = "Do the network or the client lose time?"
    client_ns, server_ns = times.mean_ns("client"), _first(times, "database", "nfs_round_trip", "read_call")
    if client_ns is None or server_ns is None:
        says = f"{question} Unknown: the client's time was not seen."
        return LayerAnswer(question="network_or_client_slow", yes=None, says=says)
    yes = client_ns - server_ns > CLIENT_GAP_NS
    said = f"the client waits {duration(client_ns)}, the server takes {duration(server_ns)}"
    says = f"{question} {'Yes' if yes else 'No'}: {said}."
    return LayerAnswer(question="network_or_client_slow", yes=yes, says=says)


def _file_system(times: LayerTimes) -> LayerAnswer:
    question = "Does the file system lose time?"
    call_ns, io_ns = times.mean_ns("read_call"), _first(times, "bio_read", "request_read", "driver_read")
    if call_ns is None or io_ns is None:
        says = f"{question} Unknown: {'no reads of files' if call_ns is None else 'no reads of a device'}."
        return LayerAnswer(question="file_system_slow", yes=None, says=says)
    yes = is_gap(call_ns, io_ns)
    said = f"a read of a file takes {duration(call_ns)}, of the device {duration(io_ns)}"
    return LayerAnswer(question="file_system_slow", yes=yes, says=f"{question} {'Yes' if yes else 'No'}: {said}.")
