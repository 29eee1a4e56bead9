"""Charts of profiles: when, where, how large, how long, and what a cache would spare."""
