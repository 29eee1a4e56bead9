"""The loops that run on the server: PL/pgSQL procedures with static SQL, a slice of about a second a call.

Each measures its statements by the server's clock and counts them in buckets (see `tallies`). Keys and kinds are those
of `key_stream`. A procedure, not a function, because each update commits.
"""

from __future__ import annotations

from iocast.load.database.key_stream import DRAWS, GAP, MIX_1, MIX_2, PAUSE, PLACE, STEP
from iocast.load.database.tallies import SERVER_BUCKETS, SERVER_EXACT_US, SUB_BUCKETS

SCHEMA = "iocast_load"
# Sections of the counts: response of reads, updates, scans; service of the same; how late they were sent: after they
# were due, or after their session was free, if that was later.
SERVICE, LAG, SECTIONS = 3, 6, 7


def _drawn(into: str, draw: int) -> str:
    """The lines of `key_stream.drawn`."""
    return f"""
    z := (stream + (number * {DRAWS} + {draw}) * {STEP}) & 4294967295;
    z := ((z # (z >> 16)) * {MIX_1}) & 4294967295;
    z := ((z # (z >> 15)) * {MIX_2}) & 4294967295;
    {into} := z # (z >> 15);"""


def _count(section: str, value: str) -> str:
    """The lines that count a time: sums of what is in a bucket of its own can be had from the counts."""
    return f"""
      x := {value}; s := {section};
      if x < {SERVER_EXACT_US} then
        b := s * {SERVER_BUCKETS} + greatest(x, 0) + 1;
      else
        slow_sum[s + 1] := slow_sum[s + 1] + x;
        slow_squares[s + 1] := slow_squares[s + 1] + x::float8 * x;
        if x > most_us[s + 1] then most_us[s + 1] := x; end if;
        e := 0;
        while x >= {SERVER_EXACT_US} loop x := x >> 1; e := e + 1; end loop;
        b := s * {SERVER_BUCKETS} + least(e * {SUB_BUCKETS} + x, {SERVER_BUCKETS - 1}) + 1;
      end if;
      h[b] := h[b] + 1;"""


_US_SINCE = "(date_part('epoch', {later} - {sooner}) * 1000000)::bigint"
_RESULTS = """
  inout number bigint, inout due_us float8, out ended_us bigint, out buckets int[], out counts int[],
  out slow_sum float8[], out slow_squares float8[], out most_us int[], out last_section int, out last_response bigint,
  out last_service bigint, out last_lag bigint, out last_ended bigint, out touched bigint[]"""
_LOCALS = f"""
  h int[] := array_fill(0, array[sections * {SERVER_BUCKETS}]);
  z bigint; bits bigint; place bigint; room bigint; first_key bigint; blocks bigint; others bigint; v bigint;
  u float8; kind int; x bigint; s int; e int; b int; now_us bigint; free_us bigint;
  t0 timestamptz; t1 timestamptz; response bigint; service bigint; lag bigint; low tid; high tid;"""
_BEGIN = f"""
  slow_sum := array_fill(0::float8, array[sections]);
  slow_squares := array_fill(0::float8, array[sections]);
  most_us := array_fill(0, array[sections]);
  ended_us := 0;
  free_us := {_US_SINCE.format(later="clock_timestamp()", sooner="began")};"""
_END = """
  select array_agg(at - 1), array_agg(n) into buckets, counts
    from unnest(h) with ordinality as found(n, at) where n > 0;"""
_RECORD = f"""
    t1 := clock_timestamp();
    service := {_US_SINCE.format(later="t1", sooner="t0")};
    ended_us := {_US_SINCE.format(later="t1", sooner="began")};
    if gap_us > 0 then
      response := ended_us - due_us::bigint;
      lag := greatest(ended_us - service - greatest(due_us::bigint, free_us), 0);
    else
      response := service; lag := 0;
    end if;
    free_us := ended_us;
    number := number + 1;
    if gap_us > 0 then
      if even then
        due_us := due_us + gap_us;
      else{_drawn("bits", GAP)}
        due_us := due_us - ln((bits + 0.5::float8) / 4294967296) * gap_us;
      end if;
    end if;
    if ended_us >= till_us then
      last_section := kind; last_response := response; last_service := service; last_lag := lag;
      last_ended := ended_us;
      exit;
    end if;{_count("kind", "response")}
    if gap_us > 0 then{_count(f"kind + {SERVICE}", "service")}{_count(str(LAG), "lag")}
    end if;"""
# A server sleeps whole milliseconds: the last one before a statement is due is waited for on the processor.
_WAIT = f"""
    if gap_us > 0 then
      exit when due_us >= till_us;
      loop
        now_us := {_US_SINCE.format(later="clock_timestamp()", sooner="began")};
        exit when now_us >= due_us;
        if due_us - now_us > 2000 then perform pg_sleep((due_us - now_us - 1000) / 1000000); end if;
      end loop;
    end if;"""
# What a statement is, and where it goes: as `key_stream.kind_of` and `place_of`.
_CHOICE = f"""
    kind := 0; blocks := work_unit;
    if (number * update_pct) % 100 >= 100 - update_pct then
      kind := 1;
    elsif scan_pct > 0 then
      others := number - number * update_pct / 100;
      if (others * scan_pct) % 100 >= 100 - scan_pct then kind := 2; blocks := scan_blocks; end if;
    end if;{_drawn("bits", PLACE)}
    first_key := 1; room := row_count;
    if hot_every > 0 then
      if number % hot_every = hot_every - 1 then first_key := hot_first; room := hot_rows; end if;
    end if;
    room := greatest(room - blocks + 1, 1);
    if theta > 0 and first_key = 1 and room > 1 then
      u := (bits + 0.5::float8) / 4294967296;
      if abs(theta - 1) < 0.000001 then
        place := trunc(power(room + 1::float8, u))::bigint - 1;
      else
        place := trunc(power((power(room + 1::float8, 1 - theta) - 1) * u + 1, 1 / (1 - theta)))::bigint - 1;
      end if;
      place := 1 + least(room - 1, place);
    else
      place := first_key + ((bits * room) >> 32);
    end if;"""


def load_procedure(table: int) -> str:
    """The loop of one table, as `create procedure` takes it. It changes no heirs of the table."""
    name = f"{SCHEMA}.t{table}"
    touched = ", ".join(
        f"pg_stat_get_xact_blocks_{what}('{each}'::regclass)"
        for each in (name, f"{name}_k")
        for what in ("fetched", "hit")
    )
    return f"""
{SCHEMA}.load_{table}(
  stream bigint, row_count bigint, began timestamptz, till_us bigint, update_pct int, scan_pct int, scan_blocks int,
  work_unit int, hot_first bigint, hot_rows bigint, hot_every int, theta float8, pause_least bigint,
  pause_most bigint, pause_every int, heavy boolean, gap_us float8, even boolean, sections int,{_RESULTS}
) language plpgsql as $loop$
declare{_LOCALS}
  before bigint[];
begin{_BEGIN}
  before := array[{touched}];
  loop{_CHOICE}
    if pause_every > 0 then
      if number % pause_every = pause_every - 1 then{_drawn("bits", PAUSE)}
        perform pg_sleep((pause_least + ((bits * (pause_most - pause_least + 1)) >> 32)) / 1000000::float8);
      end if;
    end if;{_WAIT}
    t0 := clock_timestamp();
    if kind = 0 then
      if blocks = 1 then
        select t.c1 into v from {name} t where t.k = place;
      else
        select sum(t.c1) into v from {name} t where t.k between place and place + blocks - 1;
      end if;
    elsif kind = 1 then
      if heavy then
        update only {name} t set c1 = t.c1 + 1, filler = substring(t.filler from 65) || sha512(t.filler)
          where t.k between place and place + blocks - 1;
      else
        update only {name} t set c1 = t.c1 + 1 where t.k between place and place + blocks - 1;
      end if;
      commit;
    else
      low := ('(' || place - 1 || ',0)')::tid; high := ('(' || place - 1 + blocks || ',0)')::tid;
      select sum(t.c1) into v from {name} t where t.ctid >= low and t.ctid < high;
    end if;{_RECORD}
  end loop;
  touched := array[{touched}];
  for s in 1..4 loop
    touched[s] := touched[s] - before[s];
  end loop;{_END}
end $loop$"""


def commit_procedure() -> str:
    """The loop that inserts a row and commits."""
    return f"""
{SCHEMA}.commit_rows(
  stream bigint, began timestamptz, till_us bigint, filler bytea, gap_us float8, even boolean, sections int,{_RESULTS}
) language plpgsql as $loop$
declare{_LOCALS}
begin{_BEGIN}
  loop
    kind := 1;{_WAIT}
    t0 := clock_timestamp();
    insert into {SCHEMA}.commits (stream, number, filler) values (stream, number, filler);
    commit;{_RECORD}
  end loop;{_END}
end $loop$"""
