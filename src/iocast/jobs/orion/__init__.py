"""ORION's command lines as jobs: settings → data points → phases."""
