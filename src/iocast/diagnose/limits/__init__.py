"""What limited a row: each sign of it is read once, and the answer is one `Bound` a row.

own_group: limits that this machine sets to the test; links; device_queue: a lock above the device; by_load: what the
row and those beside it on its curve show; by_findings: what detectors found, and rows of other curves.
"""
