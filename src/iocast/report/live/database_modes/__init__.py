"""Line modes that read a database: a line or a table an interval, in the columns that DBAs know from scripts."""
