"""Reports of devices over time, without a load: what observers of other tools saw."""
