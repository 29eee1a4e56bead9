"""What samples of a live watch come to between two instants."""
