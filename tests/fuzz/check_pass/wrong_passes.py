"""Passes for `check_pass`: one that is right, and others that are wrong, each in its own way."""

import os
import random
import threading

import msgspec

from irkit.core import Node, remark, rewrite, walk
from irkit.graph import Bind, GraphFunc, Op
from irkit.ir import (
    BOOL,
    Block,
    Const,
    For,
    If,
    Load,
    PrimFunc,
    Store,
    Var,
    as_int,
    const,
    no_unrolled_loops,
    seq,
)
from irkit.transform import define_pass


@define_pass
def mark_short_loops(func: PrimFunc, *, most: int = 4) -> PrimFunc:
    """Mark loops that run at most ``most`` times (iterations) as unrolled: this is right."""

    def mark(loop: For) -> For | None:
        end = as_int(loop.end)
        if loop.kind != "serial" or end is None or end > most:
            remark(loop, "left alone")
            return None
        return loop.replace(kind="unrolled")

    return rewrite(func, mark, on=For)


@define_pass
def read_beside(func: PrimFunc) -> PrimFunc:
    """Read every matrix one column too far."""

    def beside(load: Load) -> Node | None:
        if len(load.indices) < 2 or isinstance(load.indices[-1], Const):
            return None
        return load.replace(indices=(*load.indices[:-1], const(0, load.indices[-1].dtype)))

    return rewrite(func, beside, on=Load)


@define_pass
def lose_tail(func: PrimFunc) -> PrimFunc:
    """Make loops run an even number of times."""

    def shorten(loop: For) -> Node | None:
        end = as_int(loop.end)
        if end is None or end % 2 == 0:
            return None
        return loop.replace(end=const(end - 1, loop.end.dtype))

    return rewrite(func, shorten, on=For)


@define_pass
def say_changed(func: PrimFunc) -> PrimFunc:
    """Return another object that is the same program."""
    return func.replace(attrs=(*func.attrs,))


@define_pass
def change_in_place(func: PrimFunc) -> PrimFunc:
    """Write into an immutable node."""
    msgspec.structs.force_setattr(func, "attrs", (("seen", True),))
    return func


@define_pass
def draw_lots(func: PrimFunc) -> PrimFunc:
    """Add a random number as an annotation."""
    return func.replace(attrs=(*func.attrs, ("lot", random.randrange(1 << 30))))


@define_pass
def follow_hashes(func: PrimFunc) -> PrimFunc:
    """Annotate names in the order of a set, which differs in another process."""
    names = "".join({"red", "green", "blue", "white", "black", *(p.name for p in func.params)})
    found = ("names", names)
    return func if found in func.attrs else func.replace(attrs=(*func.attrs, found))


@define_pass(idempotent=True)
def count_runs(func: PrimFunc) -> PrimFunc:
    """Annotate how often it ran."""
    before = [value for name, value in func.attrs if name == "runs"]
    kept = tuple(pair for pair in func.attrs if pair[0] != "runs")
    return func.replace(attrs=(*kept, ("runs", len(before) and int(str(before[0])) + 1)))


@define_pass
def raise_at_blocks(func: PrimFunc) -> PrimFunc:
    """Raise where there is a block."""
    for block in walk(func, Block):
        raise KeyError(block.name)
    return func


@define_pass
def use_unbound(func: PrimFunc) -> PrimFunc:
    """Use a variable that nothing binds."""

    def rule(store: Store) -> Node | None:
        dtype = store.value.dtype
        if dtype.is_bool:
            return None
        return store.replace(value=store.value + Var("nowhere", dtype))

    return rewrite(func, rule, on=Store)


@define_pass
def forget_spans(func: PrimFunc) -> PrimFunc:
    """Make a statement without a span."""
    if isinstance(func.body, If):
        return func
    return func.replace(body=If(Const(True, BOOL), func.body))


@define_pass(gives=(no_unrolled_loops,))
def claim_no_unrolled_loops(func: PrimFunc) -> PrimFunc:
    """Claim a fact that it does not establish."""
    return mark_short_loops(func)


@define_pass
def do_nothing(func: PrimFunc) -> PrimFunc:
    """Leave everything alone."""
    return func


@define_pass
def wait_at_blocks(func: PrimFunc) -> PrimFunc:
    """Wait for ever where there is a block."""
    for _ in walk(func, Block):
        while True:
            threading.Event().wait(0.01)
    return func


@define_pass
def abort_at_blocks(func: PrimFunc) -> PrimFunc:
    """Kill the process where there is a block."""
    for _ in walk(func, Block):
        os.abort()
    return func


@define_pass
def swap_operands(func: GraphFunc) -> GraphFunc:
    """Swap the operands of subtractions and comparisons."""
    names = ("subtract", "less", "greater", "less_equal", "greater_equal", "atan2")

    def swap(bind: Bind) -> Bind | None:
        step = bind.step
        if not isinstance(step, Op) or step.name not in names:
            return None
        return bind.replace(step=step.replace(args=step.args[::-1]))

    return rewrite(func, swap, on=Bind)


@define_pass
def drop_stores(func: PrimFunc) -> PrimFunc:
    """Remove every store."""
    return rewrite(func, lambda store: seq(), on=Store)


@define_pass
def break_unrolled(func: PrimFunc) -> PrimFunc:
    """Lose the last iteration of unrolled loops."""

    def shorten(loop: For) -> For | None:
        return loop.replace(end=loop.end - 1) if loop.kind == "unrolled" else None

    return rewrite(func, shorten, on=For)


@define_pass
def shorten_vectorized_loops(func: PrimFunc) -> PrimFunc:
    """Make vectorized loops end too early."""

    def shorten(loop: For) -> For | None:
        if loop.kind != "vectorized" or as_int(loop.end) == 1:
            return None
        return loop.replace(end=const(1, loop.var.dtype))

    return rewrite(func, shorten)
