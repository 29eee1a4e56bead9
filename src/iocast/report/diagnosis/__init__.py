"""What was tested by experiment, and what came of it."""
