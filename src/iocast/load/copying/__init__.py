"""One file is copied to another, and proven to be the same."""
