"""The simulated devices that have a name: "sim:hdd" and so on, as ordinary data."""

from __future__ import annotations

from iocast.model.service_laws import DiskLaw, ExponentialLaw, LognormalLaw
from iocast.model.simulated_device import (
    SimulatedCache,
    SimulatedDevice,
    SimulatedLimit,
    SimulatedLink,
    SimulatedReadAhead,
    SimulatedReduction,
    SimulatedSlc,
    SimulatedThin,
    SimulatedTier,
)

_TIB = 1 << 40
_US = 1_000
_MS = 1_000_000

# A 7200 rpm disk: the seek curve was fitted to three published SATA working sets (a 1.0075 ms, b 13.58 ms).
_TURN_7200_NS = 8_333_333

PRESETS: dict[str, tuple[str, SimulatedDevice]] = {
    "hdd": (
        "a 7200 rpm disk: one arm, 150 MB/s",
        SimulatedDevice(
            size_bytes=_TIB,
            service=DiskLaw(rpm=7200.0, seek_base_ns=1_007_500, seek_span_ns=13_580_000),
            servers=1,
            bandwidth_bytes_per_s=150_000_000,
            fsync_ns=_TURN_7200_NS,
        ),
    ),
    "sata-ssd": (
        "a SATA SSD: about 80 us a read, 8 in parallel, 550 MB/s",
        SimulatedDevice(
            size_bytes=_TIB,
            service=LognormalLaw(mean_ns=80 * _US, cv=0.3),
            write_service=LognormalLaw(mean_ns=60 * _US, cv=0.5),
            servers=8,
            bandwidth_bytes_per_s=550_000_000,
            fsync_ns=_MS,
        ),
    ),
    "nvme": (
        "an NVMe SSD with power-loss protection: about 80 us a read, 64 in parallel, 3.5 GB/s",
        SimulatedDevice(
            size_bytes=_TIB,
            service=LognormalLaw(mean_ns=80 * _US, cv=0.3),
            write_service=LognormalLaw(mean_ns=20 * _US, cv=0.3),
            servers=64,
            bandwidth_bytes_per_s=3_500_000_000,
            fsync_ns=20 * _US,
        ),
    ),
    "cached-array": (
        "an array of 24 disks behind a cache: 60 % of reads and all writes in 300 us, misses 5 ms, 800 MB/s",
        SimulatedDevice(
            size_bytes=10 * _TIB,
            service=ExponentialLaw(mean_ns=5 * _MS),
            servers=24,
            bandwidth_bytes_per_s=800_000_000,
            fsync_ns=300 * _US,
            cache=SimulatedCache(read_hit_percent=60.0, hit_ns=300 * _US, write_back=True),
        ),
    ),
    # Amazon's gp2 with 100 GiB: 3 I/Os a second and GiB, 5.4 million credits at the start, bursts of 3,000/s, I/Os
    # counted by 256 KiB, at most 128 MiB/s up to 170 GiB (EBS user guide, "General Purpose SSD volumes").
    # Round trip and service time are not published: a millisecond in all is what such volumes are described by.
    "cloud-volume": (
        "a cloud volume of 100 GiB: 300 IOPS, bursts of 3000 until 5.4 million credits are spent, 128 MiB/s",
        SimulatedDevice(
            size_bytes=100 << 30,
            service=LognormalLaw(mean_ns=500 * _US, cv=0.3),
            servers=64,
            fsync_ns=500 * _US,
            limits=(
                SimulatedLimit("ios", 3000.0, unit_bytes=256 << 10),
                SimulatedLimit("ios", 300.0, bucket=5_400_000.0, unit_bytes=256 << 10),
                SimulatedLimit("bytes", float(128 << 20)),
            ),
            link=SimulatedLink(bytes_per_s=1_250_000_000, rtt_ns=200 * _US),
        ),
    ),
    "thin-array": (
        "an array with thin space: first writes cost 2 ms more; compression, dedupe, 1 TiB of flash before 48 disks",
        SimulatedDevice(
            size_bytes=20 * _TIB,
            service=ExponentialLaw(mean_ns=6 * _MS),
            servers=48,
            bandwidth_bytes_per_s=1_600_000_000,
            fsync_ns=300 * _US,
            tier=SimulatedTier(size_bytes=_TIB, fast_ns=500 * _US, extent_bytes=1 << 20, after=3),
            thin=SimulatedThin(unit_bytes=1 << 20, first_write_ns=2 * _MS),
            reduction=SimulatedReduction(compress=True, dedupe=True, least_percent=5.0),
        ),
    ),
    # Payload of one gigabit with frames of 1,500 bytes over TCP: 117.7 MB/s.
    "nfs-filer": (
        "an NFS filer over gigabit Ethernet: 117 MB/s each way, 200 us round trip, 16 GiB of cache, 24 disks",
        SimulatedDevice(
            size_bytes=10 * _TIB,
            service=ExponentialLaw(mean_ns=6 * _MS),
            servers=24,
            bandwidth_bytes_per_s=1_500_000_000,
            fsync_ns=200 * _US,
            cache=SimulatedCache(
                0.0,
                100 * _US,
                write_back=True,
                size_bytes=16 << 30,
                scan_resistant=True,
                dirty_bytes=2 << 30,
                destage_bytes_per_s=200_000_000,
            ),
            link=SimulatedLink(bytes_per_s=117_700_000, rtt_ns=200 * _US),
            read_ahead=SimulatedReadAhead(window_bytes=2 << 20, hit_ns=100 * _US),
        ),
    ),
    "qlc-ssd": (
        "a QLC SSD: 3 GB/s of writes for 100 GiB, then 160 MB/s until it has recovered",
        SimulatedDevice(
            size_bytes=2 * _TIB,
            service=LognormalLaw(mean_ns=100 * _US, cv=0.4),
            write_service=LognormalLaw(mean_ns=25 * _US, cv=0.3),
            servers=64,
            bandwidth_bytes_per_s=3_000_000_000,
            fsync_ns=_MS,
            slc=SimulatedSlc(size_bytes=100 << 30, slow_bytes_per_s=160_000_000, recover_bytes_per_s=100_000_000),
        ),
    ),
}
