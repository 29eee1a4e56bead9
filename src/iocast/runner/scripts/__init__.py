"""Scripts of the runner: each chooses what runs next from what was measured so far."""
