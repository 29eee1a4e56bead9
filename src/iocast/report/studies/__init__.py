"""What is told of a study."""
