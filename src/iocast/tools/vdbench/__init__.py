"""The language of vdbench: its parameter files, the pages of its results, the lines that it prints."""
