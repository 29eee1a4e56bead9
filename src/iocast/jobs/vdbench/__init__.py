"""vdbench's parameter files as jobs: storage, workload and run definitions → phases."""
