"""What is told of copies."""
