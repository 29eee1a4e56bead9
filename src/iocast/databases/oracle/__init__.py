"""Oracle Database 11.2 and later: its v$ views, and its sessions."""
