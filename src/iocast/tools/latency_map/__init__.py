"""The language of latency records, as the LatencyMap tools pass them on."""
