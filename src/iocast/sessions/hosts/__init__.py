"""Sessions on many hosts: the one that a person starts, and that of each rank."""
