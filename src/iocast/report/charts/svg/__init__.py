"""SVG: what specifications of charts look like, written by Python alone."""
