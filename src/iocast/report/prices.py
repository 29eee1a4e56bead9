"""What storage costs by its capacity and by its IOPS, where somebody gave its price."""

from __future__ import annotations

from collections.abc import Container, Sequence

from msgspec import Struct

from iocast import text
from iocast.analyse.comparison import median_of
from iocast.model.results.comparison import SidePrice
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Sequential

GB = 1e9


class Price(Struct, frozen=True):
    """None: unknown."""

    amount: float
    per_gb: float | None
    per_iops: float | None
    row: str  # whose IOPS


def price_of(run: Run, void: Container[str] = ()) -> Price | None:
    """The price of a run's target; rows named in `void` are no measurements. None where no price was given."""
    target = run.plan.target
    if target.price is None:
        return None
    size_bytes = target.size_bytes if target.kind in ("block", "sim") else target.total_bytes
    rows = {each.phase.name: each.ios_per_s for each in run.measured if _random(each) and each.phase.name not in void}
    rates = {name: rate for name, rate in rows.items() if rate}
    best = max(rates, key=lambda name: rates[name], default="")
    return Price(
        amount=target.price,
        per_gb=target.price / (size_bytes / GB) if size_bytes else None,
        per_iops=target.price / rates[best] if best else None,
        row=best,
    )


def _random(record: PhaseRecord) -> bool:
    load = record.phase.workload
    return load.direct and not load.trims and not isinstance(load.locality, Sequential)


def price_line(price: Price | None) -> str:
    """One line of a card; "" where there is no price."""
    if price is None:
        return ""
    parts = [f"{text.number(price.per_gb)} per GB"] if price.per_gb is not None else []
    parts += [f"{text.number(price.per_iops)} per IOPS ({price.row})"] if price.per_iops is not None else []
    return f"Price {text.number(price.amount)}: {', '.join(parts)}." if parts else f"Price {text.number(price.amount)}."


def side_prices(sides: Sequence[tuple[str, Sequence[Run]]]) -> tuple[SidePrice, ...]:
    """The sides beside each other, the median of their runs; none where no side has a price."""
    rows = []
    for label, runs in sides:
        prices = [price for run in runs if (price := price_of(run)) is not None]
        rates = [price.per_iops for price in prices if price.per_iops is not None]
        rows.append(
            SidePrice(
                side=label,
                price=prices[0].amount if prices else None,
                price_per_gb=prices[0].per_gb if prices else None,
                price_per_iops=median_of(rates) if rates else None,
            )
        )
    return tuple(rows) if any(row.price is not None for row in rows) else ()
