"""A run while it is made: what is added to its folder row by row."""
