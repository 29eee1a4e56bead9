"""Reports of an Oracle instance over an interval: AWR and Statspack."""
