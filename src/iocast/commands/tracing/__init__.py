"""The verbs of real workloads: capture, profile and replay, one file each."""
