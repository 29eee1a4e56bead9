"""What will be: the laws of storage under load, by which what was measured tells what was not."""
