"""The language of fio: its job files, its options, and every format of its output."""
