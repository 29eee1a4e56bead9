"""hosts: checks hosts, and is what runs on each of them."""
