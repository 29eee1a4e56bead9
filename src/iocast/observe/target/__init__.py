"""What a target is, down to the disks, and whether it may be written; nothing is measured here."""
