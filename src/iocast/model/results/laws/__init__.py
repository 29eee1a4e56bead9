"""The results of `iocast model`: one record for each law, of what was asked and the figures that follow."""
