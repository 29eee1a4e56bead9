"""Hosts: one run of many hosts. MPI starts them and keeps them together; each makes its own load and its own run
folder, and the sum of all is a run as any other.

Only this room knows that there are several: for the runner a rank is a Loader that waits for the others.
"""
