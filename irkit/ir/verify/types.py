"""Check the types of one expression node, given that those of its operands are correct.

A rule returns a sentence, or None. ``scopes.py`` applies it once to each distinct node.
"""

from collections.abc import Callable
from typing import Any

from irkit.core import Node
from irkit.ir.buffer import Buffer, Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import BOOL, DType
from irkit.ir.expr import (
    OPERATIONS,
    Binary,
    Broadcast,
    Cast,
    Compare,
    Const,
    Expr,
    Neg,
    Not,
    Var,
)
from irkit.ir.instructions import find_instruction, memory_problem
from irkit.ir.intrinsics import (
    INTRINSICS,
    Call,
    InstructionCall,
    Ldexp,
    Reinterpret,
    ldexp_problem,
    reinterpret_problem,
)

TypeProblem = str | None

_KINDS = {cls: row.kinds for cls, row in OPERATIONS.items()}


def expression_problem(node: Expr) -> TypeProblem:
    """Return what is wrong with the types of a node, or None."""
    rule = _RULES.get(node.__class__)
    return (
        rule(node) if rule is not None else f"{type(node).__name__} is not an expression of loop IR"
    )


def _result(node: Expr, wanted: DType) -> TypeProblem:
    if node.dtype == wanted:
        return None
    return f"{_title(node)} has type {node.dtype}; expected {wanted} from its operands"


def _title(node: Expr) -> str:
    sign = getattr(node, "sign", "")
    return repr(sign) if sign else type(node).__name__


def _binary(node: Binary) -> TypeProblem:
    left, right = node.a.dtype, node.b.dtype
    if left != right:
        return f"the operands of {_title(node)} have types {left} and {right}; expected one type"
    if left.kind not in _KINDS[node.__class__]:
        return f"{_title(node)} is not defined on {left}"
    return _result(node, BOOL.with_lanes(left.lanes) if isinstance(node, Compare) else left)


def _not(node: Not) -> TypeProblem:
    if node.a.dtype.is_float:
        return f"Not is not defined on {node.a.dtype}"
    return _result(node, node.a.dtype)


def _neg(node: Neg) -> TypeProblem:
    if node.a.dtype.is_bool:
        return "Neg is not defined on bool"
    return _result(node, node.a.dtype)


def _cast(node: Cast) -> TypeProblem:
    if node.value.dtype.lanes != node.dtype.lanes:
        return f"a cast from {node.value.dtype} to {node.dtype} changes the number of lanes"
    return None


def _choice(node: Select | Conditional) -> TypeProblem:
    cond, then, otherwise = node.cond.dtype, node.then.dtype, node.otherwise.dtype
    if not cond.is_bool:
        return f"the condition of {_title(node)} has type {cond}; expected bool"
    if then != otherwise:
        return f"the sides of {_title(node)} have types {then} and {otherwise}; expected one type"
    if cond.lanes != then.lanes and (isinstance(node, Select) or cond.lanes != 1):
        return f"the condition of {_title(node)} has {cond.lanes} lanes, its sides {then.lanes}"
    return _result(node, then)


def _call(node: Call) -> TypeProblem:
    row = INTRINSICS.get(node.name)
    if row is None:
        return f"there is no intrinsic function {node.name!r}"
    if len(node.args) != row.arity:
        return f"{node.name} takes {row.arity} arguments, found {len(node.args)}"
    if row.gives == "none":
        return _result(node, BOOL)
    types = {arg.dtype: None for arg in node.args}
    if len(types) > 1:
        return f"the arguments of {node.name} have types {_listed(types)}; expected one type"
    (kind,) = types
    if not row.accepts(kind):
        return f"{node.name} is not defined on {kind}"
    return _result(node, row.result(kind))


def _instruction(node: InstructionCall) -> TypeProblem:
    row = find_instruction(node.name)
    if row is None:
        return f"there is no instruction {node.name!r}"
    problem = row.argument_problem(node.args) or _result(node, row.dtype)
    return problem or memory_problem(node)


def _listed(types: dict[DType, None]) -> str:
    return " and ".join(map(str, types))


def access_problem(buffer: Buffer, indices: tuple[Expr, ...], mask: Expr | None) -> TypeProblem:
    """Return what is wrong with the indices and the mask of a load or store, or None."""
    if len(indices) != buffer.rank:
        return (
            f"buffer {buffer.name!r} has {buffer.rank} dimensions, but {len(indices)} indices here"
        )
    lanes = access_lanes(indices)
    for index in indices:
        if not index.dtype.is_integer:
            return f"an index of buffer {buffer.name!r} has type {index.dtype}; expected an integer"
        if index.dtype.lanes not in (1, lanes):
            return f"the indices of buffer {buffer.name!r} differ in lanes"
    if mask is not None and mask.dtype != BOOL.with_lanes(lanes):
        wanted = BOOL.with_lanes(lanes)
        return f"the mask on buffer {buffer.name!r} has type {mask.dtype}; expected {wanted}"
    return None


def access_lanes(indices: tuple[Expr, ...]) -> int:
    """Return the number of elements that an access touches at once."""
    if len(indices) == 1:
        return indices[0].dtype.lanes
    return max((index.dtype.lanes for index in indices), default=1)


def _load(node: Load) -> TypeProblem:
    found = access_problem(node.buffer, node.indices, node.mask)
    return found or _result(node, node.buffer.dtype.with_lanes(access_lanes(node.indices)))


def _ramp(node: Ramp) -> TypeProblem:
    base, stride = node.base.dtype, node.stride.dtype
    if base != stride or not base.is_integer or base.lanes != 1:
        return f"a ramp needs two scalar integers of one type, found {base} and {stride}"
    return _one_lane(node) or _result(node, base.with_lanes(node.dtype.lanes))


def _broadcast(node: Broadcast) -> TypeProblem:
    if node.value.dtype.lanes != 1:
        return f"a broadcast needs a scalar, found {node.value.dtype}"
    return _one_lane(node) or _result(node, node.value.dtype.with_lanes(node.dtype.lanes))


def _one_lane(node: Ramp | Broadcast) -> TypeProblem:
    if node.dtype.lanes > 1:
        return None
    return f"a {type(node).__name__.lower()} needs two or more lanes: one lane is the scalar itself"


def _const(node: Const) -> TypeProblem:
    value, kind = node.value, node.dtype
    if kind.lanes != 1:
        return f"a constant must be a scalar, found {kind}; use a broadcast"
    wanted = bool if kind.is_bool else float if kind.is_float else int
    if type(value) is not wanted:
        return f"a constant of type {kind} holds a Python {type(value).__name__}"
    if kind.is_integer and not kind.low <= value <= kind.high:
        return f"the constant {_short(value)} is out of range for {kind}"
    return None


def _short(value: object) -> str:
    if isinstance(value, int) and abs(value) >= 1 << 100:
        return f"of {value.bit_length()} bits"
    return str(value)


_RULES: dict[type[Node], Callable[[Any], TypeProblem]] = {
    **dict.fromkeys(_KINDS, _binary),
    Var: lambda node: None,
    Const: _const,
    Not: _not,
    Neg: _neg,
    Cast: _cast,
    Reinterpret: reinterpret_problem,
    Ldexp: ldexp_problem,
    Select: _choice,
    Conditional: _choice,
    Call: _call,
    InstructionCall: _instruction,
    Load: _load,
    Ramp: _ramp,
    Broadcast: _broadcast,
}
