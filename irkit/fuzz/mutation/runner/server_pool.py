"""A pool of fork servers that share work."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from irkit.fuzz.mutation.fork_server import ForkServer

_A = TypeVar("_A")
_B = TypeVar("_B")


def spread(
    items: Sequence[_A], try_one: Callable[[ForkServer, _A], _B], nurseries: list[ForkServer]
) -> Iterator[_B]:
    """Share work among fork servers, with a thread for each."""
    free: SimpleQueue[ForkServer] = SimpleQueue()
    for nursery in nurseries:
        free.put(nursery)

    def run(item: _A) -> _B:
        nursery = free.get()
        try:
            return try_one(nursery, item)
        finally:
            free.put(nursery)

    with ThreadPoolExecutor(len(nurseries)) as pool:
        try:
            yield from pool.map(run, items)
        finally:
            pool.shutdown(cancel_futures=True)
            for nursery in nurseries:
                nursery.close()
