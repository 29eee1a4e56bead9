"""Traces of other tools become tables of events: one row an I/O, read strictly by the core."""
