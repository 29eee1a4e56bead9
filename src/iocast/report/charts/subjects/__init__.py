"""What charts are made of: a family of rows, an examined run, two sides of a comparison."""
