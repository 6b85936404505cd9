"""What a kernel asks of a device."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from irkit.core import IRKitError


class NoDevice(IRKitError):
    """There is no device of a kind in this process; the hint says what would run the kernel."""


class Driver(ABC):
    """A device with the kernels of one program, compiled.

    Memory is an opaque handle. Sizes are in bytes. A call is: upload, launches, download, free.
    Raises: IRKitError with the device's own message if it refuses.
    """

    @abstractmethod
    def allocate(self, size: int) -> Any:
        """Return memory of at least one byte."""

    @abstractmethod
    def upload(self, data: memoryview) -> Any:
        """Return memory with a copy of bytes of the host."""

    @abstractmethod
    def download(self, memory: Any, data: memoryview) -> None:
        """Copy memory to bytes of the host, after all launches so far."""

    @abstractmethod
    def free(self, memory: Any) -> None:
        """Return memory to the device, after all launches so far."""

    @abstractmethod
    def launch(
        self, kernel: str, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]
    ) -> None:
        """Start a kernel; ``args`` are memory, or NumPy scalars of the type of the parameter."""
