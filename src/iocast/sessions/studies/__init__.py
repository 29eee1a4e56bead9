"""Studies: planned, run, resumed, shown."""
