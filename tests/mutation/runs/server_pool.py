"""A pool of fork servers that share work."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from tests.mutation.trials.fork_server import ForkServer

_A = TypeVar("_A")
_B = TypeVar("_B")


def spread(
    items: Sequence[_A], try_one: Callable[[ForkServer, _A], _B], servers: list[ForkServer]
) -> Iterator[_B]:
    """Share work among fork servers, with a thread for each."""
    free: SimpleQueue[ForkServer] = SimpleQueue()
    for server in servers:
        free.put(server)

    def run(item: _A) -> _B:
        server = free.get()
        try:
            return try_one(server, item)
        finally:
            free.put(server)

    with ThreadPoolExecutor(len(servers)) as pool:
        try:
            yield from pool.map(run, items)
        finally:
            pool.shutdown(cancel_futures=True)
            for server in servers:
                server.close()
