"""Where the threads of a warp wait for each other: a statement of kernels, made when they are."""

from irkit.core import Span
from irkit.ir import Stmt


class WarpBarrier(Stmt, frozen=True):
    """The lanes of a warp wait for each other, and see what they wrote in memory they share."""

    span: Span | None = None
