"""Loads through databases on the card: the server, and what lies below its statements."""
