"""Charts of live watches and their tapes."""
