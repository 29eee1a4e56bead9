"""Rows of a database's views, read live or from a spool, and the samples that they are."""
