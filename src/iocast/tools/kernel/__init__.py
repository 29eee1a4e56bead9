"""What the kernel prints of its devices."""
