"""Settings of other tools that load databases, as loads of `iocast load-db`: slob.conf and pgio.conf."""
