"""Laws become results: what was asked and the figures that follow, without sentences."""
