"""The language of Oracle's dynamic views: rows as SQL*Plus and SQLcl print them, and snapshots of their counters."""
