"""Verbs of the machine as it runs: lines, a scraper, screens, tapes."""
