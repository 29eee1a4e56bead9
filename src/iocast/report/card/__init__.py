"""The report card of one run: its verdict, head and sections."""
