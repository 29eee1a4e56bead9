"""The live screen in a terminal: `iocast top`."""
