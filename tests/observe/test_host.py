"""The host: processors that may be used, models, memory, and who runs the machine."""

from __future__ import annotations

import os
import platform

import pytest
from makers.machine_tree import MachineTree

from iocast.observe.host import cpu_model, describe_host, memory_bytes, usable_cpus, virtualisation

VIRTUAL = "flags\t\t: fpu vme hypervisor lahf_lm\n"
PHYSICAL = "flags\t\t: fpu vme lahf_lm\n"


def test_this_machine() -> None:
    host = describe_host()
    assert host.name == os.uname().nodename
    assert host.kernel.endswith(os.uname().release)
    assert 1 <= host.cpus <= (os.cpu_count() or 1)
    assert host.memory_bytes > 1 << 20
    assert host.cpu_model
    assert host.memory_bytes_per_s is None


def test_a_quota_of_any_control_group_above_counts(machine: MachineTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    assert usable_cpus(machine.root) == 16
    machine.write("proc/self/cgroup", "3:cpu:/x\n0::/pod/db")
    machine.write("sys/fs/cgroup/pod/db/cpu.max", "max 100000")
    assert usable_cpus(machine.root) == 16
    machine.write("sys/fs/cgroup/pod/cpu.max", "250000 100000")
    assert usable_cpus(machine.root) == 3
    machine.write("sys/fs/cgroup/cpu.max", "10000 100000")
    assert usable_cpus(machine.root) == 1


def test_cpu_models() -> None:
    assert cpu_model("processor : 0\nmodel name\t: AMD EPYC  7B13\nmodel : 1\n") == "AMD EPYC 7B13"
    assert cpu_model("cpu\t\t: POWER9, altivec supported\n") == "POWER9, altivec supported"
    assert cpu_model("") == platform.machine()


def test_memory() -> None:
    assert memory_bytes("MemTotal:       24684084 kB\nMemFree: 1 kB\n") == 24684084 * 1024
    assert memory_bytes("") == 0


@pytest.mark.parametrize(
    ("flags", "maker", "product", "clocks", "said"),
    [
        (PHYSICAL, "Dell Inc.", "PowerEdge", "tsc", None),
        (PHYSICAL, "Amazon EC2", "m5.metal", "tsc", None),
        (VIRTUAL, "Amazon EC2", "m5.large", "tsc", "Amazon EC2 m5.large"),
        (VIRTUAL, "QEMU", "Standard PC", "tsc kvm-clock", "QEMU/KVM"),
        (VIRTUAL, "VMware, Inc.", "VMware7,1", "tsc", "VMware"),
        (VIRTUAL, "", "", "tsc kvm-clock", "KVM"),
        (VIRTUAL, "", "", "tsc", "an unknown hypervisor"),
        ("", "Amazon EC2", "m6g.metal", "arch_sys_counter", None),
        ("", "Amazon EC2", "m6g.large", "arch_sys_counter", "Amazon EC2 m6g.large"),
        ("", "", "", "", None),
    ],
)
def test_virtualisation(
    machine: MachineTree, flags: str, maker: str, product: str, clocks: str, said: str | None
) -> None:
    machine.write("sys/class/dmi/id/sys_vendor", maker)
    machine.write("sys/class/dmi/id/product_name", product)
    machine.write("sys/devices/system/clocksource/clocksource0/available_clocksource", clocks)
    assert virtualisation(flags, machine.root) == said
