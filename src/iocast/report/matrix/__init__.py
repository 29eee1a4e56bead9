"""ORION's matrix of small and large I/Os from a run: its section of the card, and ORION's files."""
