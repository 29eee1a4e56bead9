"""What copies of a file come to."""
