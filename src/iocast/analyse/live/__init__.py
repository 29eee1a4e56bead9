"""What intervals of a live watch say: histograms by interval, shares of waits, rates; live, and from a tape."""
