"""What a load through a database is: its data set, its load, its commits, and what came of them."""
