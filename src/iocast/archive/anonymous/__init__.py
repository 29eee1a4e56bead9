"""Tables of traces without names."""
