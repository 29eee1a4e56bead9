"""Load through databases: data sets that are built there, sessions that run statements in slices, and their counts."""
