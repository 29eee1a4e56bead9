"""Charts of replays: whether the rate of the trace was reached, and how late its I/Os were issued."""
