"""Calls of instructions as the loops that they mean."""

from irkit.core import any_node, fresh, rewrite
from irkit.ir.buffer import Buffer, Load, Ramp
from irkit.ir.build import nested, seq
from irkit.ir.conditional import Conditional
from irkit.ir.dtype import I64
from irkit.ir.expr import And, Const, Expr, Or
from irkit.ir.function import PrimFunc
from irkit.ir.instructions.registry import find_instruction
from irkit.ir.intrinsics import InstructionCall
from irkit.ir.stmt import Allocate, Seq, Stmt, Store


def expand_instructions(func: PrimFunc) -> PrimFunc:
    """Replace the calls of instructions in stored values by the loops of their meanings.

    A call that may depend on a condition stays, since loops cannot take its place.
    """
    return rewrite(func, _expanded, on=Store)


def _expanded(stmt: Store) -> Stmt | None:
    if not any_node(stmt.value, InstructionCall):
        return None
    if any_node(stmt.value, (Conditional, And, Or)):
        return None
    loops, buffers = list[Stmt](), list[Buffer]()

    def computed(call: InstructionCall) -> Expr | None:
        row = find_instruction(call.name)
        if row is None:
            return None
        meaning = fresh(row.meaning)
        places = [param for param in meaning.params if isinstance(param, Buffer)]
        given = zip(places[:-1], call.args, strict=True)
        loops.extend(Store(place, (_lanes(arg),), arg) for place, arg in given)
        loops.append(meaning.body)
        buffers.extend(places)
        return Load(places[-1], (_lanes(call),), None, call.dtype)

    value = rewrite(stmt.value, computed)
    around = [Allocate(buffer, Seq(())) for buffer in buffers]
    return nested(around, seq(*loops, stmt.replace(value=value)))


def _lanes(value: Expr) -> Expr:
    first = Const(0, I64)
    if value.dtype.lanes == 1:
        return first
    return Ramp(first, Const(1, I64), I64.with_lanes(value.dtype.lanes))
