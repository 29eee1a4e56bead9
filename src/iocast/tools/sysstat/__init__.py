"""The language of sysstat: reports of iostat and sar."""
