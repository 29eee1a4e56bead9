"""SLOB, the I/O test kit for Oracle: its slob.conf, and what its runit.sh leaves."""
