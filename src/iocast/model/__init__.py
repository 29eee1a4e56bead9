"""The hall of nouns: immutable values that every room shares; no I/O, no printing."""
