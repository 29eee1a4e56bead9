"""What a link carries at most, and how soon light comes back over it."""

from __future__ import annotations

TCP_IP_BYTES = 52  # headers of IPv4 and TCP with time stamps in each packet
USUAL_MTU, LEAST_MTU = 1500, 576
ETHERNET_BYTES = 38  # preamble, header, checksum and gap around each packet
LIGHT_KM_PER_S = 299_792.458
REFRACTION = 1.468  # of a fibre


def tcp_payload_bytes_per_s(gbit_per_s: float, mtu_bytes: int = USUAL_MTU, resent_share: float = 0.0) -> float:
    """What TCP over IPv4 leaves of an Ethernet: (mtu - 52) / (mtu + 38) of what is sent once; 117.7 MB/s of 1 GbE."""
    payload = (mtu_bytes - TCP_IP_BYTES) / (mtu_bytes + ETHERNET_BYTES)
    return gbit_per_s * 1e9 / 8 * payload * (1 - resent_share)


def serial_payload_bytes_per_s(gbaud: float, code_num: int, code_den: int, lanes: int = 1) -> float:
    """What a line code leaves of a serial link: 8b/10b leaves 850 MB/s of 8.5 Gbaud (FC 8G)."""
    return gbaud * 1e9 / 8 * code_num / code_den * lanes


def fibre_round_trip_s(km: float) -> float:
    """There and back through a fibre: 9.8 us for each kilometre."""
    return 2 * km * REFRACTION / LIGHT_KM_PER_S
