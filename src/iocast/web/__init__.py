"""Run folders in a browser: reads only, and only below the directory that it was given."""
