"""Other tools' languages, known once: their text to plain records and back. What we make of them stands elsewhere."""
