"""Experiments: the design that would confirm a finding, the decision on its runs, the named ones."""
