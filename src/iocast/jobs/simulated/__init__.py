"""Simulated targets ("sim:hdd,stall=1s/5s"): their text, read into the device it describes."""
