"""Runs in the words of vdbench: the lines that it prints, and its flatfile."""
