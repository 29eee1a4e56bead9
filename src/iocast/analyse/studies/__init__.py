"""What the cells of a study come to."""
