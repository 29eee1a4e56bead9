"""Studies as nouns: axes, cells, results."""
