"""The laws themselves, from numbers to numbers: seconds, bytes and I/Os a second. They know no run and no target."""
