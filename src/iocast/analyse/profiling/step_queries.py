"""What the sessions of a trace do, counted by SQL: families of files, roles of sessions, steps, pauses, places."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from iocast.analyse.profiling.event_queries import EventTable
from iocast.model.profiling.profile import Footprint, UseCount

MOST_EVENTS = 3_000_000  # from the beginning: more tell nothing new of a session
LEAST_EVENTS = 200
FAMILIES = 8  # of files that are told apart; the others are one
LEAST_FAMILY = 0.02  # of the I/Os [J]
TURNS = 0.02  # of a log's I/Os that overlap: its writers take turns [J]
WRITER = 0.1  # of a log's I/Os, from which a session is one of its writers [J]
ALIKE = 0.3  # by which the I/Os of two sessions of one role may differ, in total variation [J]
SAME_RATE = 4.0  # times as many I/Os as another of its role [J]
LEAST_SESSION = 0.002  # of all I/Os; those with fewer are one session together [J]
OWN_SIZE = 0.05  # of the I/Os of an operation on a family, from which a size is a step of its own [J]
OWN_SIZES = 24  # steps of a role that have one size
SIZES = 16  # of a step of the other sizes, at most
MIXED_SIZES = 36  # of all such steps of a role: a phase has 64 operations and sizes
LEAST_STEP = 0.0005  # of the I/Os of a role; rarer ones are left out [J]
SEGMENT = re.compile(r"[0-9A-Fa-f]{8,}")  # of a log that goes on in the next file
PERCENTS = (*(at / 2 for at in range(1, 199)), 99.2, 99.4, 99.6, 99.7, 99.8, 99.9, 99.95, 100.0)

TIMED = """
CREATE TEMP TABLE timed AS
SELECT ts_ns, lat_ns, op, "offset" AS place, size, target, actor, row_number() OVER (ORDER BY ts_ns, src_line) AS n
FROM (SELECT * FROM events WHERE ts_ns IS NOT NULL AND lat_ns IS NOT NULL AND op < 4 AND actor IS NOT NULL
    AND (op >= 2 OR size > 0) AND coalesce(err, 0) = 0 ORDER BY ts_ns LIMIT {most})
"""
FAMILY = "SELECT target, count(*), count(*) FILTER (WHERE op >= 2) FROM timed GROUP BY target"
OVERLAPS = """
SELECT family, avg((ts_ns < until)::INTEGER), count(DISTINCT actor) FILTER (WHERE share >= {writer})
FROM (SELECT family, actor, ts_ns,
    count(*) OVER (PARTITION BY family, actor) / count(*) OVER (PARTITION BY family) AS share,
    coalesce(max(ts_ns + lat_ns)
        OVER (PARTITION BY family ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS until,
    count(*) FILTER (WHERE op >= 2) OVER (PARTITION BY family) AS syncs
    FROM named WHERE op >= 1)
WHERE syncs > 0 GROUP BY family
"""
SESSIONS = "SELECT session, family, op, count(*) FROM named GROUP BY ALL"
# Where the last I/O of the same operation of the session on the same files ended, and where its last read did.
PLACED = """
CREATE TEMP TABLE placed AS
SELECT r.role, t.*, lag(place + size) OVER (PARTITION BY session, family, op ORDER BY n) AS cursor_at,
    last_value(CASE WHEN op = 0 THEN place + size END IGNORE NULLS)
        OVER (PARTITION BY session, family ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS read_to
FROM named t JOIN role_of r USING (session)
"""
BY_SIZE = """
SELECT role, family, op, size, count(*) AS n, sum(count(*)) OVER (PARTITION BY role, family, op) AS whole,
    sum(count(*)) OVER (PARTITION BY role) AS role_whole
FROM placed GROUP BY role, family, op, size ORDER BY role, family, op, n DESC, size
"""
# After its last I/O a session begins again: what it did once in a trace it does once in so long.
STEPS = """
CREATE TEMP TABLE steps AS
SELECT p.*, k.step, coalesce(lead(k.step) OVER w, first_value(k.step) OVER w) AS next_step,
    coalesce(lead(ts_ns) OVER w, (SELECT max(ts_ns) - min(ts_ns) FROM timed) + first_value(ts_ns) OVER w) AS next_ts
FROM placed p JOIN kind k ON p.role = k.role AND p.family = k.family AND p.op = k.op
    AND p.size IS NOT DISTINCT FROM k.size
WINDOW w AS (PARTITION BY session ORDER BY n)
"""
FACTS = """
SELECT step, any_value(role), any_value(family), any_value(op), count(*), coalesce(sum(size), 0)::BIGINT,
    coalesce(min(place), 0), coalesce(max(place + size), 0), coalesce(max(size), 0),
    count(*) FILTER (WHERE place = cursor_at), count(next_ts), avg(greatest({pause}, 0)),
    quantile_cont(greatest({pause}, 0), {quantiles}),
    count(*) FILTER (WHERE op = 1 AND place + size = read_to AND read_to IS DISTINCT FROM cursor_at),
    mode(cursor_at - place) FILTER (WHERE place < cursor_at AND cursor_at - place <= 65536), count(DISTINCT target)
FROM steps GROUP BY step ORDER BY step
"""
AGAIN = "SELECT count(*) FROM steps WHERE step = $step AND cursor_at - place = $bytes"
NEXT = "SELECT step, next_step, count(*) FROM steps WHERE next_step IS NOT NULL GROUP BY ALL"
STEP_SIZES = "SELECT step, size, count(*) FROM steps WHERE size IS NOT NULL GROUP BY ALL ORDER BY step, size"
USED = """
WITH used AS (
    SELECT family, unnest(range(place // $bytes, (place + size - 1) // $bytes + 1)) AS block
    FROM steps WHERE list_contains($only, step) AND place >= 0
), counted AS (SELECT family, block, count(*) AS uses FROM used GROUP BY ALL)
SELECT family, uses, count(*) FROM counted GROUP BY ALL ORDER BY family, uses DESC
"""


BUSY = """
SELECT role, sum(lat_ns) / (SELECT max(ts_ns) - min(ts_ns) + 1 FROM timed)
FROM named JOIN role_of USING (session) GROUP BY role
"""


class RoleFacts(Struct, frozen=True):
    """Sessions that do the same; one that stands for many that do little is one user."""

    sessions: tuple[int, ...]
    users: int


class StepFacts(Struct, frozen=True, kw_only=True):
    """What was counted of one step."""

    number: int
    role: int
    family: int
    op: int
    events: int
    bytes: int
    first: int
    end: int
    largest: int
    follows: int  # I/Os that went on where the last one ended
    again: int  # those that began `again_bytes` before
    again_bytes: int
    back: int  # writes of what the session had just read
    pauses: int
    pause_mean_ns: float
    quantiles: tuple[float, ...]
    next: dict[int, int]
    sizes: tuple[tuple[int, float], ...]
    targets: int


def prepare(table: EventTable) -> bool:
    """Makes the table of timed I/Os with their families and sessions; False where there are too few."""
    table.rows(TIMED.format(most=MOST_EVENTS))
    ((count,),) = table.rows("SELECT count(*) FROM timed")
    ((all_events,),) = table.rows("SELECT count(*) FROM events WHERE op < 4")
    if count < LEAST_EVENTS or 2 * count < min(all_events, MOST_EVENTS):
        return False
    families = _families(table)
    table.rows("CREATE TEMP TABLE family_of (target BIGINT, family INTEGER)")
    for target, family in families.items():
        table.rows("INSERT INTO family_of VALUES (?, ?)", [target, family])
    joined = (
        "SELECT t.*, f.family{} AS session FROM timed t JOIN family_of f ON f.target IS NOT DISTINCT FROM t.target{}"
    )
    table.rows("CREATE TEMP TABLE named AS " + joined.format(", actor::BIGINT", ""))
    shared = [
        family
        for family, overlap, writers in table.rows(OVERLAPS.format(writer=WRITER))
        if writers > 1 and overlap <= TURNS
    ]
    for family in shared:
        table.rows("UPDATE named SET session = ? WHERE family = ? AND op >= 1", [-1 - family, family])
    return True


def _families(table: EventTable) -> dict[int | None, int]:
    """Files by number: the busiest one by one, the segments of a log as one, all others together."""
    groups: dict[str, list[int | None]] = {}
    counts: dict[str, int] = {}
    for target, count, _syncs in table.rows(FAMILY):
        name = SEGMENT.sub("#", table.name_of(target) or f"target {target}")
        groups.setdefault(name, []).append(target)
        counts[name] = counts.get(name, 0) + count
    whole = sum(counts.values())
    busiest = sorted(counts, key=lambda name: (-counts[name], name))
    kept = [name for name in busiest[:FAMILIES] if counts[name] >= LEAST_FAMILY * whole]
    number = {name: at for at, name in enumerate(kept)}
    return {target: number.get(name, len(kept)) for name, targets in groups.items() for target in targets}


def roles_of(table: EventTable) -> list[RoleFacts]:
    """Sessions that do the same things as often, together."""
    counts: dict[int, dict[tuple[int, int], int]] = {}
    for session, family, op, count in table.rows(SESSIONS):
        counts.setdefault(session, {})[family, op] = count
    totals = {session: sum(own.values()) for session, own in counts.items()}
    whole = sum(totals.values())
    roles: list[list[int]] = []
    little = []
    for session in sorted(totals, key=lambda session: (-totals[session], session)):
        if totals[session] < LEAST_SESSION * whole:
            little.append(session)
            continue
        alike = next((role for role in roles if _alike(role[0], session, counts, totals)), None)
        if alike is None:
            roles.append([session])
        else:
            alike.append(session)
    roles_found = [RoleFacts(tuple(role), len(role)) for role in roles]
    roles_found += [RoleFacts(tuple(little), 1)] if sum(totals[each] for each in little) >= 2 * len(little) + 20 else []
    table.rows("CREATE TEMP TABLE role_of (session BIGINT, role INTEGER)")
    for number, role in enumerate(roles_found):
        for session in role.sessions:
            table.rows("INSERT INTO role_of VALUES (?, ?)", [session, number])
    if roles_found and roles_found[-1].sessions == tuple(little):  # one session: their I/Os follow one another
        table.rows("UPDATE named SET session = -1000 WHERE list_contains(?, session)", [list(little)])
        table.rows("INSERT INTO role_of VALUES (-1000, ?)", [len(roles_found) - 1])
    return roles_found


def _alike(first: int, other: int, counts: dict[int, dict[tuple[int, int], int]], totals: dict[int, int]) -> bool:
    one, two = counts[first], counts[other]
    apart = sum(abs(one.get(key, 0) / totals[first] - two.get(key, 0) / totals[other]) for key in {*one, *two}) / 2
    return apart <= ALIKE and totals[first] <= SAME_RATE * totals[other]


def busy_roles(table: EventTable, roles: Sequence[RoleFacts]) -> list[float]:
    """The share of their time for which the sessions of each role have an I/O under way."""
    shares = dict(table.rows(BUSY))
    return [float(shares.get(number, 0.0)) / role.users for number, role in enumerate(roles)]


def number_steps(table: EventTable, roles: Sequence[RoleFacts]) -> None:
    """Gives each I/O its step: role, family, operation, and the size where many have it."""
    table.rows(PLACED)
    table.rows("CREATE TEMP TABLE kind (role INTEGER, family INTEGER, op INTEGER, size BIGINT, step INTEGER)")
    rows = table.rows(BY_SIZE)
    own = [row for row in rows if row[2] < 2 and row[4] >= OWN_SIZE * row[5]]
    kept: set[tuple[Any, ...]] = set()
    for role in range(len(roles)):
        most = sorted((row for row in own if row[0] == role), key=lambda row: (-row[4], *row[:4]))
        kept |= {row[:4] for row in most[:OWN_SIZES]}
    steps: dict[tuple[Any, ...], int] = {}
    for role, family, op, size, count, whole, role_whole in rows:
        alone = (role, family, op, size) in kept
        if (count if alone else whole) < LEAST_STEP * role_whole:
            continue
        key = (role, family, op, size) if alone else (role, family, op)
        step = steps.setdefault(key, len(steps))
        table.rows("INSERT INTO kind VALUES (?, ?, ?, ?, ?)", [role, family, op, size, step])
    table.rows(STEPS)


def excluded(table: EventTable) -> int:
    """I/Os without a step."""
    ((named, stepped),) = table.rows("SELECT (SELECT count(*) FROM timed), (SELECT count(*) FROM steps)")
    return int(named - stepped)


def step_facts(table: EventTable, *, between: bool) -> list[StepFacts]:
    """All steps. `between`: a pause is from one beginning to the next, not from an end."""
    pause = "next_ts - ts_ns" if between else "next_ts - ts_ns - lat_ns"
    text = FACTS.format(pause=pause, quantiles=[percent / 100 for percent in PERCENTS])
    following: dict[int, dict[int, int]] = {}
    for step, to, count in table.rows(NEXT):
        following.setdefault(step, {})[to] = count
    sizes: dict[int, list[tuple[int, int]]] = {}
    for step, size, count in table.rows(STEP_SIZES):
        sizes.setdefault(step, []).append((size, count))
    mixed: dict[int, set[int]] = {}
    for step, role in table.rows("SELECT step, role FROM kind WHERE op < 2 GROUP BY ALL HAVING count(*) > 1"):
        mixed.setdefault(role, set()).add(step)
    most = {role: max(2, min(SIZES, MIXED_SIZES // len(own))) for role, own in mixed.items()}
    facts = []
    rows = table.rows(text)
    for (
        step,
        role,
        family,
        op,
        count,
        total,
        first,
        end,
        largest,
        follows,
        pauses,
        mean,
        quantiles,
        back,
        again,
        files,
    ) in rows:
        times = table.rows(AGAIN, {"step": step, "bytes": again})[0][0] if again else 0
        facts.append(
            StepFacts(
                number=step,
                role=role,
                family=family,
                op=op,
                events=count,
                bytes=int(total),
                first=first,
                end=end,
                largest=largest,
                follows=follows,
                again=times,
                again_bytes=again or 0,
                back=back,
                pauses=pauses,
                pause_mean_ns=mean or 0.0,
                quantiles=tuple(quantiles or ()),
                next=following.get(step, {}),
                sizes=_fewer(sizes.get(step, []), most.get(role, SIZES)),
                targets=files,
            )
        )
    return facts


def _fewer(sizes: Sequence[tuple[int, int]], most: int) -> tuple[tuple[int, float], ...]:
    """The most frequent sizes, each other one added to the nearest."""
    kept = dict(sorted(sizes, key=lambda each: (-each[1], each[0]))[:most])
    for size, count in sizes:
        if size not in kept:
            kept[min(kept, key=lambda near: abs(near - size))] += count
    return tuple((size, float(count)) for size, count in sorted(kept.items()))


def skews(table: EventTable, block_bytes: int, only: Sequence[int]) -> dict[int, Footprint]:
    """How often the blocks of each family were used by these steps."""
    uses: dict[int, list[UseCount]] = {}
    if only:
        for family, times, blocks in table.rows(USED, {"bytes": block_bytes, "only": list(only)}):
            uses.setdefault(family, []).append(UseCount(times, blocks))
    return {
        family: Footprint(
            block_bytes=block_bytes,
            references=sum(each.uses * each.blocks for each in own),
            blocks=sum(each.blocks for each in own),
            read_blocks=0,
            written_blocks=0,
            rewritten_blocks=0,
            read_and_written_blocks=0,
            uses=tuple(own),
            hot_spots=(),
        )
        for family, own in uses.items()
    }
