"""The experiment with ways of copying."""
