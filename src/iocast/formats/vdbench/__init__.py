"""The language of vdbench: the pages of its results."""
