"""An executor whose calls run on the workers of a dask cluster.

Any executor of :mod:`concurrent.futures` would do in its place, as long as what it calls can start
processes.
"""

import uuid
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from importlib import import_module
from typing import Any, Protocol, TypeVar, cast

from irkit.core import IRKitError

_CONNECT = 10.0  # seconds
_T = TypeVar("_T")


class WorkerLost(Exception):
    """Raised for a call whose worker died while it ran."""


class ClusterExecutor(Executor):
    """Workers of a dask cluster, by the address of its scheduler.

    Dask runs a call again on another worker if its worker dies. Here such a call raises
    :class:`WorkerLost` instead: what kills one worker must not kill the next. ``at_end`` runs on
    every worker when the executor is shut down; ``what`` needs the cluster, for messages.

    Raises: IRKitError if ``distributed`` is not installed, nobody answers, or nobody works there.
    """

    def __init__(self, address: str, at_end: Callable[[], object], what: str) -> None:
        self.client = _client(address, what)
        self._at_end = at_end
        self.threads = sum(self.client.nthreads().values())
        if not self.threads:
            self.client.close()
            raise IRKitError(
                f"the scheduler at {address} has no workers",
                hint=f"Start some: dask worker {address} --nthreads 1 --nworkers auto",
            )
        self._calls = self.client.get_executor(pure=False, retries=0)

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Call a module-level function on some worker; arguments and the result are pickled."""
        token = f"irkit-{uuid.uuid4().hex}"
        return self._calls.submit(run_once, token, fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Clean up on all workers, and leave the cluster."""
        self.client.run(self._at_end, on_error="ignore")
        self._calls.shutdown(wait=wait)
        self.client.close()


def run_once(token: str, function: Callable[..., _T], /, *args: Any, **kwargs: Any) -> _T:
    """Call a function on a worker of dask, unless a worker has died of this call before.

    Raises: WorkerLost if one has; whatever the function raises.
    """
    dask: Any = import_module("distributed")
    begun = dask.Event(token, client=dask.get_client())
    lost = bool(begun.is_set())
    try:
        if lost:
            raise WorkerLost("the worker that ran it died")
        begun.set()
        return function(*args, **kwargs)
    finally:
        begun.clear()


def is_lost(error: BaseException) -> bool:
    """Return True if an exception means that the worker died, and not that the call failed."""
    # Dask's own error is for what killed several workers before it could be noted.
    return isinstance(error, (WorkerLost, BrokenExecutor)) or type(error).__name__ == "KilledWorker"


class _Client(Protocol):
    """What is used of a client of dask, which has no types."""

    def nthreads(self) -> dict[str, int]: ...
    def get_executor(self, *, pure: bool, retries: int) -> Executor: ...
    def run(self, function: Callable[..., object], *args: object, on_error: str) -> object: ...
    def close(self) -> None: ...


def _client(address: str, what: str) -> _Client:
    try:
        dask: Any = import_module("distributed")
    except ImportError:
        raise IRKitError(
            f"{what} needs the package 'distributed', which is not installed",
            hint="Install it, here and on the workers: pip install 'irkit[distributed]'",
        ) from None
    try:
        return cast(_Client, dask.Client(address, timeout=_CONNECT, set_as_default=False))
    except (OSError, ValueError, TypeError) as error:
        raise IRKitError(
            f"no dask scheduler answers at {address!r}: {error}",
            hint="Start one with: dask scheduler. It prints its address.",
        ) from error
