"""Use cases: each a story of one screen; they print nothing, and tell a listener what happens."""
