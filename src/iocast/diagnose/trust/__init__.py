"""Trust: how far a row can be believed, one component a question."""
