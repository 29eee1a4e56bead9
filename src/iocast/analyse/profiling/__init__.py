"""The mathematics of profiles: from a table of events to facts, and from facts to what they say."""
