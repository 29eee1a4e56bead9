"""Study files: the axes of a matrix of loads."""
