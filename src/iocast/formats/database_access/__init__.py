"""How databases are reached: their URLs, their passwords, their drivers; for those who watch and those who load."""
