"""The language of Oracle: what is asked of its views, and what its reports, spools and scripts print of I/O."""
