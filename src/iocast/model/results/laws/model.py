"""What `iocast model` says: one law."""

from __future__ import annotations

from msgspec import Struct

from iocast.model.results.laws.closed import BoundsLaw, MvaLaw, UslLaw
from iocast.model.results.laws.disks import ControllerLaw, DiskLaw, DisksLaw, RaidLaw, StrokeLaw, ZonesLaw
from iocast.model.results.laws.links import LinkLaw, RulesLaw
from iocast.model.results.laws.queues import GgcLaw, KneesLaw, Mg1Law, Mm1Law, MmcLaw, PercentilesLaw, SamplesLaw
from iocast.model.results.laws.volumes import (
    BucketLaw,
    BurstCreditsLaw,
    BurstLaw,
    CacheLaw,
    LevelsLaw,
    MixLaw,
    VolumeLaw,
    VolumesLaw,
)

AnyLaw = (
    DiskLaw
    | DisksLaw
    | ControllerLaw
    | RaidLaw
    | StrokeLaw
    | ZonesLaw
    | Mm1Law
    | MmcLaw
    | Mg1Law
    | GgcLaw
    | PercentilesLaw
    | SamplesLaw
    | KneesLaw
    | MvaLaw
    | BoundsLaw
    | UslLaw
    | VolumesLaw
    | VolumeLaw
    | BurstCreditsLaw
    | BucketLaw
    | BurstLaw
    | LevelsLaw
    | MixLaw
    | CacheLaw
    | LinkLaw
    | RulesLaw
)


class Model(Struct, frozen=True, kw_only=True):
    """What a law says."""

    law: AnyLaw
