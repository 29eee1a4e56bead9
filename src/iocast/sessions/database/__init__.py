"""Load through databases: data sets are built and dropped, loads and commit tests are run."""
