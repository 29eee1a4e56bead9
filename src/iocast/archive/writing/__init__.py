"""How files get their names: whole, locked while they grow, and never in place of what iocast did not make."""
