"""Several runs of one job, one after the other."""
