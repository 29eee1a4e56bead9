"""The verb that loads databases."""
