"""Passes that fail, each in its own way; child processes import them by name."""

import ctypes
import os
import sys
import time
from typing import Any, cast

from irkit.core import IRKitError, IRModule, Problem, fixpoint, remark, rewrite, walk
from irkit.graph import Constant
from irkit.ir import F32, Const, For, PrimFunc, Store, Var
from irkit.transform import Fact, define_pass


def _no_loops(func: PrimFunc) -> list[Problem]:
    return [Problem("a loop is left", loop) for loop in walk(func, For)]


no_loops = Fact("no_loops", "loop", _no_loops)


class OddError(Exception):
    """An exception that cannot be rebuilt from its arguments."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} is not {two}")


@define_pass
def ends_loops_later(func: PrimFunc, *, more: int = 0) -> PrimFunc:
    """Extend loops by ``more`` iterations, with remarks; nothing is wrong with this one."""

    def later(loop: For) -> For | None:
        remark(loop, "seen")
        end = loop.end
        return loop.replace(end=end.replace(value=end.value + more)) if more else None  # type: ignore[attr-defined]

    return rewrite(func, later, on=For)


@define_pass
def raises(func: PrimFunc, *, text: str = "no idea") -> PrimFunc:
    """Raise an exception."""
    raise ValueError(f"{text} about {object()}")


@define_pass
def raises_oddly(func: PrimFunc) -> PrimFunc:
    """Raise an exception that does not pickle."""
    raise OddError(1, 2)


@define_pass
def raises_for_users(func: PrimFunc) -> PrimFunc:
    """Raise an error of irkit."""
    raise IRKitError("this loop is not for me", hint="Give me another.")


@define_pass
def exits(func: PrimFunc) -> PrimFunc:
    """Raise SystemExit."""
    sys.exit(3)


@define_pass
def interrupts(func: PrimFunc) -> PrimFunc:
    """Raise KeyboardInterrupt."""
    raise KeyboardInterrupt


@define_pass
def returns_none(func: PrimFunc) -> PrimFunc:
    """Forget the return."""
    return cast(PrimFunc, None)


@define_pass
def leaves_stray(func: PrimFunc) -> PrimFunc:
    """Use an unbound variable."""
    stray = Var("stray")
    return rewrite(func, lambda store: store.replace(indices=(stray,)), on=Store)


@define_pass(gives=(no_loops,))
def lies(func: PrimFunc) -> PrimFunc:
    """Claim a fact that does not hold."""
    return func


@define_pass
def drops_parameter(func: PrimFunc) -> PrimFunc:
    """Change the signature."""
    return func.replace(params=func.params[:1])


@define_pass
def rewrites_forever(func: PrimFunc) -> PrimFunc:
    """Rewrite a constant without end."""

    def flip(store: Store) -> Store:
        return store.replace(value=Const(1.0 if store.value == Const(0.0, F32) else 0.0, F32))

    return fixpoint(lambda given: rewrite(given, flip, on=Store), 1_000_000_000)(func)


@define_pass
def loops(func: PrimFunc) -> PrimFunc:
    """Loop forever in Python."""
    while True:
        try:
            while True:
                pass
        except Exception:
            continue


@define_pass
def sleeps(func: PrimFunc) -> PrimFunc:
    """Wait in native code."""
    time.sleep(1000)
    return func


@define_pass
def hoards(func: PrimFunc) -> PrimFunc:
    """Allocate all memory."""
    kept: list[Any] = []
    while True:
        kept.append(bytearray(1 << 24))


@define_pass
def aborts(func: PrimFunc) -> PrimFunc:
    """Abort the process."""
    os.abort()


@define_pass
def segfaults(func: PrimFunc) -> PrimFunc:
    """Read from address 0."""
    ctypes.string_at(0)
    return func


@define_pass
def leaves(func: PrimFunc) -> PrimFunc:
    """End the process without an error."""
    os._exit(7)


@define_pass
def prints(func: PrimFunc) -> PrimFunc:
    """Print to the stream of the replies."""
    print("hello from a pass")  # noqa: T201
    os.write(1, b"and from below\n")
    return func


@define_pass
def sometimes_raises(func: PrimFunc) -> PrimFunc:
    """Raise if an environment variable is set."""
    if os.environ.get("IRKIT_TEST_MENDED") == "1":
        return func
    raise ValueError("another day" if os.environ.get("IRKIT_TEST_MENDED") == "2" else "today")


@define_pass
def raises_on_modules(module: IRModule) -> IRModule:
    """Read the weights, then raise."""
    arrays = [node.data.array for f in module.functions.values() for node in walk(f, Constant)]
    raise ValueError(f"no idea about weights up to {max(array.max() for array in arrays):.0f}")


@define_pass
def leaves_stray_in_f(module: IRModule) -> IRModule:
    """Break the function f of a module."""
    func = module["f"]
    assert isinstance(func, PrimFunc)
    return module.with_functions({"f": leaves_stray(func)})


@define_pass
def stubborn(func: PrimFunc) -> PrimFunc:
    """Loop forever, and ignore the first two interrupts."""
    for _ in range(2):
        try:
            while True:
                pass
        except BaseException:
            continue
    while True:
        pass


@define_pass
def needs_its_rewrite(func: PrimFunc) -> PrimFunc:
    """Raise if its rewrite was switched off."""
    made = rewrite(func, lambda loop: loop.replace(kind="unrolled"), on=For)
    if made is func:
        raise ValueError("nothing happened")
    return made
