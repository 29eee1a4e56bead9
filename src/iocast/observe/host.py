"""The machine that makes the load: kernel, processors, memory, and whether it is a virtual one."""

from __future__ import annotations

import math
import os
import platform
import re
from pathlib import Path

from iocast import text
from iocast._core import clock_set_by_ns
from iocast.model.run import Host
from iocast.observe.memory_left import memory_limit_bytes
from iocast.observe.target.sysfs import read_text

# What makers of virtual machines write into the firmware's tables, where they write nothing better.
_VIRTUAL_MAKERS = {
    "Amazon EC2": "Amazon EC2",
    "Google": "Google Compute Engine",
    "Microsoft Corporation": "Hyper-V",
    "QEMU": "QEMU/KVM",
    "Red Hat": "KVM",
    "OpenStack Foundation": "OpenStack",
    "VMware, Inc.": "VMware",
    "innotek GmbH": "VirtualBox",
    "Xen": "Xen",
    "Nutanix": "Nutanix AHV",
    "Alibaba Cloud": "Alibaba Cloud",
    "DigitalOcean": "DigitalOcean",
    "Parallels": "Parallels",
}
_CLOCK_SET_NS = 1_000_000_000  # less than this moves no line of a list
_PHYSICAL_PRODUCTS = re.compile(r"\.metal\b|\bSurface\b", re.IGNORECASE)


def describe_host(root: Path = Path("/")) -> Host:
    """This machine, for a Run. `root` is where /proc and /sys are looked up. Never raises: unknown is ""/0.

    `memory_bytes_per_s` stays None: it must be measured.
    """
    system = os.uname()
    cpuinfo = read_text(root / "proc/cpuinfo") or ""
    return Host(
        name=system.nodename,
        kernel=f"{system.sysname} {system.release}",
        cpus=usable_cpus(root),
        cpu_model=cpu_model(cpuinfo),
        memory_bytes=memory_bytes(read_text(root / "proc/meminfo") or ""),
        virtualisation=virtualisation(cpuinfo, root),
        memory_limit_bytes=memory_limit_bytes(str(root)),
    )


def clock_notes() -> tuple[str, ...]:
    """That the clock of this machine was set since a run began; its times go on as if it had not been."""
    by_ns = clock_set_by_ns()
    if abs(by_ns) < _CLOCK_SET_NS:
        return ()
    way = "forward" if by_ns > 0 else "back"
    return (
        f"The clock of this machine was set {way} by {text.long_duration(abs(by_ns))} during the run: its times follow "
        "the clock as it was at the start",
    )


def usable_cpus(root: Path = Path("/")) -> int:
    """Processors that this process may use, after its affinity and the quota of its control groups (v2)."""
    allowed = len(os.sched_getaffinity(0))
    match = re.search(r"^0::/(.*)$", read_text(root / "proc/self/cgroup") or "", re.MULTILINE)
    group = Path(match[1]) if match else Path()
    for place in [group, *group.parents]:
        quota, _, period = (read_text(root / "sys/fs/cgroup" / place / "cpu.max") or "max").partition(" ")
        if quota.isdecimal() and period.isdecimal():
            allowed = min(allowed, max(1, math.ceil(int(quota) / int(period))))
    return allowed


def cpu_model(cpuinfo: str) -> str:
    """The model's name in /proc/cpuinfo, else the architecture ("aarch64")."""
    match = re.search(r"^(?:model name|Model|cpu)\s*:\s*(\S.*)$", cpuinfo, re.MULTILINE)
    return re.sub(r"\s+", " ", match[1]).strip() if match else platform.machine()


def memory_bytes(meminfo: str) -> int:
    """MemTotal of /proc/meminfo, 0 when it does not say."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def virtualisation(cpuinfo: str, root: Path = Path("/")) -> str | None:
    """The name of the hypervisor as far as it shows itself, None for a physical machine.

    On x86 the processor's flag decides; the names come from the firmware's tables, then from the clock.
    """
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if flags is not None and "hypervisor" not in flags[1].split():
        return None
    firmware = root / "sys/class/dmi/id"
    maker, product = read_text(firmware / "sys_vendor") or "", read_text(firmware / "product_name") or ""
    name = next((name for start, name in _VIRTUAL_MAKERS.items() if maker.startswith(start)), None)
    if name is not None and not _PHYSICAL_PRODUCTS.search(product):
        return f"{name} {product}" if name == "Amazon EC2" and product else name
    clocks = read_text(root / "sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    for clock, said in (("kvm-clock", "KVM"), ("hyperv_clocksource", "Hyper-V"), ("xen", "Xen")):
        if clock in clocks:
            return said
    return "an unknown hypervisor" if flags is not None else None
