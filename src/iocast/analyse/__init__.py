"""Mathematics without opinions: what the device saw, how sure a percentile is, where the I/Os lie."""
