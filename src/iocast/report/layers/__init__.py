"""The layers below a load, as they were recorded beside it."""
