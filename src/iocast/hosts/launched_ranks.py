"""Whether a launcher of MPI started this process as one of several: known before anything of MPI is loaded."""

from __future__ import annotations

import os

EXTRA = "pip install 'iocast[hosts]' brings MPI for Python and MPICH"
# The variables in which launchers tell a process how many there are.
_SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "MV2_COMM_WORLD_SIZE")


def is_one_of_several() -> bool:
    """Whether mpirun, mpiexec or srun started others beside this process."""
    sizes = [os.environ.get(name, "") for name in _SIZES]
    if os.environ.get("SLURM_STEP_ID"):
        sizes.append(os.environ.get("SLURM_STEP_NUM_TASKS", ""))
    return any(size.isascii() and size.isdecimal() and size.strip("0") not in ("", "1") for size in sizes)
