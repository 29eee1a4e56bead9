"""How laws are told: one declaration for each, of its title, verdict, source, tables and notes."""
