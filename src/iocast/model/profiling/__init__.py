"""What a trace of I/Os is like, as nouns: facts that were counted, nothing that was concluded."""
