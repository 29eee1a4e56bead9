"""What is asked of each session, declared once: its options, its call in Python and its input."""
