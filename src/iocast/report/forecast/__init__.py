"""What a run says of loads that were not measured: calibrations, and what is foretold from them."""
