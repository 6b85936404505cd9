"""Where cases run: threads of this process, which is the default, or the workers of a dask cluster.

Any other executor of :mod:`concurrent.futures` will do too, as long as what it calls can start
processes.
"""

from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

from irkit.fuzz.campaign.case_processes import stop_processes
from irkit.processes import ClusterExecutor


def local_executor(jobs: int) -> Executor:
    """Return threads of this process, each of which drives child processes of its own."""
    return ThreadPoolExecutor(jobs, thread_name_prefix="irkit-fuzz")


class DaskExecutor(ClusterExecutor):
    """Workers of a dask cluster, for the campaign of a name: its processes end with it."""

    def __init__(self, address: str, campaign: str) -> None:
        super().__init__(address, partial(stop_processes, campaign), "a campaign on a cluster")
        self.campaign = campaign
