"""Thread axes that loops can be bound to."""

import msgspec

from irkit.core import ScheduleError


class ThreadAxis(msgspec.Struct, frozen=True):
    """A thread axis such as ``threadIdx.x``; with ``extent`` None, the loop determines the
    extent."""

    name: str
    extent: int | None = None

    def known_extent(self) -> int:
        """Return the extent.

        Raises: ScheduleError if it is unknown.
        """
        if self.extent is None:
            raise ScheduleError(
                f"the number of threads of {self.name!r} is not known",
                hint='Write te.thread_axis((0, 64), "threadIdx.x").',
            )
        return self.extent


def thread_axis(dom: "tuple[int, int] | int | str | None" = None, name: str = "") -> ThreadAxis:
    """Make a thread axis: ``thread_axis("threadIdx.x")``, or with a range or extent before the
    name."""
    if isinstance(dom, str):
        dom, name = None, dom or name
    if isinstance(dom, tuple):
        if dom[0] != 0:
            raise ScheduleError(f"the range of a thread axis must begin at 0, found {dom[0]}")
        dom = dom[1]
    return ThreadAxis(name, dom)
