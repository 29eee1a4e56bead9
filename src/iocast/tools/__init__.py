"""Other tools' languages, a file or a folder a tool: text or bytes to records and back, to Run, Job and events."""
