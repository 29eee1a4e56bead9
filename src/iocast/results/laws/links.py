"""Measured MB/s beside the link that they came over, measured IOPS beside the disks below, and rules of thumb."""

from __future__ import annotations

from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.forecast.laws.link_payload import USUAL_MTU
from iocast.forecast.storage.rules_of_thumb import LinkRule, MediumRule, rules_of_thumb
from iocast.model.results.laws.links import DisksUse, LinkLaw, LinkSpeed, LinkUse, Medium, RulesLaw


def link(bytes_per_s: float, name: str, ports: int, mtu_bytes: int = USUAL_MTU, resent_share: float = 0.0) -> LinkLaw:
    """What share of a link a measured MB/s is. Raises SpecError."""
    rule = rule_of(name)
    if rule.kind != "ethernet" and (mtu_bytes, resent_share) != (USUAL_MTU, 0.0):
        raise SpecError(f"{rule.name} has no TCP packets", "--mtu and --resent go with an Ethernet, for example 10 GbE")
    most = ports * rule.payload(mtu_bytes, resent_share)
    used = replace(_moved(bytes_per_s, rule.name, ports), payload_bytes_per_s=most, payload_share=bytes_per_s / most)
    return LinkLaw(links=(used,))


def documented() -> LinkLaw:
    """The figures of the documents beside their links and disks."""
    nas = LinkUse(  # what CALIBRATE_IO said, beside what other tools measured
        whose="CERN, NAS", measured_bytes_per_s=400e6, rule_bytes_per_s=1e9, rule_share=400e6 / 1e9, printed="~50%"
    )
    return LinkLaw(
        links=(
            _moved(1251e6, "FC 4G", 4, "CERN, disks", "~80%"),
            _moved(450e6, "FC 2G", 2, "Closson", "full bandwidth"),
            _moved(117.042e6, "1 GbE", 1, "Hailey, VM", "100% of bare metal"),
            nas,
        ),
        disks=(_calibrated(4778, 46, 100, "CERN, disks"), _calibrated(4378, 60, 70, "CERN, NAS")),
    )


def _moved(bytes_per_s: float, name: str, ports: int, whose: str | None = None, printed: str | None = None) -> LinkUse:
    rule = rule_of(name)
    by_rule, most = (ports * each for each in (rule.rule_bytes_per_s, rule.payload_bytes_per_s))
    return LinkUse(
        whose=whose,
        measured_bytes_per_s=bytes_per_s,
        link=name,
        ports=ports,
        rule_bytes_per_s=by_rule,
        rule_share=bytes_per_s / by_rule,
        payload_bytes_per_s=most,
        payload_share=bytes_per_s / most,
        printed=printed,
    )


def _calibrated(iops: float, disks: int, each: float, whose: str) -> DisksUse:
    return DisksUse(
        whose=whose,
        measured_iops=iops,
        disks=disks,
        each_iops=each,
        expected_iops=disks * each,
        expected_share=iops / (disks * each),
    )


def rule_of(name: str) -> LinkRule:
    """A link by its name, however it is spaced and cased. Raises SpecError."""
    wanted = name.lower().replace(" ", "").replace("-", "")
    for rule in rules_of_thumb().link:
        if rule.name.lower().replace(" ", "") == wanted:
            return rule
    raise SpecError(f'--link: "{name}" is unknown', f"known: {', '.join(rule.name for rule in rules_of_thumb().link)}")


def rules() -> RulesLaw:
    """All rules of thumb."""
    known = rules_of_thumb()
    return RulesLaw(
        media=tuple(map(_medium, known.medium)),
        links=tuple(
            LinkSpeed(
                link=link.name, rule_bytes_per_s=link.rule_bytes_per_s, payload_bytes_per_s=link.payload_bytes_per_s
            )
            for link in known.link
        ),
    )


def _medium(medium: MediumRule) -> Medium:
    low, high, good = medium.read_ns
    return Medium(
        medium=medium.name,
        read_low_ns=low,
        read_high_ns=high,
        good_ns=good,
        iops_low=medium.iops_low,
        iops_high=medium.iops_high,
        checked=medium.checked.isoformat(),
        source=medium.source,
    )
