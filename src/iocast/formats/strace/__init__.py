"""The language of strace: system calls, a line each."""
