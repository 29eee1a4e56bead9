"""Live: this machine and its databases are watched as they run; a tape of it is played again."""
