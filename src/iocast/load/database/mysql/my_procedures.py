"""The loops that run on MariaDB and MySQL: stored procedures, a slice of about a second a call.

They have no arrays: each statement's time in microseconds is written down as text, a few thousand signs a row of a
table in memory, and counted by who called. Keys and kinds are those of `key_stream`.
"""

from __future__ import annotations

from iocast.load.database.data_set_plan import MARK
from iocast.load.database.key_stream import DRAWS, GAP, MIX_1, MIX_2, PAUSE, PLACE, STEP

DATABASE = "iocast_load"
_FULL = 7900  # signs of a row of what was written down
_MASK = 4294967295


def _drawn(into: str, draw: int) -> str:
    """The lines of `key_stream.drawn`."""
    return f"""
    set z = (stream + (number * {DRAWS} + {draw}) * {STEP}) & {_MASK};
    set z = ((z ^ (z >> 16)) * {MIX_1}) & {_MASK};
    set z = ((z ^ (z >> 15)) * {MIX_2}) & {_MASK};
    set {into} = z ^ (z >> 15);"""


_RESULTS = "inout number bigint unsigned, inout due_us double, out last_kind int, out last_ended bigint"
_LOCALS = """
  declare z, bits, place, room, first_key, blocks, others bigint unsigned default 0;
  declare v, now_us, ended_us, free_us, service, response, lag bigint default 0;
  declare u, gap double default 0;
  declare kind int default 0;
  declare t0, t1 datetime(6);
  declare told varchar(8192) character set ascii default '';"""
_BEGIN = """
  set last_kind = -1, last_ended = 0;
  create temporary table if not exists iocast_told (n int auto_increment primary key, told varchar(8192)
    character set ascii) engine = memory;
  truncate iocast_told;
  set free_us = timestampdiff(microsecond, began, sysdate(6));"""
_END = """
  insert into iocast_told (told) values (told);"""
# What was written down of a statement: kind, response, service, lag; parted by commas.
_RECORD = f"""
    set t1 = sysdate(6);
    set service = timestampdiff(microsecond, t0, t1);
    set ended_us = timestampdiff(microsecond, began, t1);
    set response = if(gap_us > 0, greatest(ended_us - floor(due_us), service), service);
    set lag = greatest(ended_us - service - greatest(floor(due_us), free_us), 0), free_us = ended_us;
    set number = number + 1;
    if gap_us > 0 then
      if even then
        set due_us = due_us + gap_us;
      else{_drawn("bits", GAP)}
        set due_us = due_us - ln((bits + 0.5e0) / 4294967296e0) * gap_us;
      end if;
    end if;
    set told = concat(told, kind, ',', response, ',', service, ',', lag, ',');
    if length(told) > {_FULL} then
      insert into iocast_told (told) values (told);
      set told = '';
    end if;
    if ended_us >= till_us then
      set last_kind = kind, last_ended = ended_us;
      leave statements;
    end if;"""
_WAIT = """
    if gap_us > 0 then
      if due_us >= till_us then leave statements; end if;
      waiting: loop
        set now_us = timestampdiff(microsecond, began, sysdate(6));
        if now_us >= due_us then leave waiting; end if;
        if due_us - now_us > 300 then do sleep((due_us - now_us - 200) / 1000000e0); end if;
      end loop;
    end if;"""
_CHOICE = f"""
    set kind = 0, blocks = work_unit;
    if (number * update_pct) % 100 >= 100 - update_pct then
      set kind = 1;
    elseif scan_pct > 0 then
      set others = number - (number * update_pct div 100);
      if (others * scan_pct) % 100 >= 100 - scan_pct then set kind = 2, blocks = scan_blocks; end if;
    end if;{_drawn("bits", PLACE)}
    set first_key = 1, room = row_count;
    if hot_every > 0 then
      if number % hot_every = hot_every - 1 then set first_key = hot_first, room = hot_rows; end if;
    end if;
    set room = greatest(cast(room as signed) - cast(blocks as signed) + 1, 1);
    if theta > 0 and first_key = 1 and room > 1 then
      set u = (bits + 0.5e0) / 4294967296e0;
      if abs(theta - 1) < 0.000001 then
        set place = floor(pow(room + 1e0, u)) - 1;
      else
        set place = floor(pow((pow(room + 1e0, 1 - theta) - 1) * u + 1, 1 / (1 - theta))) - 1;
      end if;
      set place = 1 + least(room - 1, place);
    else
      set place = first_key + ((bits * room) >> 32);
    end if;"""


def load_procedure(table: int) -> str:
    """The statement that makes the loop of one table."""
    name = f"{DATABASE}.t{table}"
    where = "k between place and place + blocks - 1"
    return f"""
create procedure {DATABASE}.load_{table}(
  stream bigint unsigned, row_count bigint unsigned, began datetime(6), till_us bigint, update_pct bigint,
  scan_pct bigint, scan_blocks bigint, work_unit bigint, hot_first bigint, hot_rows bigint, hot_every bigint,
  theta double, pause_least bigint, pause_most bigint, pause_every bigint, heavy int, gap_us double, even int,
  {_RESULTS})
comment '{MARK}: load_{table}'
begin{_LOCALS}
  declare other varbinary(64) default '';{_BEGIN}
  if heavy then set other = random_bytes(64); end if;
  statements: loop{_CHOICE}
    if pause_every > 0 then
      if number % pause_every = pause_every - 1 then{_drawn("bits", PAUSE)}
        do sleep((pause_least + ((bits * (pause_most - pause_least + 1)) >> 32)) / 1000000e0);
      end if;
    end if;{_WAIT}
    set t0 = sysdate(6);
    if kind = 0 then
      if blocks = 1 then
        select c1 into v from {name} where k = place;
      else
        select sum(c1) into v from {name} where {where};
      end if;
    elseif kind = 1 then
      if heavy then
        update {name} set c1 = c1 + 1, filler = concat(substring(filler, 65), other) where {where};
      else
        update {name} set c1 = c1 + 1 where {where};
      end if;
    else
      select sum(c1) into v from {name} where p >= (place - 1) * 2 and p < (place - 1 + blocks) * 2;
    end if;{_RECORD}
  end loop;{_END}
end"""
